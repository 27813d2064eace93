"""How the numbers were made, and how to cite them."""

import msgspec
from markupsafe import Markup

from sts_analysis.report.core import Report, Study, html
from sts_analysis.report.text import explain_labels

TITLE = "Method and citation"
NAV = "Method"
_SOURCES = {"human": "people", "automatic": "a rule", "model": "a model"}


class Result(msgspec.Struct, frozen=True):
    """How to cite a report.

    Attributes:
      citation: suite with its hash, label source with its hash, scenarios, version of the software.
    """

    citation: str


def compute(study: Study) -> Result:
    """Write the citation."""
    subject = study.subject
    suite = f"{subject.name} ({subject.hash[:8]})" if subject.hash else subject.name
    if inputs := study.gathered.inputs:
        suite += f" ({inputs[0].rows:,} rows, SHA-256 {inputs[0].sha256[:8]})"
    labels = f"labels by {_SOURCES[study.source]}"
    if study.source == "human" and subject.annotations_hash:
        labels += f" ({subject.annotations_hash[:8]})"
    scenarios = f"{len(study.outcomes.scenarios)} scenarios"
    version = f"sts {study.provenance['sts']}"
    return Result(citation=", ".join([f"STS {suite}", labels, scenarios, version]) + ".")


def render(result: Result, report: Report) -> Markup:
    """Show three sentences on the method, and the citation."""
    conclusion = report.conclusion
    adjusted = " and adjusted for who judged" if len(conclusion.annotators) > 1 else ""
    return html(
        "<p>A clip counts 1 for success and 0 otherwise, or the mean of its verdicts; every "
        "scenario weighs the same. Rates are means over scenarios{}; their errors count whole "
        "independent units. Pairs of agents share one error rate of 5% (Holm).{}</p>"
        "<p><b>Cite as</b> <code>{}</code></p>"
        '<p><a href="appendix.html">All numbers and their provenance</a>, '
        '<a href="report.json">as JSON</a>, <a href="tables/">as CSV</a>.</p>',
        adjusted,
        f" {explain_labels(conclusion.labels)}" if conclusion.labels else "",
        result.citation,
    )
