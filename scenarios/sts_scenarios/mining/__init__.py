"""Mining: from recorded trajectories to scenarios for a draft, reproducible by seed.

Only one split is mined, train or test. `choice` selects among the candidate steps of each category;
filters and custom miners are categories whose `candidates` yield fewer of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sts.jobs.pool import executor
from sts.trajectories.flat import TrajectoryList
from sts.trajectories.types import Trajectory
from sts_scenarios.category import Category
from sts_scenarios.mining.choice import Offer, select_steps
from sts_scenarios.mining.choice import Pick as Pick
from sts_scenarios.mining.making import make_scenario as make_scenario
from sts_scenarios.mining.making import make_scenarios
from sts_scenarios.mining.making import states_at as states_at
from sts_scenarios.mining.survey import gather
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
    """Return up to `per_category` scenarios of each category, without near-duplicates.

    Every step is checked by the categories themselves; their prefilters (`Category.screen`) are not
    used. Scenarios that do not pass their category's validity check are left out, for instance
    because of its partner, and so are trajectories whose worlds are unavailable here.

    Args:
      trajectories: to mine.
      categories: to mine for.
      per_category: one number, or one for each category.
      **given: a `seed`, and any other fields of `Terms`.

    Raises:
      ReplayMismatch: a selected trajectory does not replay.
    """
    terms = Terms(wanted_counts(categories, per_category), **given)
    return mine_list(
        trajectories, [replace(category, screen=None) for category in categories], terms
    )


def mine_list(
    trajectories: Iterable[Trajectory], categories: Sequence[Category], terms: Terms
) -> Mined:
    """Mine trajectories in memory; errors as of `mine`."""
    held = TrajectoryList(tuple(t for t in trajectories if t.split == terms.side))
    with executor(1, 1) as here:
        return make_mined(gather([held], lambda: categories, terms, here), categories, terms)


def wanted_counts(
    categories: Sequence[Category], per_category: int | Mapping[str, int]
) -> Mapping[str, int]:
    """Return the wanted number of scenarios of each category."""
    if isinstance(per_category, Mapping):
        return per_category
    return dict.fromkeys((category.name for category in categories), per_category)


def make_mined(gathered: Gathered, categories: Sequence[Category], terms: Terms) -> Mined:
    """Select among the gathered steps and make scenarios of them; errors as of `mine`."""
    keep = terms.keep

    def kept(category: Category, offer: Offer) -> bool:
        return keep is None or keep(category, gathered.picks([(category, offer)])[0])

    chosen = select_steps(
        gathered.offered,
        categories,
        terms.taken,
        counts=terms.counts,
        per_world=terms.per_world,
        keep=kept,
    )
    picks = iter(
        gathered.picks([(c, offer) for c in categories for offer in chosen[c.name].offers])
    )
    results = [
        (made.scenario, made.stratum, c.fits(made.scenario))
        for c in categories
        for made in make_scenarios(
            c,
            [next(picks) for _ in chosen[c.name].offers],
            terms.seed,
            terms.last.get(c.name, 0),
            terms.rule,
        )
    ]
    fitting = Counter((s.category, stratum) for s, stratum, fault in results if fault is None)
    return Mined(
        tuple(s for s, _, fault in results if fault is None),
        {name: offered.counts.total() for name, offered in gathered.offered.items()},
        {name: offered.worlds for name, offered in gathered.offered.items()},
        {
            name: {s: (n, fitting[name, s]) for s, n in sorted(offered.counts.items())}
            for name, offered in gathered.offered.items()
        },
        {name: choice.passed_over for name, choice in chosen.items()},
        {s.category: fault for s, _, fault in results if fault is not None},
        gathered.unavailable,
        gathered.sampled,
    )
