"""The random agent: the lower bound on performance, in the worlds of every domain."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.domains.actions import ActionSpace, action_space
from sts.domains.protocol import Domain
from sts.errors import ArgumentError, StsError


class Random(Agent):
    """Acts uniformly at random, and never speaks.

    Named moves all weigh alike. Other actions are uniform between the bounds of the domain's
    `ActionSpace`, with one draw for each of their numbers.

    Source: Chmait et al. 2016, section 5.2.1, random agent.
    """

    name = "random"
    version = "1"
    _moves = 0
    _space: ActionSpace | None = None

    def play_in(self, domain: Domain) -> Self:
        """Return the agent for the worlds of `domain`, whose actions must have bounds."""
        space = action_space(domain)
        if not space.is_bounded:
            raise ArgumentError(
                f"agent {self.name!r} cannot play in {domain.name}: its actions {space.text()} "
                "have no bounds; choose an agent that chooses among them"
            )
        own = copy.copy(self)
        own._moves, own._space = len(domain.moves), space
        own.draws = 0 if domain.moves else space.low.size
        return own

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return equal weights, or actions of equal density."""
        if self._space is None:
            raise StsError(f"agent {self.name!r} does not know its world; see play_in")
        size = draws.shape[:2]
        if self._moves:
            return Choice(np.ones((*size, self._moves))), memory
        actions = self._space.interpolate(draws.reshape(*size, *self._space.shape))
        return Choice(actions, log_probs=np.full(size, -self._space.log_volume)), memory
