"""What agents pass of a category by its rule, and the best policy that looks at nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sts.agents import Agent, Choice
from sts.agents.protocol import Draws, Instructions, Memory
from sts.continuations.takeover import always_alike, by_shape, continue_all
from sts.domains import Domain, domain
from sts.suites.types import Scenario
from sts_scenarios import categories
from sts_scenarios.category import Category


class Unseeing(Agent):
    """Makes each of some moves and says each of some tokens equally often, whatever it sees.

    What is named twice it does twice as often.
    """

    name = "unseeing"
    version = "1"

    def __init__(self, world: Domain, moves: Sequence[int], says: Sequence[int]) -> None:
        """Take the indices of moves and tokens."""
        self._moves = np.bincount(moves, minlength=len(world.moves)).astype(np.float64)
        self._says = np.bincount(says, minlength=len(world.tokens)).astype(np.float64)
        self.deterministic = len(moves) == len(says) == 1  # type: ignore[misc]

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return the same weights for all."""
        shape = draws.shape[:2]
        moves = np.broadcast_to(self._moves, (*shape, len(self._moves)))
        return Choice(moves, np.broadcast_to(self._says, (*shape, len(self._says)))), memory


def pass_rate(
    category: Category,
    scenarios: Sequence[Scenario],
    agent: Agent,
    *,
    continuations: int,
    seed: int = 0,
) -> float:
    """Return the share of an agent's continuations that a category's rule calls a success.

    Of a pair, only an agent that does both halves passes. Each scenario, at least one, is continued
    `continuations` times, or once if neither the agent nor its partner draws.
    """
    units: dict[str, list[list[bool]]] = defaultdict(list)
    for group in by_shape(scenarios):
        count = 1 if always_alike(agent, group[0].partner) else continuations
        made = continue_all(group, agent, seed=seed, indices=range(count))
        for n, one in enumerate(group):
            own = made[n * count : (n + 1) * count]
            units[f"pair {one.pair}" if one.pair else one.id].append(
                [
                    category.label(c.episode, c.takeover, c.roles, one.parameters).verdict
                    == "success"
                    for c in own
                ]
            )
    rates = [np.all(halves, axis=0).mean() for halves in units.values()]
    return float(np.mean(rates))


def open_loop(
    category: Category, scenarios: Sequence[Scenario], *, continuations: int, seed: int = 0
) -> float:
    """Return the pass rate of the best policy without eyes over scenarios of one category.

    The policies make one move for ever, or all of them equally often, or those of one of the mixes
    that the world's categories name; of a question they say one token. 0 where there are no
    scenarios, or moves and tokens have no names. A policy that draws
    continues each scenario `continuations` times.
    """
    if not scenarios:
        return 0.0
    rates = (
        pass_rate(category, scenarios, policy, continuations=continuations, seed=seed)
        for policy in _policies(category)
    )
    return max(rates, default=0.0)


def _policies(category: Category) -> Iterator[Unseeing]:
    world = domain(category.domain)
    moves = range(len(world.moves))
    if not moves or not world.tokens:
        return
    if category.kind == "question":
        stay = [int(world.noop)]
        yield from (Unseeing(world, stay, [token]) for token in range(1, len(world.tokens)))
        return
    yield from (Unseeing(world, [move], [0]) for move in moves)
    yield Unseeing(world, moves, [0])
    for mix in categories.mixes(category.domain):
        yield Unseeing(world, [world.moves.index(move) for move in mix], [0])
