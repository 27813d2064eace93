"""Pass rates over the scenarios of each tag."""

import msgspec
import numpy as np
from markupsafe import Markup

from sts_analysis.report.appendix.rates import PartRate, list_rates, render_rates
from sts_analysis.report.core import Report, Study, html

TITLE = "Tags"
NAV = "Tags"
MIN_TAGS = 2
MIN_SCENARIOS = 5


class Result(msgspec.Struct, frozen=True):
    """Pass rates by tag; a scenario may have several.

    Attributes:
      rows: rates by tag and agent.
    """

    rows: tuple[PartRate, ...]


def compute(study: Study) -> Result | None:
    """Estimate the rates; None below two tags of five scenarios each."""
    scenarios = np.array(study.outcomes.scenarios)
    parts = {tag: np.isin(scenarios, ids) for tag, ids in sorted(study.subject.tags.items())}
    parts = {tag: inside for tag, inside in parts.items() if inside.sum() >= MIN_SCENARIOS}
    if len(parts) < MIN_TAGS:
        return None
    rates = {tag: (inside, study.model.estimate_rates(inside)) for tag, inside in parts.items()}
    return Result(rows=list_rates(study, rates))


def render(result: Result, report: Report) -> Markup:
    """Show a row for each tag and a column for each agent."""
    return html(
        "{}<p class=cap>A scenario may have several tags.</p>", render_rates(result.rows, "Tag")
    )
