"""Response profiles: how many continuations of a scenario each of some agents passes.

The continuations are those of `sts run` and the verdicts automatic labels, as of `sts label`. They
show a curator whether agents differ on a scenario.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sts import agents
from sts.agents import Agent
from sts.continuations.continuation import Continuation
from sts.continuations.takeover import continue_all, group_by_shape, is_deterministic
from sts.errors import ArgumentError, StsError
from sts.suites.suite import Scenario
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Category, Label, no_rule
from sts_scenarios.rules.validity import UNCHECKED, find_category

CONTINUATIONS, SEED = 10, 0
_BATCH_SIZE = 40
"""Number of scenarios that are continued in one batch."""


class PassCount(NamedTuple):
    """The number of an agent's continuations, and of those that are a success."""

    successes: int
    of: int

    def __str__(self) -> str:
        """Return both, as 3/10."""
        return f"{self.successes}/{self.of}"


class Profile(NamedTuple):
    """The automatic labels of a scenario's continuations by some agents."""

    scenario: str  # its hash
    labels: dict[str, tuple[Label, ...]]  # from continuation 0 on; one if it is deterministic

    @property
    def passed(self) -> dict[str, PassCount]:
        """Each agent's number of passed continuations."""
        return {
            name: PassCount(sum(label.verdict == "success" for label in labels), len(labels))
            for name, labels in self.labels.items()
        }

    @property
    def why_equal(self) -> str:
        """Why agents do not differ: all always pass, or none ever; "" if they do."""
        passed = self.passed.values()
        if passed and all(p.successes == p.of for p in passed):
            return "every agent passes every continuation"
        return "no agent passes" if passed and not any(p.successes for p in passed) else ""

    def __str__(self) -> str:
        """Return each agent's pass count, as "random 1/10, rule 9/10"."""
        return ", ".join(f"{name} {passed}" for name, passed in self.passed.items())


class ComputedProfile(NamedTuple):
    """A profile, and the first continuation of each agent by its name."""

    profile: Profile
    first_continuations: dict[str, Continuation]


def compute_profile(
    scenario: Scenario,
    names: Sequence[str] | None = None,
    continuations: int = CONTINUATIONS,
    *,
    own_categories: Iterable[Category] = (),
) -> Profile:
    """Compute the profile of a scenario; see `compute_profiles`."""
    (result,) = compute_profiles([scenario], names, continuations, own_categories=own_categories)
    return result.profile


def compute_profiles(
    scenarios: Sequence[Scenario],
    names: Sequence[str] | None = None,
    continuations: int = CONTINUATIONS,
    *,
    own_categories: Iterable[Category] = (),
) -> list[ComputedProfile]:
    """Compute the profile of each scenario, independently of the others and their order.

    Agents for other worlds are left out; None for `names` stands for those that the categories of a
    world list. A scenario is continued once if neither the agent nor its partner draws.

    Raises:
      StsError: a category has no rule here, or an agent or a rule failed.
      UnknownName: there is no such agent.
      ReplayMismatch: a scenario does not replay.
    """
    rules = categories.scenario_categories(scenarios, own_categories)
    by_hash = {s.hash: find_category(s, rules) for s in scenarios}
    labels: dict[str, dict[str, tuple[Label, ...]]] = {s.hash: {} for s in scenarios}
    first: dict[str, dict[str, Continuation]] = {s.hash: {} for s in scenarios}
    for group in group_by_shape(scenarios):
        for name, agent in load_players(group[0].recording.domain, names).items():
            size = 1 if ":" in name else _BATCH_SIZE  # a user's agent may depend on its batch
            count = 1 if is_deterministic(agent, group[0].partner) else continuations
            for batch in (group[at : at + size] for at in range(0, len(group), size)):
                results = continue_all(batch, agent, seed=SEED, indices=range(count))
                for n, scenario in enumerate(batch):
                    own_part = results[n * count : (n + 1) * count]
                    agent_labels = tuple(
                        _label(scenario, by_hash[scenario.hash], c) for c in own_part
                    )
                    labels[scenario.hash][agent.name] = agent_labels
                    first[scenario.hash][agent.name] = own_part[0]
    return [ComputedProfile(Profile(s.hash, labels[s.hash]), first[s.hash]) for s in scenarios]


def load_players(domain: str, names: Sequence[str] | None = None) -> dict[str, Agent]:
    """Return the agents that play the worlds of a domain, by the names they are given by.

    None for `names` stands for those that the categories of the domain list.
    """
    agent_names = (
        categories.collect_names(domain, "AGENTS") if names is None else dict.fromkeys(names)
    )
    loaded = {name: agents.load(name) for name in agent_names}
    players = {name: agent for name, agent in loaded.items() if agent.domain in ("", domain)}
    for name, n in Counter(agent.name for agent in players.values()).items():
        if n > 1:
            raise ArgumentError(f"expected agents of different names, found {n} called {name!r}")
    return players


def _label(scenario: Scenario, rule: Category | None, continuation: Continuation) -> Label:
    if rule is None or rule.label is no_rule:
        raise StsError(f"{scenario.id} is {UNCHECKED}")
    players, parameters = scenario.players, scenario.parameters
    return rule.label(continuation.episode, scenario.context, players, parameters)
