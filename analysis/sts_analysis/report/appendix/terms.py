"""The terms of a report, to which its words link."""

import msgspec
from markupsafe import Markup

from sts_analysis.report.core import Report, Study, html, join
from sts_analysis.report.markup import find_anchor

TITLE = "Terms"
NAV = "Terms"
TERMS = {
    "unit": "What was drawn independently: all scenarios joined by a trajectory, a generated "
    "world, a contrast pair or a dialogue. Every interval is about other units like these.",
    "effective units": "The number of equally large units that would be as precise.",
    "pass rate": "The mean verdict over scenarios, each weighing the same, adjusted for the "
    "annotators who judged.",
    "95% interval": "In 95 of 100 such studies, an interval made in this way contains the value "
    "that it is about.",
    "rank set": "All ranks that an agent could have. The sets of all agents hold together with 95% "
    "confidence.",
    "differ significantly": "The p value of a pair is below the bar of the conclusion after "
    "adjustment for all pairs (Holm). Agents that do not differ significantly need not be equal.",
    "baseline": "An agent with privileged information; shown, but never ranked.",
    "clip": "What annotators watch: all continuations of a scenario that look and sound the same.",
    "interim": "Not everything that was planned is judged: there are no ranks yet.",
    "withheld": "The data cannot support an order of agents, for the reason that is stated.",
}


class Result(msgspec.Struct, frozen=True):
    """The terms that a report uses.

    Attributes:
      definitions: by term.
    """

    definitions: dict[str, str]


def compute(study: Study) -> Result:
    """Return all terms."""
    return Result(TERMS)


def render(result: Result, report: Report) -> Markup:
    """Show the terms as a list of definitions, each with an anchor."""
    return html(
        "<dl class=terms>{}</dl>",
        join(
            html('<dt id="{}"><b>{}</b></dt><dd>{}</dd>', find_anchor(term), term, text)
            for term, text in result.definitions.items()
        ),
    )
