"""Mining: from recorded trajectories to a draft, the same for the same seed.

One side is mined, train or test. What is chosen of each category's moments is said in `choice`;
what narrows them down, a filter, a miner of somebody's own, is a category whose `candidates` are
fewer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scenarios.category import Category
from scenarios.mining.choice import Keep, Pool, Stratum, choose
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
      offered: in which worlds.
      strata: of each category and stratum, how many moments there are, and were chosen.
      passed_over: of each category, how many moments were to be chosen and not kept.
      unfit: of each category that refuses one of its scenarios with this partner, why.
      unavailable: of each domain, how many trajectories were left out as their worlds cannot be had
        here, and why the first of them cannot.
    """

    scenarios: tuple[Scenario, ...]
    candidates: dict[str, int]
    offered: dict[str, frozenset[str]]
    strata: dict[str, dict[Stratum, tuple[int, int]]]
    passed_over: dict[str, int]
    unfit: dict[str, str]
    unavailable: dict[str, tuple[int, StsError]]

    @property
    def worlds(self) -> dict[str, int]:
        """In how many worlds each category had moments."""
        return {name: len(own) for name, own in self.offered.items()}

    def and_of(self, other: Mined) -> Mined:
        """Returns these and others of the same categories, mined from other trajectories."""
        return Mined(
            (*self.scenarios, *other.scenarios),
            {name: n + other.candidates[name] for name, n in self.candidates.items()},
            {name: own | other.offered[name] for name, own in self.offered.items()},
            {name: own | other.strata[name] for name, own in self.strata.items()},
            {name: n + other.passed_over[name] for name, n in self.passed_over.items()},
            other.unfit | self.unfit,
            other.unavailable | self.unavailable,
        )


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
    keep: Keep = lambda category, pick: True,
    rule: Mapping[str, Any] | None = None,
) -> Mined:
    """Returns up to `per_category` scenarios of each category, no two of them near-duplicates.

    What a category itself does not find fitting, as its partner may make it, is left out, and so
    are trajectories whose worlds cannot be had here.

    Args:
      trajectories: to mine.
      categories: to find scenarios of.
      per_category: how many, at most; or how many of each category.
      seed: of the choice.
      last: the highest number of an id of each category so far.
      there: candidates that there are already.
      per_world: how many of one category and world, at most; worlds that have fewer come first.
      strata: the fields of `Stratum` of each of which a world offers a moment.
      side: that is mined, "train" or "test".
      keep: whether to take a moment that is to be chosen.
      rule: by what else they were chosen; their provenance says it.

    Raises:
      ReplayMismatch: a trajectory that was chosen from does not replay.
    """
    taken = _taken(there)
    pools = {c.name: Pool(c, seed, strata, several=per_world > 1) for c in categories}
    gone: dict[str, tuple[int, StsError]] = {}
    for trajectory in trajectories:
        name = trajectory.episode.domain
        concerned = [category for category in categories if category.domain == name]
        if trajectory.split != side or not concerned:
            continue
        if (reason := why_unavailable(trajectory.episode)) is not None:
            count, first = gone.get(name, (0, reason))
            gone[name] = count + 1, first
            continue
        for category in concerned:
            if len(taken[category.name].get(trajectory.world, ())) >= per_world:
                continue
            with naming(trajectory):
                moments = category.moments(trajectory)
            pools[category.name].add(trajectory, moments)
    names = [category.name for category in categories]
    counts = (
        per_category if isinstance(per_category, Mapping) else dict.fromkeys(names, per_category)
    )
    chosen = choose(pools, categories, taken, counts=counts, per_world=per_world, keep=keep)
    made = [
        (one.scenario, one.stratum, c.fits(one.scenario))
        for c in categories
        for one in scenarios(
            c, chosen[c.name].offers, seed, (last or {}).get(c.name, 0), rule or {}
        )
    ]
    fitting = Counter((s.category, stratum) for s, stratum, fault in made if fault is None)
    return Mined(
        tuple(s for s, _, fault in made if fault is None),
        {name: pool.counts.total() for name, pool in pools.items()},
        {name: pool.worlds for name, pool in pools.items()},
        {
            name: {one: (n, fitting[name, one]) for one, n in sorted(pool.counts.items())}
            for name, pool in pools.items()
        },
        {name: own.passed_over for name, own in chosen.items()},
        {s.category: fault for s, _, fault in made if fault is not None},
        gone,
    )


def _taken(there: Iterable[Summary | Scenario]) -> dict[str, dict[str, list[int | None]]]:
    """Returns of each category and world the takeovers that there are.

    One that was mined from a failure takes its whole world: its steps are counted from another.
    """
    out: dict[str, dict[str, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for one in there:
        step = None if FAILED in one.tags else one.context_start + one.takeover
        out[one.category][one.world].append(step)
    return out
