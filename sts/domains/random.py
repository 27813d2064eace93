"""The random agent, a lower bound on performance in every domain."""

import copy
from typing import Any, Self

import numpy as np

from sts.agents.protocol import Agent, Draws, Instructions, Memory, PolicyOutput
from sts.domains.actions import ActionSpace, action_space
from sts.domains.protocol import Domain
from sts.errors import ArgumentError, StsError


class Random(Agent):
    """Agent that acts uniformly at random and never speaks.

    It samples uniformly from the named moves, or between the bounds of the domain's `ActionSpace`.

    Source: Chmait et al. 2016, section 5.2.1, random agent.
    """

    name = "random"
    version = "1"
    _moves = 0
    _space: ActionSpace | None = None

    def bind_domain(self, domain: Domain) -> Self:
        """Return a copy of the agent for `domain`.

        Raises:
          ArgumentError: its actions are unbounded.
        """
        space = action_space(domain)
        if not space.is_bounded:
            raise ArgumentError(
                f"agent {self.name!r} cannot play in {domain.name}: its actions {space.describe()} "
                "are unbounded; choose another agent"
            )
        bound = copy.copy(self)
        bound._moves, bound._space = len(domain.action_names), space
        bound.draws = 0 if domain.action_names else space.low.size
        return bound

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return equal weights, or actions drawn with uniform density."""
        if self._space is None:
            raise StsError(f"agent {self.name!r} is not bound to a domain; call bind_domain first")
        size = draws.shape[:2]
        if self._moves:
            return PolicyOutput(np.ones((*size, self._moves))), memory
        actions = self._space.interpolate(draws.reshape(*size, *self._space.shape))
        return PolicyOutput(actions, log_probs=np.full(size, -self._space.log_volume)), memory
