"""Selection of the candidate steps that become scenarios, reproducible by seed.

Near-duplicates are excluded: no two selected steps of a category are in the same world and less
than a horizon apart. Each next step balances, in this order: worlds of the category, answers within
a difficulty, answers, difficulties, worlds of the whole draft, kinds of source, and recorders;
among equals, easier steps come first, then by hash.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.numerics.streams import cross_streams
from sts.suites.suite import DIFFICULTIES
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.rules.category import Candidate, Category

FAILURE = "failure"
SOURCES = ("person", "agent", "import", FAILURE)
"""Kinds of sources: people, agents recorded here, imported data sets, failed continuations."""


class Stratum(NamedTuple):
    """A group of a category's candidates; a suite should have some of each."""

    difficulty: str
    source: str
    recorder: str


class Pick(NamedTuple):
    """A candidate of a category, and its trajectory."""

    trajectory: Trajectory
    candidate: Candidate

    @property
    def world_step(self) -> int:
        """Its step, counted from the step at which the recording of its world began."""
        return self.candidate.step + int(self.trajectory.provenance.get("begins", 0))

    @property
    def stratum(self) -> Stratum:
        """Its difficulty, the kind of source, and the name of the recorded player."""
        recorder = self.trajectory.players[self.candidate.player]
        origin = source_kind(self.trajectory.source, recorder.kind)
        return Stratum(self.candidate.difficulty, origin, recorder.name)


def source_kind(made_by: str, kind: str) -> str:
    """Return one of `SOURCES`, from a recording's source and a player's kind."""
    command, _, rest = made_by.partition(" ")
    if command == "sts" and rest.startswith("run "):
        return FAILURE
    if kind == "human":
        return "person"
    return "agent" if command == "sts" else "import"


class Position(NamedTuple):
    """The position of a candidate: part (`sts.trajectories.batches`), row, step and player."""

    part: int
    row: int
    step: int
    player: int


class Offer(NamedTuple):
    """A candidate step that may be selected."""

    order: int  # pseudo-random by seed; the lower comes first
    world: str  # `world_key` of its hash
    answer: str  # of the candidate
    world_step: int  # its step, counted from the step at which the recording of its world began
    stratum: Stratum  # of the candidate
    position: Position  # its position


class OfferedSteps(NamedTuple):
    """The candidate steps of one category."""

    offers: list[Offer]  # the first of each group of alike steps, sorted by `Offer.order`.
    counts: Counter[Stratum]  # number of steps of each stratum, alike ones included
    worlds: NDArray[np.uint64]  # uint64, the distinct worlds


def world_key(world: str) -> str:
    """Return the first 16 digits of a world's hash, by which worlds are distinguished."""
    return world[:16]


def draw_step_ranks(
    seed: int,
    category: str,
    trajectory_ids: Iterable[str],
    steps: Iterable[tuple[int, int, bytes]],
    pairs: Iterable[tuple[int, int]],
) -> NDArray[np.uint64]:
    """Draw the random ranks by which mining orders candidate steps, uint64[B].

    A step is drawn the same rank in any selection of trajectories.

    Args:
      seed: of the draws.
      category: the name of the category.
      trajectory_ids: the trajectories.
      steps: step, player and canonical JSON of the parameters of candidates.
      pairs: B indices of `trajectory_ids` and `steps`, one pair for each candidate step.
    """
    return cross_streams(("mine", seed, category), trajectory_ids, steps, pairs)


Taken = Mapping[str, Sequence[int | None]]
"""World steps of existing scenarios of a category, by world key; None blocks the whole world."""
Picks = Callable[[Sequence[tuple[Category, Offer]]], list[Pick]]
"""Returns offers as candidates with their trajectories."""
PickFilter = Callable[[Category, Pick], bool]
"""Returns True to keep a selected step; a rejected one is not considered again."""
MAX_REJECTED = 10
"""Maximum number of rejected steps for each wanted one."""


class Selection(NamedTuple):
    """The selected steps of a category."""

    offers: list[Offer]  # in the order of selection
    passed_over: int  # number of others that `is_kept` rejected


def select_steps(
    offered: Mapping[str, OfferedSteps],
    categories: Iterable[Category],
    taken: Mapping[str, Taken],
    *,
    counts: Mapping[str, int],
    per_world: int,
    is_kept: Callable[[Category, Offer], bool],
) -> dict[str, Selection]:
    """Select steps for each category; categories take turns, so that none uses up the worlds."""
    picks_per_world: Counter[str] = Counter()
    turns = {
        c.name: _Selector(c, offered[c.name].offers, taken.get(c.name, {}), per_world)
        for c in categories
    }
    waiting = [name for name in turns if counts[name]]
    while waiting:
        for name in tuple(waiting):
            turn = turns[name]
            offer = turn.next(picks_per_world, is_kept, MAX_REJECTED * counts[name])
            if offer is not None:
                picks_per_world[offer.world] += 1
            if offer is None or len(turn.chosen) == counts[name]:
                waiting.remove(name)
    return {name: Selection(turn.chosen, turn.passed_over) for name, turn in turns.items()}


class _Selector:
    """The successive selections of one category."""

    def __init__(
        self, category: Category, offers: Iterable[Offer], taken: Taken, per_world: int
    ) -> None:
        self._category, self._per_world = category, per_world
        self._steps = {world: list(steps) for world, steps in taken.items()}
        self._free = [offer for offer in offers if self._is_available(offer)]
        self.chosen: list[Offer] = []
        self.passed_over = 0

    def next(
        self,
        picks_per_world: Mapping[str, int],
        is_kept: Callable[[Category, Offer], bool],
        max_rejected: int,
    ) -> Offer | None:
        """Select and return the next step, None if none is left.

        `picks_per_world` counts the selected steps of all categories, by world key.
        """
        while self._free and self.passed_over <= max_rejected:
            best = min(self._free, key=self._cost(picks_per_world))
            if is_kept(self._category, best):
                self.chosen.append(best)
                self._steps.setdefault(best.world, []).append(best.world_step)
                self._free = [
                    offer
                    for offer in self._free
                    if offer.world != best.world or self._is_available(offer)
                ]
                return best
            self._free = [offer for offer in self._free if offer is not best]
            self.passed_over += 1
        return None

    def _is_available(self, offer: Offer) -> bool:
        """Return True if a step is not a near-duplicate and its world is not used up."""
        steps = self._steps.get(offer.world, ())
        return len(steps) < self._per_world and not any(
            step is None or abs(step - offer.world_step) < self._category.horizon for step in steps
        )

    def _cost(self, picks_per_world: Mapping[str, int]) -> Callable[[Offer], tuple[int, ...]]:
        keys = [(offer.answer, *offer.stratum) for offer in self.chosen]
        both = Counter((answer, difficulty) for answer, difficulty, *_ in keys)
        answers, difficulties, sources, recorders = (
            Counter(key[i] for key in keys) for i in range(4)
        )

        def cost(offer: Offer) -> tuple[int, ...]:
            answer, world = offer.answer, offer.world
            difficulty, source, recorder = offer.stratum
            return (
                len(self._steps.get(world, ())),
                both[answer, difficulty],
                answers[answer],
                difficulties[difficulty],
                picks_per_world.get(world, 0),
                sources[source],
                recorders[recorder],
                DIFFICULTIES.index(difficulty),
            )

        return cost
