"""How alike the continuations of a scenario end."""

import msgspec
import numpy as np
from markupsafe import Markup

from sts_analysis.report.core import Interval, Report, Study, find_interval, html, join, number
from sts_analysis.report.markup import fold, render_records, render_table
from sts_analysis.report.text import percent
from sts_analysis.statistics.repeatability import measure_repeatability

TITLE = "Consistency"
NAV = "Consistency"


class Row(msgspec.Struct, frozen=True):
    """One agent.

    Attributes:
      agent: its name.
      alike: chance that two continuations of a scenario end alike; null if too few scenarios have
        two.
      interval: of the chance; null below five units.
      scenarios: with two continuations or more.
    """

    agent: str
    alike: float | None
    interval: Interval | None
    scenarios: int


class Depth(msgspec.Struct, frozen=True):
    """Chances of several continuations of a scenario.

    Attributes:
      agent: its name.
      k: number of continuations.
      scenarios: that the chances are over, the same for every k of an agent.
      all_succeed: pass^k, the chance that all succeed.
      all_succeed_interval: of this chance.
      any_succeeds: pass@k, the chance that at least one succeeds.
      any_succeeds_interval: of this chance.
    """

    agent: str
    k: int
    scenarios: int
    all_succeed: float | None
    all_succeed_interval: Interval | None
    any_succeeds: float | None
    any_succeeds_interval: Interval | None


class Result(msgspec.Struct, frozen=True):
    """Consistency of all agents.

    Attributes:
      rows: agents in the order of the ranking.
      depths: chances by agent and number of continuations.
    """

    rows: tuple[Row, ...]
    depths: tuple[Depth, ...]


def compute(study: Study) -> Result | None:
    """Measure consistency; None if no agent has two continuations of enough scenarios."""
    found, agents = measure_repeatability(study.outcomes), study.outcomes.agents
    if not np.isfinite(found.alike.value).any():
        return None
    return Result(
        rows=tuple(
            Row(
                agent=agents[a],
                alike=number(found.alike.value[a]),
                interval=find_interval(found.alike, a),
                scenarios=int(found.alike.scenarios[a]),
            )
            for a in study.order
        ),
        depths=tuple(
            Depth(
                agent=agents[a],
                k=k,
                scenarios=int(all_succeed.scenarios[a]),
                all_succeed=number(all_succeed.value[a]),
                all_succeed_interval=find_interval(all_succeed, a),
                any_succeeds=number(found.any_succeeds[k].value[a]),
                any_succeeds_interval=find_interval(found.any_succeeds[k], a),
            )
            for a in study.order
            for k, all_succeed in found.all_succeed.items()
        ),
    )


def render(result: Result, report: Report) -> Markup:
    """Show how often two continuations end alike, and folded the chances for several."""
    columns = {
        "Agent": "agent",
        "Two continuations alike": "alike",
        "95% interval": "interval",
        "Scenarios": "scenarios",
    }
    note = "The chance that two continuations of a scenario both succeed or both fail."
    depths = list(dict.fromkeys(row.k for row in result.depths))
    chances = {(row.agent, row.k): row for row in result.depths}
    several = render_table(
        [
            "Agent",
            "Scenarios",
            *(f"all {k}" for k in depths),
            *(f"any of {k}" for k in depths if k > 1),
        ],
        (
            [
                row.agent,
                f"{chances[row.agent, depths[0]].scenarios:,}",
                *(percent(chances[row.agent, k].all_succeed) for k in depths),
                *(percent(chances[row.agent, k].any_succeeds) for k in depths if k > 1),
            ]
            for row in result.rows
        ),
    )
    folded = fold("Chances that all, or any, of k continuations succeed", several)
    return join([render_records(result.rows, columns), html("<p class=cap>{}</p>", note), folded])
