"""`--discriminating-share`: selection of some scenarios because agents differ on them.

An agent that helps to select a suite influences its own result on it. Therefore the criterion is
coarse and never a ranking, only the agents that the categories of a world list as `CURATION` count,
and most scenarios are selected without any agent.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sts.errors import ArgumentError
from sts.suites.suite import Scenario
from sts_scenarios.mining.choice import Pick, PickFilter
from sts_scenarios.mining.response_profiles import profile_pick
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Category
from sts_scenarios.rules.profiles import Profile

MAX_SHARE = 0.5
"""Maximum share of a category's scenarios that are selected by effect."""
_KEPT_WHERE = (
    "not every agent passes every continuation, and some reader passes at least half of its own"
)


def check_domains(domains: Iterable[str]) -> None:
    """Raise ArgumentError if `--discriminating-share` has no agents in a domain."""
    for domain in domains:
        if not _readers(domain):
            raise ArgumentError(
                f"--discriminating-share: the categories of {domain} list no agents to select "
                "scenarios with"
            )


def _readers(domain: str) -> tuple[str, ...]:
    """Return the agents of `--discriminating-share` that follow instructions."""
    return tuple(
        n
        for n in categories.collect_names(domain, "CURATION")
        if n in categories.collect_names(domain, "READERS")
    )


def is_discriminating(profile: Profile, readers: Iterable[str]) -> bool:
    """Return True if not all agents always pass, and some reader passes at least half the time."""
    passed = profile.passed
    able = any(2 * passed[name].successes >= passed[name].of for name in readers)
    return able and not profile.why_equal


class ByEffect:
    """A filter that applies `is_discriminating` to the last scenarios of each category only."""

    def __init__(self, share: float, per_category: int, pick_filter: PickFilter | None) -> None:
        """Take the number of scenarios of a category, and an additional filter."""
        self.share = share  # of a category's scenarios, by effect
        self._pick_filter = pick_filter
        self._at_random = per_category - int(share * per_category + 1e-9)
        self._kept: Counter[str] = Counter()
        self._selected: set[tuple[str, str, int, int]] = set()

    def __call__(self, category: Category, pick: Pick) -> bool:
        """Return True to keep the step that is selected next."""
        by_effect = self._kept[category.name] >= self._at_random
        if by_effect:
            profile = profile_pick(
                category, pick, categories.collect_names(category.domain, "CURATION")
            )
            if not is_discriminating(profile, _readers(category.domain)):
                return False
        if self._pick_filter is not None and not self._pick_filter(category, pick):
            return False
        self._kept[category.name] += 1
        if by_effect:
            candidate = pick.candidate
            key = (category.name, pick.trajectory.id, candidate.step, candidate.player)
            self._selected.add(key)
        return True

    def add_provenance(self, scenario: Scenario) -> Scenario:
        """Return the scenario, with a note in its provenance if it was selected by effect."""
        key = (scenario.category, scenario.trajectory, scenario.step, scenario.players[0])
        if key not in self._selected:
            return scenario
        effect = effect_provenance(scenario.recording.domain, self.share)
        rule = scenario.provenance.get("chosen_by", {}) | effect
        return replace(scenario, provenance=scenario.provenance | {"chosen_by": rule})


def effect_provenance(domain: str, share: float) -> dict[str, Any]:
    """Return the provenance of scenarios of a domain that are selected by effect."""
    agents = [*categories.collect_names(domain, "CURATION")]
    return {"effect_share": share, "agents": agents, "kept_where": _KEPT_WHERE}
