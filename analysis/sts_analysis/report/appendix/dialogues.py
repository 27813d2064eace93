"""Joint success in dialogues: scenarios that are turns of one talk, of which all must succeed."""

from markupsafe import Markup

from sts_analysis.report.appendix import pairs
from sts_analysis.report.core import Report, Study

TITLE = "Dialogues"
NAV = "Dialogues"


Result = pairs.Result


def compute(study: Study, *, unabridged: bool = False) -> Result | None:
    """Measure joint success in dialogues; None without one."""
    return pairs.measure_groups(study, study.subject.series, unabridged=unabridged)


def render(result: Result, report: Report) -> Markup:
    """Show the rate of each agent, and folded all dialogues."""
    return pairs.render_groups(result, "dialogue", "Credit only if all turns succeed.")
