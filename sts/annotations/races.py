"""A race of agents: the looks at a suite that is judged in rounds, and what leads decided.

At a look, each pair of agents that is not resolved yet is compared; see `sts_analysis` for the
rule. An agent that leaves is judged no further; what is judged of it counts.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

DIFFERENT, HOPELESS, OPEN = "different", "hopeless", "open"
"""Outcomes of a pair at a look: agents that differ significantly, that would not do so at the end
of the plan either, and others."""
AIMS = {"rank": "to rank all agents", "best": "to find the best agent"}
"""Aims of judging in a race, by goal."""


class PairLook(NamedTuple):
    """Two agents at one look; numbers that cannot be known are absent (None)."""

    first: str
    second: str  # later in alphabetical order
    difference: float | None  # pass rate of the first minus that of the second
    se: float | None
    p: float | None  # adjusted for all pairs
    bar: float  # p below which they differ significantly
    information: float | None  # share of the full plan's information
    outcome: str  # different, hopeless or open


class Look(NamedTuple):
    """One look at a suite."""

    number: int  # from 1
    at: float  # UTC seconds
    point: float  # number of rounds, such as 0.25; see `find_points`
    goal: str
    seed: int  # of the order in which cells are judged
    agents: tuple[str, ...]  # in the race until then
    pairs: tuple[PairLook, ...]  # those that were not resolved before
    leaving: tuple[str, ...]  # agents
    needs_confirmation: bool
    prediction_powered: bool = False  # a rule's labels were used where people had not judged


class Decision(NamedTuple):
    """A lead's decision to confirm a look, or to keep an agent in the race."""

    by: str  # the lead's pseudonym
    at: float  # UTC seconds
    reason: str = ""


@dataclass
class Race:
    """All looks at one suite, and what leads decided about them."""

    looks: list[Look] = field(default_factory=list)
    confirmed: dict[int, Decision] = field(default_factory=dict)  # by number of the look
    kept: dict[str, Decision] = field(default_factory=dict)  # by agent

    @property
    def pending(self) -> Look | None:
        """The last look, if it waits for a lead's confirmation."""
        last = self.looks[-1] if self.looks else None
        waits = last and last.needs_confirmation and last.number not in self.confirmed
        return last if waits else None

    @property
    def effective(self) -> list[Look]:
        """The looks that have taken effect."""
        return self.looks[:-1] if self.pending else self.looks

    @property
    def out(self) -> dict[str, float]:
        """The agents that have left, with the place in rounds up to which theirs counts."""
        left = dict.fromkeys(agent for look in self.effective for agent in look.leaving)
        points = find_points(self.effective)
        return {agent: points[agent] for agent in left if agent not in self.kept}

    @property
    def resolved(self) -> dict[tuple[str, str], tuple[Look, PairLook]]:
        """The pairs that are resolved, with the look at which they were."""
        return {
            (pair.first, pair.second): (look, pair)
            for look in self.effective
            for pair in look.pairs
            if pair.outcome != OPEN
        }


def find_points(looks: Iterable[Look]) -> dict[str, float]:
    """Find the place in rounds up to which each agent is judged and counts after some looks.

    After a look that is due to an agent that joined later, those of others are farther.
    """
    points: dict[str, float] = {}
    for look in looks:
        points |= {agent: max(look.point, points.get(agent, 0.0)) for agent in look.agents}
    return points
