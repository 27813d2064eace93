"""What can be had of a category without eyes: the best policy that looks at nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from scenarios.category import Category
from sts.agents import Agent, Choice
from sts.agents.protocol import Draws, Instructions, Memory
from sts.continuations.takeover import by_shape, continue_all
from sts.domains import Domain, domain
from sts.suites.types import Scenario


class Unseeing(Agent):
    """Makes each of some moves and says each of some tokens equally often, whatever it sees."""

    name = "unseeing"

    def __init__(self, world: Domain, moves: Sequence[int], says: Sequence[int]) -> None:
        """Takes the indices of moves and tokens."""
        self._moves = np.isin(np.arange(len(world.moves)), moves).astype(np.float64)
        self._says = np.isin(np.arange(len(world.tokens)), says).astype(np.float64)
        self.moves, self.says = tuple(moves), tuple(says)

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Returns the same weights for all."""
        shape = draws.shape[:2]
        moves = np.broadcast_to(self._moves, (*shape, len(self._moves)))
        return Choice(moves, np.broadcast_to(self._says, (*shape, len(self._says)))), memory


def open_loop(
    category: Category, scenarios: Sequence[Scenario], *, continuations: int, seed: int = 0
) -> float:
    """Returns the pass rate of the best policy without eyes over scenarios of one category.

    The policies make one move for ever, or all of them equally often; of a question they say one
    token. 0 where there are no scenarios, or moves and tokens have no names.

    Args:
      category: whose rule says what passes.
      scenarios: of it.
      continuations: of a policy that draws, of each scenario.
      seed: of its draws.
    """
    if not scenarios:
        return 0.0
    passed = []
    for policy in _policies(category):
        indices = range(continuations if len(policy.moves) > 1 else 1)
        verdicts = [
            category.label(one.episode, one.takeover, one.roles, scenario.parameters).verdict
            for group in by_shape(scenarios)
            for scenario, one in zip(
                (s for s in group for _ in indices),
                continue_all(group, policy, seed=seed, indices=indices),
                strict=True,
            )
        ]
        passed.append(verdicts.count("success") / len(verdicts))
    return max(passed, default=0.0)


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
