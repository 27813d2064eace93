"""Scores corrected for guessing."""

import msgspec
from markupsafe import Markup

from sts.errors import UnknownName
from sts_analysis.report.core import Interval, Report, Study, html, interval, number
from sts_analysis.report.markup import render_records
from sts_analysis.report.text import decimal, decimal_range
from sts_analysis.statistics.guessing import MAX_GUESSED, correct_for_guessing

TITLE = "Scores corrected for guessing"
NAV = "Guessing"


class Row(msgspec.Struct, frozen=True):
    """One agent.

    Attributes:
      agent: its name.
      score: 0 for guessing as the baseline does, 1 for passing all scenarios.
      interval: of the score; null if no spread is seen.
      scenarios: in which both are judged, of categories that count.
      categories: that count.
    """

    agent: str
    score: float | None
    interval: Interval | None
    scenarios: int
    categories: int


class Result(msgspec.Struct, frozen=True):
    """Corrected scores of all agents.

    Attributes:
      baseline: the agent whose passes count as guesses.
      rows: agents in the order of the ranking.
    """

    baseline: str
    rows: tuple[Row, ...]


def compute(study: Study) -> Result | None:
    """Correct the scores; None unless a baseline was given.

    Raises:
      UnknownName: the baseline is not in the data.
    """
    outcomes, baseline = study.outcomes, study.options.guessing_baseline
    if not baseline:
        return None
    if baseline not in outcomes.agents:
        raise UnknownName("agent", baseline, outcomes.agents)
    found = correct_for_guessing(outcomes, outcomes.agents.index(baseline))
    return Result(
        baseline=baseline,
        rows=tuple(
            Row(
                agent=outcomes.agents[a],
                score=number(found.score[a]),
                interval=interval(found.interval[a]),
                scenarios=int(found.scenarios[a]),
                categories=int(found.counted[a].sum()),
            )
            for a in study.order
        ),
    )


def render(result: Result, report: Report) -> Markup:
    """Show the score of each agent."""
    table = render_records(
        result.rows,
        {
            "Agent": "agent",
            "Score": lambda row: decimal(row.score),
            "95% interval": lambda row: decimal_range(row.interval),
            "Scenarios": "scenarios",
            "Categories": "categories",
        },
    )
    return html(
        "{}<p class=cap>0 is guessing as {} does, 1 is passing everything. Categories of which {} "
        "passes more than {} are left out.</p>",
        table,
        result.baseline,
        result.baseline,
        f"{100 * MAX_GUESSED:.0f}%",
    )
