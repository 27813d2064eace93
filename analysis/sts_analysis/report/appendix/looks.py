"""The looks at a study that was judged in a race, and what was decided at each."""

import msgspec
from markupsafe import Markup

from sts.annotations.races import AIMS, DIFFERENT, HOPELESS, OPEN
from sts.annotations.races import Look as RecordedLook
from sts.names import format_time
from sts_analysis.report.core import Report, Study, html, join
from sts_analysis.report.markup import render_records
from sts_analysis.report.text import explain_labels, write_point

TITLE = "Looks"
NAV = "Looks"


class Look(msgspec.Struct, frozen=True):
    """One look.

    Attributes:
      at: UTC seconds; 0 if it was repeated from a table.
      point: number of rounds after which it was due.
      agents: in the race until then.
      leaving: agents that left.
      different: pairs that were found to differ significantly.
      hopeless: pairs that would hardly differ significantly at the end of the plan.
      open: other pairs, of which some may not count for the goal.
      confirmed: pseudonym of the lead who confirmed it; "" if that was not needed.
    """

    at: float
    point: float
    agents: tuple[str, ...]
    leaving: tuple[str, ...]
    different: int
    hopeless: int
    open: int
    confirmed: str


class Kept(msgspec.Struct, frozen=True):
    """An agent that a lead kept in the race.

    Attributes:
      agent: its name in the queue.
      by: pseudonym of the lead.
      at: UTC seconds.
      reason: as given.
    """

    agent: str
    by: str
    at: float
    reason: str


class Result(msgspec.Struct, frozen=True):
    """The decisions of a race, and their times.

    Attributes:
      goal: "rank" or "best".
      looks: in order.
      kept: agents that leads kept in the race.
      labels: source of labels that rates use where people have not judged: "automatic" or "model";
        "" for none.
    """

    goal: str
    looks: tuple[Look, ...]
    kept: tuple[Kept, ...]
    labels: str


def compute(study: Study) -> Result | None:
    """List the looks; None without one."""
    race, plan = study.race, study.subject.plan
    if race is None:
        return None
    confirmed, kept = (plan.race.confirmed, plan.race.kept) if plan else ({}, {})
    return Result(
        goal=race.looks[0].goal,
        looks=tuple(
            Look(
                at=look.at,
                point=look.point,
                agents=look.agents,
                leaving=look.leaving,
                different=_count(look, DIFFERENT),
                hopeless=_count(look, HOPELESS),
                open=_count(look, OPEN),
                confirmed=confirmed[look.number].by if look.number in confirmed else "",
            )
            for look in race.looks
        ),
        kept=tuple(Kept(agent, *decision) for agent, decision in kept.items()),
        labels=study.labels,
    )


def _count(look: RecordedLook, outcome: str) -> int:
    return sum(pair.outcome == outcome for pair in look.pairs)


def render(result: Result, report: Report) -> Markup:
    """Show the looks, and whom leads kept."""
    looks = render_records(
        result.looks,
        {
            "After": lambda row: write_point(row.point),
            "Decided (UTC)": lambda row: format_time(row.at) if row.at else "–",
            "Agents": lambda row: str(len(row.agents)),
            "Differ": lambda row: str(row.different),
            "Hopeless": lambda row: str(row.hopeless),
            "Open": lambda row: str(row.open),
            "Left": lambda row: ", ".join(row.leaving) or "–",
            "Confirmed by": lambda row: row.confirmed or "–",
        },
    )
    kept = join(
        html("<p class=cap>{} was kept in the race by {}: {}</p>", one.agent, one.by, one.reason)
        for one in result.kept
    )
    return html(
        "<p class=cap>People judged {}. At each look, an agent left of which every pair that "
        "counted was resolved: different, with p below a bar that follows from the pair’s share of "
        "the full plan’s information, or hopeless, as it would hardly differ significantly at the "
        "end of the plan. Comparisons has what each pair was resolved by.{}</p>{}{}",
        AIMS[result.goal],
        f" {explain_labels(result.labels)}" if result.labels else "",
        looks,
        kept,
    )
