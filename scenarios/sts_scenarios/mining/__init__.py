"""Mining: from recorded trajectories to scenarios for a draft, reproducible by seed.

Only one split is mined, train or test. `choice` selects among the candidate steps of each category;
filters and custom miners are categories whose `candidates` yield fewer of them.
"""

from collections import Counter
from collections.abc import Sequence

from sts_scenarios.mining.building import make_scenario as make_scenario
from sts_scenarios.mining.building import make_scenarios
from sts_scenarios.mining.building import states_at as states_at
from sts_scenarios.mining.choice import Offer, select_steps
from sts_scenarios.mining.choice import Pick as Pick
from sts_scenarios.mining.survey import gather_candidates as gather_candidates
from sts_scenarios.mining.terms import GatheredSteps as GatheredSteps
from sts_scenarios.mining.terms import Mined as Mined
from sts_scenarios.mining.terms import MiningTerms as MiningTerms
from sts_scenarios.rules.category import Category


def make_mined(
    gathered: GatheredSteps, categories: Sequence[Category], terms: MiningTerms
) -> Mined:
    """Select among the gathered steps and make scenarios of them, without near-duplicates.

    Scenarios that are invalid for their category are left out, for instance because of its partner.

    Raises:
      ReplayMismatch: a selected trajectory does not replay.
    """
    pick_filter = terms.pick_filter

    def is_kept(category: Category, offer: Offer) -> bool:
        return pick_filter is None or pick_filter(category, gathered.picks([(category, offer)])[0])

    selections = select_steps(
        gathered.offered,
        categories,
        terms.taken,
        counts=terms.counts,
        per_world=terms.per_world,
        is_kept=is_kept,
    )
    picks = iter(
        gathered.picks([(c, offer) for c in categories for offer in selections[c.name].offers])
    )
    results = [
        (scenario, stratum, c.why_invalid(scenario))
        for c in categories
        for scenario, stratum in make_scenarios(
            c,
            [next(picks) for _ in selections[c.name].offers],
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
        {name: choice.passed_over for name, choice in selections.items()},
        {s.category: fault for s, _, fault in results if fault is not None},
        gathered.unavailable,
        gathered.sampled,
    )
