"""Pass rates corrected for the errors of annotators, measured on reference episodes."""

import msgspec
from markupsafe import Markup

from sts_analysis.report.core import Interval, Report, Study, html, interval, number
from sts_analysis.report.markup import render_records
from sts_analysis.statistics.corrected_rates import correct_rates

TITLE = "Rates corrected for annotator error"
NAV = "Corrected"


class Row(msgspec.Struct, frozen=True):
    """One agent.

    Attributes:
      agent: its name.
      plain_rate: as people judged.
      corrected_rate: null if it cannot be known.
      interval: of the corrected rate.
      sensitivity: of the annotators, weighed by what they judged of this agent.
      specificity: the same.
      borrowed: share of the rate from annotators without references, whose accuracy is taken to be
        that of the others.
      clipped: whether the corrected rate lay outside 0 to 1.
      reason: why there is none, or "".
    """

    agent: str
    plain_rate: float | None
    corrected_rate: float | None
    interval: Interval | None
    sensitivity: float | None
    specificity: float | None
    borrowed: float | None
    clipped: bool
    reason: str


class Result(msgspec.Struct, frozen=True):
    """Corrected rates of all agents.

    Attributes:
      rows: agents in the order of the ranking.
    """

    rows: tuple[Row, ...]


def compute(study: Study) -> Result | None:
    """Correct the rates; None without people's answers on references."""
    outcomes = study.outcomes
    if study.source != "human" or study.reference_rows.empty:
        return None
    found = correct_rates(outcomes, study.reference_rows)
    return Result(
        rows=tuple(
            Row(
                agent=outcomes.agents[a],
                plain_rate=number(study.rates.plain[a]),
                corrected_rate=number(found.value[a]),
                interval=interval(found.interval[a]),
                sensitivity=number(found.sensitivity[a]),
                specificity=number(found.specificity[a]),
                borrowed=number(found.borrowed[a]),
                clipped=bool(found.clipped[a]),
                reason=found.reasons[a],
            )
            for a in study.order
        )
    )


def render(result: Result, report: Report) -> Markup:
    """Show corrected next to plain rates."""
    columns = {
        "Agent": "agent",
        "Plain": "plain_rate",
        "Corrected": "corrected_rate",
        "95% interval": "interval",
        "Sensitivity": "sensitivity",
        "Specificity": "specificity",
        "Reason": "reason",
    }
    return html(
        "{}<p class=cap>Corrected: what annotators without errors would say, if these err on "
        "agents as on reference episodes. If references are easier than clips by one logit, the "
        "interval of a rate of .1 is right in only 70% of studies. Sensitivity and specificity are "
        "the shares of successes and of others that are judged right.</p>",
        render_records(result.rows, columns),
    )
