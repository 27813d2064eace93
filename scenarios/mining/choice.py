"""Which of the moments that a category offers become scenarios, the same for the same seed.

No two of a category are of one world and less than its continuation apart: near-duplicates.
Each next choice evens out, in this order: worlds of the category, answers within a difficulty,
answers, difficulties, worlds of the whole draft, sources of the recordings, and who recorded; of
what is left the easier comes first, then by hash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scenarios.category import Candidate, Category
from sts.numerics.streams import streams
from sts.storage.files import canonical_json
from sts.suites.types import DIFFICULTIES
from sts.trajectories.types import Trajectory

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
        return Stratum(self.candidate.difficulty, source(self.trajectory, who.kind), who.name)


def source(trajectory: Trajectory, kind: str) -> str:
    """Returns which of `SOURCES` a participant's recording is of; `kind` is the participant's."""
    made_by, _, rest = trajectory.source.partition(" ")
    if made_by == "sts" and rest.startswith("run "):
        return FAILURE
    if kind == "human":
        return "person"
    return "agent" if made_by == "sts" else "import"


class Offer(NamedTuple):
    """A moment that may be chosen.

    Attributes:
      order: of the seed; the lower comes first.
      pick: the moment.
      step: of it, counted from the step at which its world began to be recorded.
      stratum: of it.
    """

    order: int
    pick: Pick
    step: int
    stratum: Stratum


class Pool:
    """The moments that one category offers: of those that are alike, the first."""

    def __init__(
        self, category: Category, seed: int, strata: Collection[str], *, several: bool
    ) -> None:
        """Says which moments are alike: those of one world, answer and stratum.

        Args:
          category: whose they are.
          seed: of the choice.
          strata: the fields of `Stratum` that tell strata apart.
          several: a world may give more than one scenario, so moments that are of two stretches as
            long as the continuation are not alike.
        """
        self._category, self._seed = category, seed
        self._strata = tuple(name for name in Stratum._fields if name in strata)
        self._stretch = category.horizon if several else None
        self._first: dict[tuple[Any, ...], Offer] = {}
        self.counts: Counter[Stratum] = Counter()

    def add(self, trajectory: Trajectory, candidates: Sequence[Candidate]) -> None:
        """Counts moments of a trajectory, and keeps each unless one that is alike comes first."""
        orders = streams(
            ("mine", self._seed, self._category.name, trajectory.id),
            ((c.moment, c.role, canonical_json(c.parameters)) for c in candidates),
        )
        for order, candidate in zip(orders.tolist(), candidates, strict=True):
            pick = Pick(trajectory, candidate)
            stratum, step = pick.stratum, pick.step
            self.counts[stratum] += 1
            stretch = step // self._stretch if self._stretch else 0
            own = tuple(getattr(stratum, name) for name in self._strata)
            alike = (trajectory.world, stretch, candidate.answer, own)
            there = self._first.get(alike)
            if there is None or order < there.order:
                self._first[alike] = Offer(order, pick, step, stratum)

    @property
    def worlds(self) -> frozenset[str]:
        """The worlds that its moments are of."""
        return frozenset(one.pick.trajectory.world for one in self._first.values())

    def offers(self) -> list[Offer]:
        """Returns its moments in the order of the seed."""
        return sorted(self._first.values(), key=lambda one: one.order)


Taken = Mapping[str, Sequence[int | None]]
"""Of each world, the takeovers of a category that there are; None takes the whole world."""
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
    pools: Mapping[str, Pool],
    categories: Iterable[Category],
    taken: Mapping[str, Taken],
    *,
    counts: Mapping[str, int],
    per_world: int,
    keep: Keep,
) -> dict[str, Chosen]:
    """Returns what each category takes; they take turns, so that none uses up the worlds.

    Args:
      pools: of each category, its moments.
      categories: in the order of their turns.
      taken: of each category, what it has already.
      counts: how many each may take.
      per_world: how many of one world, those that are taken among them.
      keep: whether to.
    """
    used: Counter[str] = Counter()
    turns = {c.name: _Turns(c, pools[c.name], taken.get(c.name, {}), per_world) for c in categories}
    waiting = [name for name in turns if counts[name]]
    while waiting:
        for name in tuple(waiting):
            one = turns[name]
            offer = one.next(used, keep, PATIENCE * counts[name])
            if offer is not None:
                used[offer.pick.trajectory.world] += 1
            if offer is None or len(one.chosen) == counts[name]:
                waiting.remove(name)
    return {name: Chosen(one.chosen, one.passed_over) for name, one in turns.items()}


class _Turns:
    """One category's choices, one after the other."""

    def __init__(self, category: Category, pool: Pool, taken: Taken, per_world: int) -> None:
        self._category, self._per_world = category, per_world
        self._there = {world: list(steps) for world, steps in taken.items()}
        self._free = [one for one in pool.offers() if self._fresh(one)]
        self.chosen: list[Offer] = []
        self.passed_over = 0

    def next(self, used: Mapping[str, int], keep: Keep, most: int) -> Offer | None:
        """Returns the next choice, None where nothing is left.

        Args:
          used: how often the whole draft has each world.
          keep: whether to.
          most: how many may be passed over in all.
        """
        while self._free and self.passed_over <= most:
            best = min(self._free, key=self._cost(used))
            if keep(self._category, best.pick):
                self.chosen.append(best)
                world = best.pick.trajectory.world
                self._there.setdefault(world, []).append(best.step)
                self._free = [
                    one
                    for one in self._free
                    if one.pick.trajectory.world != world or self._fresh(one)
                ]
                return best
            self._free = [one for one in self._free if one is not best]
            self.passed_over += 1
        return None

    def _fresh(self, one: Offer) -> bool:
        """Whether a moment is no near-duplicate, and its world not used up."""
        there = self._there.get(one.pick.trajectory.world, ())
        return len(there) < self._per_world and not any(
            step is None or abs(step - one.step) < self._category.horizon for step in there
        )

    def _cost(self, used: Mapping[str, int]) -> Callable[[Offer], tuple[int, ...]]:
        own = [(one.pick.candidate.answer, *one.stratum) for one in self.chosen]
        both = Counter((answer, difficulty) for answer, difficulty, *_ in own)
        answers, difficulties, sources, recorders = (
            Counter(one[i] for one in own) for i in range(4)
        )

        def cost(one: Offer) -> tuple[int, ...]:
            answer, world = one.pick.candidate.answer, one.pick.trajectory.world
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
