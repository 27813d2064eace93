"""`--by-effect`: some scenarios of a category are chosen by whom they tell apart.

An agent that has helped to choose a suite has a part in what the suite says of it. So the criterion
is coarse, never a ranking; only some of the agents have a say, those of the families that the
categories of a world name as `CURATION`; and most scenarios are chosen without any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sts.errors import ArgumentError
from sts.suites.types import Scenario
from sts_scenarios import categories
from sts_scenarios.category import Category
from sts_scenarios.mining.choice import Keep, Pick
from sts_scenarios.mining.telling import profiled
from sts_scenarios.profiles import Profile

MOST = 0.5
"""Of a category's scenarios, by effect."""
_KEPT_WHERE = (
    "not every agent passes every continuation, and some reader passes at least half of its own"
)


def check(domains: Iterable[str]) -> None:
    """Raise ArgumentError where a domain does not name who has a say, readers among them."""
    for one in domains:
        if not _readers(one):
            raise ArgumentError(
                f"--by-effect: the categories of {one} name no agents by whom scenarios are chosen"
            )


def _readers(domain: str) -> tuple[str, ...]:
    """Return who of those that have a say reads what is asked."""
    return tuple(n for n in categories.curation(domain) if n in categories.readers(domain))


def tells(profile: Profile, readers: Iterable[str]) -> bool:
    """Return whether a scenario is neither passed by all nor out of reach of every reader."""
    passed = profile.passed
    able = any(2 * passed[name].successes >= passed[name].of for name in readers)
    return able and not profile.flat


class ByEffect:
    """Keeps the last moments of each category only where `tells` says so, the others as they come.

    Attributes:
      share: of a category's scenarios.
    """

    def __init__(self, share: float, per_category: int, keep: Keep | None) -> None:
        """Take how many scenarios each category is to have, and what else keeps a moment."""
        self.share, self._keep = share, keep
        self._at_random = per_category - int(share * per_category + 1e-9)
        self._kept: Counter[str] = Counter()
        self._told: set[tuple[str, str, int, int]] = set()

    def __call__(self, category: Category, pick: Pick) -> bool:
        """Return whether to keep a moment that is to be chosen next."""
        by_effect = self._kept[category.name] >= self._at_random
        if by_effect:
            made = profiled(category, pick, categories.curation(category.domain))
            if not tells(made, _readers(category.domain)):
                return False
        if self._keep is not None and not self._keep(category, pick):
            return False
        self._kept[category.name] += 1
        if by_effect:
            one = pick.candidate
            self._told.add((category.name, pick.trajectory.id, one.moment, one.role))
        return True

    def marked(self, one: Scenario) -> Scenario:
        """Return a scenario whose provenance says so if it was chosen by effect."""
        moment = one.context_start + one.takeover
        if (one.category, one.trajectory, moment, one.roles[0]) not in self._told:
            return one
        rule = one.provenance.get("chosen_by", {}) | rule_of(one.recording.domain, self.share)
        return replace(one, provenance=one.provenance | {"chosen_by": rule})


def rule_of(domain: str, share: float) -> dict[str, Any]:
    """Return what provenance says of how scenarios of a domain were chosen by effect."""
    agents = [*categories.curation(domain)]
    return {"effect_share": share, "agents": agents, "kept_where": _KEPT_WHERE}
