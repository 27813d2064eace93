"""Mining: from recorded trajectories to a draft, the same for the same seed.

One side is mined, train or test. What is chosen of each category's moments is said in `choice`;
what narrows them down, a filter, a miner of somebody's own, is a category whose `candidates` are
fewer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenarios.category import Category
from scenarios.mining.choice import (
    Keep,
    Offer,
    Offered,
    Picks,
    Pool,
    Stratum,
    choose,
    world_key,
)
from scenarios.mining.choice import Pick as Pick
from scenarios.mining.making import FAILED, naming, scenarios
from scenarios.mining.making import scenario as scenario
from scenarios.mining.making import states_at as states_at
from sts.domains import why_unavailable
from sts.errors import StsError
from sts.suites.scenarios import Summary
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory


class Mined(NamedTuple):
    """Candidates for a draft.

    Attributes:
      scenarios: of it.
      candidates: how many moments each category had.
      offered: uint64, in which worlds; one number each.
      strata: of each category and stratum, how many moments there are, and were chosen.
      passed_over: of each category, how many moments were to be chosen and not kept.
      unfit: of each category that refuses one of its scenarios with this partner, why.
      unavailable: of each domain, how many trajectories were left out as their worlds cannot be had
        here, and why the first of them cannot.
      sampled: of each category that was asked at some of the moments alone at which it may ask, the
        first in the order of the seed, at how many of how many; its candidates are of those.
    """

    scenarios: tuple[Scenario, ...]
    candidates: dict[str, int]
    offered: dict[str, NDArray[np.uint64]]
    strata: dict[str, dict[Stratum, tuple[int, int]]]
    passed_over: dict[str, int]
    unfit: dict[str, str]
    unavailable: dict[str, tuple[int, StsError]]
    sampled: dict[str, tuple[int, int]]

    @property
    def worlds(self) -> dict[str, int]:
        """In how many worlds each category had moments."""
        return {name: len(own) for name, own in self.offered.items()}

    def and_of(self, other: Mined) -> Mined:
        """Returns these and others of the same categories, mined from other trajectories."""
        return Mined(
            (*self.scenarios, *other.scenarios),
            {name: n + other.candidates[name] for name, n in self.candidates.items()},
            {name: np.union1d(own, other.offered[name]) for name, own in self.offered.items()},
            {name: own | other.strata[name] for name, own in self.strata.items()},
            {name: n + other.passed_over[name] for name, n in self.passed_over.items()},
            other.unfit | self.unfit,
            other.unavailable | self.unavailable,
            self.sampled,
        )


@dataclass(frozen=True)
class Terms:
    """By what moments are chosen.

    Attributes:
      counts: how many of each category, at most.
      seed: of the choice.
      last: the highest number of an id of each category so far.
      there: candidates that there are already.
      per_world: how many of one category and world, at most; worlds that have fewer come first.
      strata: the fields of `Stratum` of each of which a world offers a moment.
      side: that is mined, "train" or "test".
      keep: whether to take a moment that is to be chosen; None takes each.
      rule: by what else they were chosen; their provenance says it.
    """

    counts: Mapping[str, int]
    seed: int
    last: Mapping[str, int] = field(default_factory=dict)
    there: Collection[Summary | Scenario] = ()
    per_world: int = 1
    strata: Collection[str] = Stratum._fields
    side: str = "test"
    keep: Keep | None = None
    rule: Mapping[str, Any] = field(default_factory=dict)

    @property
    def taken(self) -> dict[str, dict[str, list[int | None]]]:
        """Of each category and world the takeovers that there are.

        One that was mined from a failure takes its whole world: its steps are counted from another.
        """
        out: dict[str, dict[str, list[int | None]]] = defaultdict(lambda: defaultdict(list))
        for one in self.there:
            step = None if FAILED in one.tags else one.context_start + one.takeover
            out[one.category][world_key(one.world)].append(step)
        return out


class Gathered(NamedTuple):
    """What there is to choose from.

    Attributes:
      offered: of each category.
      picks: says what is offered.
      unavailable: as in `Mined`.
      sampled: as in `Mined`.
    """

    offered: Mapping[str, Offered]
    picks: Picks
    unavailable: dict[str, tuple[int, StsError]]
    sampled: dict[str, tuple[int, int]]


def mine(
    trajectories: Iterable[Trajectory],
    categories: Sequence[Category],
    *,
    per_category: int | Mapping[str, int],
    seed: int,
    last: Mapping[str, int] | None = None,
    there: Iterable[Summary | Scenario] = (),
    per_world: int = 1,
    strata: Collection[str] = Stratum._fields,
    side: str = "test",
    keep: Keep | None = None,
    rule: Mapping[str, Any] | None = None,
) -> Mined:
    """Return up to `per_category` scenarios of each category, no two of them near-duplicates.

    What a category itself does not find fitting, as its partner may make it, is left out, and so
    are trajectories whose worlds cannot be had here. `per_category` is one number, or one for each
    category; `seed` and what follows are as in `Terms`.

    Raises:
      ReplayMismatch: a trajectory that was chosen from does not replay.
    """
    counts = counted(categories, per_category)
    terms = Terms(counts, seed, last or {}, tuple(there), per_world, strata, side, keep, rule or {})
    return concluded(gathered(trajectories, categories, terms), categories, terms)


def counted(
    categories: Sequence[Category], per_category: int | Mapping[str, int]
) -> Mapping[str, int]:
    """Returns how many of each category are wanted."""
    if isinstance(per_category, Mapping):
        return per_category
    return dict.fromkeys((category.name for category in categories), per_category)


def gathered(
    trajectories: Iterable[Trajectory], categories: Sequence[Category], terms: Terms
) -> Gathered:
    """Returns the moments of trajectories that stand in memory."""
    several, taken = terms.per_world > 1, terms.taken
    pools = {c.name: Pool(c, terms.seed, terms.strata, several=several) for c in categories}
    gone: dict[str, tuple[int, StsError]] = {}
    for trajectory in trajectories:
        name = trajectory.episode.domain
        concerned = [category for category in categories if category.domain == name]
        if trajectory.split != terms.side or not concerned:
            continue
        if (reason := why_unavailable(trajectory.episode)) is not None:
            count, first = gone.get(name, (0, reason))
            gone[name] = count + 1, first
            continue
        for category in concerned:
            if len(taken[category.name].get(world_key(trajectory.world), ())) >= terms.per_world:
                continue
            with naming(trajectory):
                moments = category.moments(trajectory)
            pools[category.name].add(trajectory, moments)
    return Gathered({name: pool.offered() for name, pool in pools.items()}, _themselves, gone, {})


def _themselves(offers: Sequence[tuple[Category, Offer]]) -> list[Pick]:
    picks = [offer.at for _, offer in offers]
    assert all(isinstance(pick, Pick) for pick in picks)
    return picks  # type: ignore[return-value]


def concluded(there: Gathered, categories: Sequence[Category], terms: Terms) -> Mined:
    """Return the scenarios that are made of what is chosen; errors as of `mine`."""
    keep = terms.keep

    def kept(category: Category, offer: Offer) -> bool:
        return keep is None or keep(category, there.picks([(category, offer)])[0])

    chosen = choose(
        there.offered,
        categories,
        terms.taken,
        counts=terms.counts,
        per_world=terms.per_world,
        keep=kept,
    )
    picks = iter(there.picks([(c, one) for c in categories for one in chosen[c.name].offers]))
    made = [
        (one.scenario, one.stratum, c.fits(one.scenario))
        for c in categories
        for one in scenarios(
            c,
            [next(picks) for _ in chosen[c.name].offers],
            terms.seed,
            terms.last.get(c.name, 0),
            terms.rule,
        )
    ]
    fitting = Counter((s.category, stratum) for s, stratum, fault in made if fault is None)
    return Mined(
        tuple(s for s, _, fault in made if fault is None),
        {name: own.counts.total() for name, own in there.offered.items()},
        {name: own.worlds for name, own in there.offered.items()},
        {
            name: {one: (n, fitting[name, one]) for one, n in sorted(own.counts.items())}
            for name, own in there.offered.items()
        },
        {name: own.passed_over for name, own in chosen.items()},
        {s.category: fault for s, _, fault in made if fault is not None},
        there.unavailable,
        there.sampled,
    )
