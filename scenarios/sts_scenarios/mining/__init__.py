"""Mining: from recorded trajectories to a draft, the same for the same seed.

One side is mined, train or test. What is chosen of each category's moments is said in `choice`;
what narrows them down, a filter, a miner of somebody's own, is a category whose `candidates` are
fewer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sts.jobs.pool import executor
from sts.trajectories.flat import Held
from sts.trajectories.types import Trajectory
from sts_scenarios.category import Category
from sts_scenarios.mining.choice import Offer, choose
from sts_scenarios.mining.choice import Pick as Pick
from sts_scenarios.mining.making import scenario as scenario
from sts_scenarios.mining.making import scenarios
from sts_scenarios.mining.making import states_at as states_at
from sts_scenarios.mining.survey import surveyed
from sts_scenarios.mining.terms import Gathered
from sts_scenarios.mining.terms import Mined as Mined
from sts_scenarios.mining.terms import Terms as Terms


def mine(
    trajectories: Iterable[Trajectory],
    categories: Sequence[Category],
    *,
    per_category: int | Mapping[str, int],
    **given: Any,
) -> Mined:
    """Return up to `per_category` scenarios of each category, no two of them near-duplicates.

    The categories themselves are asked at every moment, and no screen of theirs.

    What a category itself does not find fitting, as its partner may make it, is left out, and so
    are trajectories whose worlds cannot be had here. `per_category` is one number, or one for each
    category; a `seed` must be given, and what else is is as in `Terms`.

    Raises:
      ReplayMismatch: a trajectory that was chosen from does not replay.
    """
    terms = Terms(counted(categories, per_category), **given)
    return mine_held(trajectories, [replace(one, screen=None) for one in categories], terms)


def mine_held(
    trajectories: Iterable[Trajectory], categories: Sequence[Category], terms: Terms
) -> Mined:
    """Return what is mined of trajectories in memory; errors as of `mine`."""
    held = Held(tuple(one for one in trajectories if one.split == terms.side))
    with executor(1, 1) as here:
        return concluded(surveyed([held], lambda: categories, terms, here), categories, terms)


def counted(
    categories: Sequence[Category], per_category: int | Mapping[str, int]
) -> Mapping[str, int]:
    """Return how many of each category are wanted."""
    if isinstance(per_category, Mapping):
        return per_category
    return dict.fromkeys((category.name for category in categories), per_category)


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
