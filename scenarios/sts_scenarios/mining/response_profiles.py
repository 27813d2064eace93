"""Filtering of candidate steps by response profile: the pass counts of a set of agents."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sts.errors import ArgumentError
from sts.suites.suite import Scenario
from sts_scenarios.mining.building import fill_template, make_scenario
from sts_scenarios.mining.choice import Pick, PickFilter
from sts_scenarios.rules.category import Category
from sts_scenarios.rules.profiles import (
    PassCount,
    Profile,
    compute_profile,
    compute_profiles,
    load_players,
)
from sts_scenarios.rules.validity import is_checked


def list_profiled_agents(domains: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return the names of the agents whose response profiles are used for some domains.

    An empty `names` stands for those that the categories of a world list.
    """
    agents: dict[str, None] = {}
    for domain in sorted(domains):
        players = load_players(domain, names or None)
        if not players:
            raise ArgumentError(
                f"the categories of {domain} list no agents for response profiles; add --agent NAME"
            )
        agents |= dict.fromkeys(players)
    return list(agents)


def profile_pick(category: Category, pick: Pick, names: Sequence[str]) -> Profile:
    """Return the response profile of the scenario of a step, with the first template."""
    text = fill_template(category, pick, 0)
    candidate = make_scenario(category, pick, id=f"{category.name}-0", text=text, seed=0)
    return compute_profile(candidate, names or None, own_categories=[category])


def make_distinct_filter(
    names: Sequence[str], categories: Iterable[Category], draft_candidates: Iterable[Scenario]
) -> PickFilter:
    """Return a filter that keeps steps whose response profile is new in their category.

    `draft_candidates` count as kept; `names` are as in `list_profiled_agents`.
    """
    passed_by_category: dict[str, list[dict[str, PassCount]]] = defaultdict(list)
    by_name = {category.name: category for category in categories}
    existing = [s for s in draft_candidates if is_checked(s, by_name)]
    results = compute_profiles(existing, names or None, own_categories=by_name.values())
    for candidate, result in zip(existing, results, strict=True):
        passed_by_category[candidate.category].append(result.profile.passed)

    def keep(category: Category, pick: Pick) -> bool:
        passed = profile_pick(category, pick, names).passed
        is_new = passed not in passed_by_category[category.name]
        if is_new:
            passed_by_category[category.name].append(passed)
        return is_new

    return keep
