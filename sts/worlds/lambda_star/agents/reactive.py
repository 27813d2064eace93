"""What the reactive behaviours share: a rule on what their teams see at one step."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.worlds.lambda_star.agents.sets import weights
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.kernels import Ints


class Teams(NamedTuple):
    """What B teams of R roles see at a step, M cells each.

    Attributes:
      around: int8[B, R, M], rewards in halves.
      cell: int64[B, R].
      height: int64[B, 1], the grids' rows.
      width: int64[B, 1], their columns.
      good_next: int64[B, 1], the cell that Good intends next; of rules that see the world.
      heading: int64[B, 1], the one move that Good repeats for ever, -1 where it does not; likewise.
      draws: float64[B, R], each role's planning draw; of rules that plan with chance.
    """

    around: NDArray[np.int8]
    cell: Ints
    height: Ints
    width: Ints
    good_next: Ints
    heading: Ints
    draws: NDArray[np.float64]


class Reactive(Agent):
    """An agent that decides by a rule on `Teams` and on what the teams remember."""

    domain = "lambda-star"
    version = "1"

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return equal weights over the moves that the rule leaves, and what it remembers."""
        o, batch = observation, len(observation.cell)
        unseen = np.empty(0, np.int64)
        teams = Teams(
            o.reward,
            o.cell,
            o.height[:, None],
            o.width[:, None],
            (unseen if o.good_next is None else o.good_next)[:, None],
            (unseen if o.good_heading is None else o.good_heading)[:, None],
            draws.reshape(batch, self.draws * o.cell.shape[1]),
        )
        kept = {name: array.copy() for name, array in memory.items()} or self._start(o)
        return Choice(weights(self._decide(teams, kept))), kept

    def _start(self, seen: Observation) -> Memory:
        """Return what is remembered before the first step."""
        return {}

    @abstractmethod
    def _decide(self, teams: Teams, kept: Memory) -> Ints:
        """Return int64[B, R], the sets of moves; writes to `kept` what is to be remembered."""
