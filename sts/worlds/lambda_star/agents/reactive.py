"""What the reactive behaviours share: a compiled rule on what their teams see at one step."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.worlds.lambda_star.agents.sets import weights
from sts.worlds.lambda_star.domain import Observation


class Teams(NamedTuple):
    """What B teams of R roles see at a step, M cells each, and what they decide.

    Attributes:
      around: int8[B, R, M], rewards in halves.
      cell: int64[B, R].
      height: int64[B], the grids' rows.
      width: int64[B], their columns.
      good_next: int64[B], the cell that Good intends next; of rules that see the world.
      heading: int64[B], the one move that Good repeats for ever, -1 where it does not; likewise.
      draws: float64[B, R], each role's planning draw; of rules that plan with chance.
      sets: int64[B, R], the moves that each role chooses from, which the rule writes.
    """

    around: NDArray[np.int8]
    cell: NDArray[np.int64]
    height: NDArray[np.int64]
    width: NDArray[np.int64]
    good_next: NDArray[np.int64]
    heading: NDArray[np.int64]
    draws: NDArray[np.float64]
    sets: NDArray[np.int64]


class Reactive(Agent):
    """An agent that decides by a compiled rule on `Teams` and on what the teams remember."""

    domain = "lambda-star"
    version = "1"

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Returns equal weights over the moves that the rule leaves, and what it remembers."""
        o, batch = observation, len(observation.cell)
        unseen = np.empty(0, np.int64)
        teams = Teams(
            o.reward,
            o.cell,
            o.height,
            o.width,
            unseen if o.good_next is None else o.good_next,
            unseen if o.good_heading is None else o.good_heading,
            draws.reshape(batch, self.draws * o.cell.shape[1]),
            np.empty(o.cell.shape, np.int64),
        )
        kept = {name: array.copy() for name, array in memory.items()} or self._start(o)
        self._decide(teams, kept)
        return Choice(weights(teams.sets)), kept

    def _start(self, seen: Observation) -> Memory:
        """Returns what is remembered before the first step."""
        return {}

    @abstractmethod
    def _decide(self, teams: Teams, kept: Memory) -> None:
        """Writes the sets of moves to `teams.sets`, and to `kept` what is to be remembered."""
