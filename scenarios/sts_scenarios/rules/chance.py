"""Pass rates of agents on a category, and of the best policy that ignores its observations."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sts.agents import Agent, PolicyOutput
from sts.agents.protocol import Draws, Instructions, Memory
from sts.continuations.takeover import continue_all, group_by_shape, is_deterministic
from sts.domains import Domain, load_domain
from sts.suites.suite import Scenario
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Category


class OpenLoopAgent(Agent):
    """A policy that draws uniformly from some moves and tokens, whatever it observes.

    A move or token that is listed twice is twice as likely.
    """

    name = "unseeing"
    version = "1"

    def __init__(self, domain: Domain, actions: Sequence[int], utterances: Sequence[int]) -> None:
        """Take the indices of moves and tokens."""
        self._moves = np.bincount(actions, minlength=len(domain.action_names)).astype(np.float64)
        self._says = np.bincount(utterances, minlength=len(domain.tokens)).astype(np.float64)
        self.deterministic = len(actions) == len(utterances) == 1  # type: ignore[misc]

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the same weights in every situation."""
        shape = draws.shape[:2]
        actions = np.broadcast_to(self._moves, (*shape, len(self._moves)))
        return PolicyOutput(actions, np.broadcast_to(self._says, (*shape, len(self._says)))), memory


def compute_pass_rate(
    category: Category, scenarios: Sequence[Scenario], agent: Agent, *, continuations: int
) -> float:
    """Return the share of an agent's continuations that the category's label calls a success.

    A pair counts as passed if both halves are. Each scenario, at least one, is continued
    `continuations` times, or once if neither the agent nor its partner draws.
    """
    units: dict[str, list[list[bool]]] = defaultdict(list)
    for group in group_by_shape(scenarios):
        count = 1 if is_deterministic(agent, group[0].partner) else continuations
        continued = continue_all(group, agent, seed=0, indices=range(count))
        for n, scenario in enumerate(group):
            labels = (
                category.label(c.episode, c.takeover, c.players, scenario.parameters)
                for c in continued[n * count : (n + 1) * count]
            )
            unit = f"pair {scenario.pair}" if scenario.pair else scenario.id
            units[unit].append([label.verdict == "success" for label in labels])
    rates = [np.all(halves, axis=0).mean() for halves in units.values()]
    return float(np.mean(rates))


def compute_open_loop_pass_rate(
    category: Category, scenarios: Sequence[Scenario], *, continuations: int
) -> float:
    """Return the pass rate of the best open-loop policy over scenarios of one category.

    Open-loop policies repeat one move, or draw from all moves or from one of the mixes that the
    world's categories name; on a question they say one token. The rate is 0 if there are no
    scenarios, or moves and tokens have no names. Each scenario is continued `continuations` times
    by policies that draw.
    """
    if not scenarios:
        return 0.0
    rates = (
        compute_pass_rate(category, scenarios, policy, continuations=continuations)
        for policy in _open_loop_policies(category)
    )
    return max(rates, default=0.0)


def _open_loop_policies(category: Category) -> Iterator[OpenLoopAgent]:
    domain = load_domain(category.domain)
    actions = range(len(domain.action_names))
    if not actions or not domain.tokens:
        return
    if category.kind == "question":
        stay = [int(domain.noop)]
        yield from (OpenLoopAgent(domain, stay, [token]) for token in range(1, len(domain.tokens)))
        return
    yield from (OpenLoopAgent(domain, [move], [0]) for move in actions)
    yield OpenLoopAgent(domain, actions, [0])
    for mix in categories.collect_names(category.domain, "MIXES"):
        yield OpenLoopAgent(domain, [domain.action_names.index(move) for move in mix.split()], [0])
