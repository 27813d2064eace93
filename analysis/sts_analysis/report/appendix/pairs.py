"""Joint success in contrast pairs: two instructions at one takeover, of which both must succeed."""

from collections.abc import Mapping, Sequence

import msgspec
from markupsafe import Markup

from sts_analysis.report.appendix.rates import MAX_COLUMNS
from sts_analysis.report.core import Interval, Report, Study, find_interval, html, number
from sts_analysis.report.markup import fold, render_records, render_table
from sts_analysis.report.text import percent
from sts_analysis.statistics.joint_success import measure_joint_success

TITLE = "Contrast pairs"
NAV = "Pairs"
MIN_GROUPS = 5
"""Groups from which on the page shows them; JSON has all."""


class JointRate(msgspec.Struct, frozen=True):
    """How often an agent succeeds in all scenarios of a group.

    Attributes:
      agent: its name.
      joint_success: mean over groups of the product of the scenarios' pass rates.
      interval: null below five units.
      units: independent units with a value.
      groups: in which everything is judged.
    """

    agent: str
    joint_success: float | None
    interval: Interval | None
    units: int
    groups: int


class Group(msgspec.Struct, frozen=True):
    """A contrast pair or a dialogue.

    Attributes:
      group: its name.
      scenarios: its ids.
      joint_success: by agent; above 20 agents the first 20, and all in the CSV file.
    """

    group: str
    scenarios: tuple[str, ...]
    joint_success: dict[str, float | None]


class Result(msgspec.Struct, frozen=True):
    """Joint success of all agents.

    Attributes:
      rows: agents in the order of the ranking.
      groups: each pair or dialogue.
    """

    rows: tuple[JointRate, ...]
    groups: tuple[Group, ...]


def compute(study: Study, *, unabridged: bool = False) -> Result | None:
    """Measure joint success in contrast pairs; None without one."""
    return measure_groups(study, study.subject.pairs, unabridged=unabridged)


def render(result: Result, report: Report) -> Markup:
    """Show the rate of each agent, and folded all pairs."""
    return render_groups(result, "pair", "Credit only if both instructions of a pair are followed.")


def measure_groups(
    study: Study, groups: Mapping[str, Sequence[str]], *, unabridged: bool
) -> Result | None:
    """Measure joint success in groups of scenarios; None without one."""
    if not groups:
        return None
    agents = study.outcomes.agents
    credit, means = measure_joint_success(study.outcomes, list(groups.values()))
    shown = study.order if unabridged else study.order[:MAX_COLUMNS]
    names = [agents[a] for a in shown]
    judged = (credit == credit).sum(axis=1)
    return Result(
        rows=tuple(
            JointRate(
                agent=agents[a],
                joint_success=number(means.value[a]),
                interval=find_interval(means, a),
                units=int(means.units[a]),
                groups=int(judged[a]),
            )
            for a in study.order
        ),
        groups=tuple(
            Group(
                group=name,
                scenarios=tuple(scenarios),
                joint_success=dict(zip(names, map(number, column), strict=True)),
            )
            for (name, scenarios), column in zip(
                groups.items(), credit[shown].T.tolist(), strict=True
            )
        ),
    )


def render_groups(result: Result, noun: str, note: str) -> Markup:
    """Show the rate of each agent, and folded all groups."""
    if len(result.groups) < MIN_GROUPS:
        return Markup("")
    table = render_records(
        result.rows,
        {
            "Agent": "agent",
            "Joint success": "joint_success",
            "95% interval": "interval",
            f"{noun.capitalize()}s": "groups",
        },
    )
    agents = list(result.groups[0].joint_success)
    each = render_table(
        [noun.capitalize(), *agents],
        (
            [
                ", ".join(group.scenarios),
                *(percent(rate) for rate in group.joint_success.values()),
            ]
            for group in result.groups
        ),
    )
    return html("{}<p class=cap>{}</p>{}", table, note, fold(f"Each {noun}", each))
