"""Moments told apart by who passes the scenarios that they would become: response profiles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sts.errors import ArgumentError
from sts.suites.types import Scenario
from sts_scenarios.category import Category
from sts_scenarios.mining.choice import Keep, Pick
from sts_scenarios.mining.making import scenario, worded
from sts_scenarios.profiles import Passed, Profile, playing, profile, profiles


def check(domains: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return the names of the agents that tell scenarios of some worlds apart.

    () for `names` stands for those that the categories of a world name.
    """
    every: dict[str, None] = {}
    for one in sorted(domains):
        own = playing(one, names or None)
        if not own:
            raise ArgumentError(
                f"nobody is named to tell scenarios of {one} apart: expected --agent NAME"
            )
        every |= dict.fromkeys(own)
    return list(every)


def profiled(category: Category, pick: Pick, names: Sequence[str]) -> Profile:
    """Return the profile of the scenario that a moment would become, in its first wording."""
    text = worded(category, pick, 0)
    one = scenario(category, pick, id=f"{category.name}-0", text=text, seed=0)
    return profile(one, names or None, own=[category])


def unlike(names: Sequence[str], categories: Iterable[Category], there: Iterable[Scenario]) -> Keep:
    """Return what keeps a moment whose profile no other of its category has that was kept.

    `there` are candidates that there are already; `names` are as in `check`.
    """
    kept: dict[str, list[dict[str, Passed]]] = defaultdict(list)
    own = {category.name: category for category in categories}
    same = [one for one in there if one.category in own]
    for one, made in zip(same, profiles(same, names or None, own=own.values()), strict=True):
        kept[one.category].append(made.profile.passed)

    def keep(category: Category, pick: Pick) -> bool:
        passed = profiled(category, pick, names).passed
        new = passed not in kept[category.name]
        if new:
            kept[category.name].append(passed)
        return new

    return keep
