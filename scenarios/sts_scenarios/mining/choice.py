"""Which of the moments that a category offers become scenarios, the same for the same seed.

No two of a category are of one world and less than its continuation apart: near-duplicates.
Each next choice evens out, in this order: worlds of the category, answers within a difficulty,
answers, difficulties, worlds of the whole draft, sources of the recordings, and who recorded; of
what is left the easier comes first, then by hash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.numerics.streams import crossed
from sts.suites.types import DIFFICULTIES
from sts.trajectories.types import Trajectory
from sts_scenarios.category import Candidate, Category

Moments = Iterable[tuple[int, int, bytes]]
FAILURE = "failure"
SOURCES = ("person", "agent", "import", FAILURE)
"""What kinds of source recordings have: a person, or an agent that was recorded here or elsewhere;
or they are continuations of a suite in which what was asked was not done."""


class Stratum(NamedTuple):
    """What candidates of one category are alike in, of what a suite should have some of each."""

    difficulty: str
    source: str
    recorder: str


class Pick(NamedTuple):
    """A candidate of a category, and the trajectory that it stands in."""

    trajectory: Trajectory
    candidate: Candidate

    @property
    def step(self) -> int:
        """Its moment, counted from the step at which its world began to be recorded."""
        return self.candidate.moment + int(self.trajectory.provenance.get("begins", 0))

    @property
    def stratum(self) -> Stratum:
        """Its difficulty, what kind of source recorded it, and who the participant was."""
        who = self.trajectory.participants[self.candidate.role]
        origin = source(self.trajectory.source, who.kind)
        return Stratum(self.candidate.difficulty, origin, who.name)


def source(made_by: str, kind: str) -> str:
    """Return which of `SOURCES` a recording is of, by its source and a participant's kind."""
    command, _, rest = made_by.partition(" ")
    if command == "sts" and rest.startswith("run "):
        return FAILURE
    if kind == "human":
        return "person"
    return "agent" if command == "sts" else "import"


class Place(NamedTuple):
    """Where a candidate stands in what is mined, a part, `sts.trajectories.flat`, and a row."""

    part: int
    row: int
    moment: int
    role: int


class Offer(NamedTuple):
    """A moment that may be chosen.

    Attributes:
      order: of the seed; the lower comes first.
      world: what `world_key` makes of its hash.
      answer: of the candidate.
      step: of it, counted from the step at which its world began to be recorded.
      stratum: of it.
      at: where it stands.
    """

    order: int
    world: str
    answer: str
    step: int
    stratum: Stratum
    at: Place


class Offered(NamedTuple):
    """The moments that one category offers.

    Attributes:
      offers: of those that are alike the first, in the order of the seed.
      counts: how many there are of each stratum, whether or not alike.
      worlds: uint64, each of their worlds once.
    """

    offers: list[Offer]
    counts: Counter[Stratum]
    worlds: NDArray[np.uint64]


def world_key(world: str) -> str:
    """Return what worlds are told apart by: the first 16 digits of a hash."""
    return world[:16]


def orders(
    seed: int, category: str, ids: Iterable[str], moments: Moments, pairs: Iterable[tuple[int, int]]
) -> NDArray[np.uint64]:
    """Return uint64[B], the orders of moments; each of `pairs` indexes `ids` and `moments`."""
    return crossed(("mine", seed, category), ids, moments, pairs)


Taken = Mapping[str, Sequence[int | None]]
"""Of each world's key, the takeovers of a category that there are; None takes the whole world."""
Picks = Callable[[Sequence[tuple[Category, Offer]]], list[Pick]]
"""Returns the moments that are offered, with their trajectories."""
Keep = Callable[[Category, Pick], bool]
"""Whether a moment that is to be chosen is; of one that is not nothing more is asked."""
PATIENCE = 10
"""How many moments are passed over, at most, for each that is chosen or to be chosen."""


class Chosen(NamedTuple):
    """What a category takes.

    Attributes:
      offers: in the order of the choice.
      passed_over: how many others were asked about and not kept.
    """

    offers: list[Offer]
    passed_over: int


def choose(
    offered: Mapping[str, Offered],
    categories: Iterable[Category],
    taken: Mapping[str, Taken],
    *,
    counts: Mapping[str, int],
    per_world: int,
    keep: Callable[[Category, Offer], bool],
) -> dict[str, Chosen]:
    """Return what each category takes; they take turns, so that none uses up the worlds."""
    used: Counter[str] = Counter()
    turns = {
        c.name: _Turns(c, offered[c.name].offers, taken.get(c.name, {}), per_world)
        for c in categories
    }
    waiting = [name for name in turns if counts[name]]
    while waiting:
        for name in tuple(waiting):
            one = turns[name]
            offer = one.next(used, keep, PATIENCE * counts[name])
            if offer is not None:
                used[offer.world] += 1
            if offer is None or len(one.chosen) == counts[name]:
                waiting.remove(name)
    return {name: Chosen(one.chosen, one.passed_over) for name, one in turns.items()}


class _Turns:
    """One category's choices, one after the other."""

    def __init__(
        self, category: Category, offers: Iterable[Offer], taken: Taken, per_world: int
    ) -> None:
        self._category, self._per_world = category, per_world
        self._there = {world: list(steps) for world, steps in taken.items()}
        self._free = [one for one in offers if self._fresh(one)]
        self.chosen: list[Offer] = []
        self.passed_over = 0

    def next(
        self, used: Mapping[str, int], keep: Callable[[Category, Offer], bool], most: int
    ) -> Offer | None:
        """Return the next choice, None where nothing is left."""
        while self._free and self.passed_over <= most:
            best = min(self._free, key=self._cost(used))
            if keep(self._category, best):
                self.chosen.append(best)
                self._there.setdefault(best.world, []).append(best.step)
                self._free = [
                    one for one in self._free if one.world != best.world or self._fresh(one)
                ]
                return best
            self._free = [one for one in self._free if one is not best]
            self.passed_over += 1
        return None

    def _fresh(self, one: Offer) -> bool:
        """Whether a moment is no near-duplicate, and its world not used up."""
        there = self._there.get(one.world, ())
        return len(there) < self._per_world and not any(
            step is None or abs(step - one.step) < self._category.horizon for step in there
        )

    def _cost(self, used: Mapping[str, int]) -> Callable[[Offer], tuple[int, ...]]:
        own = [(one.answer, *one.stratum) for one in self.chosen]
        both = Counter((answer, difficulty) for answer, difficulty, *_ in own)
        answers, difficulties, sources, recorders = (
            Counter(one[i] for one in own) for i in range(4)
        )

        def cost(one: Offer) -> tuple[int, ...]:
            answer, world = one.answer, one.world
            difficulty, source, recorder = one.stratum
            return (
                len(self._there.get(world, ())),
                both[answer, difficulty],
                answers[answer],
                difficulties[difficulty],
                used.get(world, 0),
                sources[source],
                recorders[recorder],
                DIFFICULTIES.index(difficulty),
            )

        return cost
