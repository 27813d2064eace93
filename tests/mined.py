"""Mining of trajectories in memory, step by step."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sts.jobs.pool import create_pool
from sts.trajectories.batches import MemoryPart
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.mining import Mined, MiningTerms, gather_candidates, make_mined
from sts_scenarios.rules.category import Category


def mine(
    trajectories: Iterable[Trajectory],
    categories: Sequence[Category],
    *,
    per_category: int,
    **options: Any,
) -> Mined:
    """Return up to `per_category` scenarios of each category, found without its prefilter.

    `options` has a `seed`, and any other fields of `MiningTerms`.
    """
    terms = MiningTerms(dict.fromkeys((c.name for c in categories), per_category), **options)
    batch = MemoryPart(tuple(t for t in trajectories if t.split == terms.split))
    plain = [replace(c, prefilter=None) for c in categories]
    with create_pool(1, 1) as here:
        return make_mined(gather_candidates([batch], lambda: plain, terms, here), plain, terms)
