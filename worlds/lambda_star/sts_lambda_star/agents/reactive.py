"""Base class of the reactive agents, which decide from the observation of a single step."""

from abc import abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np

from sts.plugin import Agent, Draws, Instructions, Memory, PolicyOutput
from sts_lambda_star.agents.move_sets import to_weights
from sts_lambda_star.agents.team_sight import TeamSight, find_best
from sts_lambda_star.domain import Observation
from sts_lambda_star.kernels import Ints

_UNSEEN = np.empty(0, np.int16)


class Reactive(Agent):
    """Agent that decides by a rule on `TeamSight` and the teams' memory."""

    domain = "lambda-star"
    version = "1"
    reads: ClassVar[Literal["", "best", "neighbourhood"]] = ""
    """The rewards that its rule reads: none, the best in reach, or those of all cells in sight."""
    leaves_choice: ClassVar[bool] = False
    """True for an agent whose rule may allow several moves."""

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return equal weights over the moves that the rule allows, and the updated memory."""
        team = self.look(observation, draws)
        new_memory = {name: array.copy() for name, array in memory.items()}
        if not new_memory:
            new_memory = self.begin(observation.cell, observation.height, observation.width)
        self.decide(team, new_memory)
        return PolicyOutput(to_weights(team.sets.T)), new_memory

    def begin(self, cells: Ints, height: Ints, width: Ints) -> Memory:
        """Return the memory of B teams before the first step, on `cells`, int64[B, R]."""
        return self._initial_memory(cells, height, width)

    def decide(self, team: TeamSight, memory: Memory) -> None:
        """Write the moves that the rule allows to `team.sets`; update `memory` in place."""
        self._decide(team, memory)

    def look(self, seen: Observation, draws: Draws) -> TeamSight:
        """Return what the teams see, as the rule reads it, with sets still to be written."""
        rows = seen.cell // seen.width[:, None]
        columns = seen.cell - rows * seen.width[:, None]
        shape = seen.cell.shape[::-1]
        best, top = np.empty((2, *shape), np.int16)
        around = np.ascontiguousarray(seen.reward.transpose(1, 2, 0))
        if self.reads == "best":
            find_best(around, best, top)
        good_rows, good_columns, heading = _UNSEEN, _UNSEEN, _UNSEEN
        if seen.good_next is not None and seen.good_heading is not None:
            good_rows, good_columns = map(_to_shorts, divmod(seen.good_next, seen.width))
            heading = _to_shorts(seen.good_heading)
        return TeamSight(
            _to_shorts(seen.height),
            _to_shorts(seen.width),
            _to_shorts(rows),
            _to_shorts(columns),
            around,
            best,
            top,
            good_rows,
            good_columns,
            heading,
            np.ascontiguousarray(draws.reshape(shape[1], self.draws * shape[0]).T),
            np.empty(shape, np.int16),
        )

    def _initial_memory(self, cells: Ints, height: Ints, width: Ints) -> Memory:
        return {}

    @abstractmethod
    def _decide(self, team: TeamSight, memory: Memory) -> None:
        """Decide as `decide`."""


def _to_shorts(values: Any) -> Any:
    """Return int16[..., B] of values [B, ...]."""
    return np.ascontiguousarray(np.asarray(values, np.int16).T)
