"""Dictatorship: the whole team goes where its first role wants to go."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.numerics.compiled import lean
from sts.worlds.lambda_star.agents.sets import best, nth, once, toward, weights
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.kernels import moved


@lean
def rule(
    around: NDArray[np.int8],
    cell: NDArray[np.int64],
    height: int,
    width: int,
    draws: NDArray[np.float64],
    sets: NDArray[np.int64],
) -> None:
    """Writes each role's one move to `sets`, int64[R].

    Args:
      around: int8[R, M], rewards in halves; the first role's are looked at.
      cell: int64[R].
      height: the grid's rows.
      width: its columns.
      draws: float64[R]; the first picks among the first role's best cells.
      sets: int64[R], written.
    """
    target = moved(cell[0], nth(best(around[0]), draws[0]), height, width)
    for r in range(cell.size):
        sets[r] = once(toward(cell[r], target, height, width))


@lean
def _teams(
    around: NDArray[np.int8],
    cell: NDArray[np.int64],
    height: NDArray[np.int64],
    width: NDArray[np.int64],
    draws: NDArray[np.float64],
    sets: NDArray[np.int64],
) -> None:
    for b in range(sets.shape[0]):
        rule(around[b], cell[b], height[b], width[b], draws[b], sets[b])


class Dictatorship(Agent):
    """Makes for the cell that the team's first role has chosen.

    At every step the first role chooses a cell of the highest reward among the nine it can reach,
    drawn among equals, and every role, the first too, takes a shortest way there. So the first role
    is a local search agent.

    The rule is the published program's (lambdastar_2016.md section 7,
    DictatorshipLocalSearchAgent.cpp:15); the paper has none.
    """

    name = "dictatorship"
    domain = "lambda-star"
    draws = 1

    def act(
        self,
        observation: Observation,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns all weight on the way to the first role's target."""
        o = observation
        sets = np.empty(o.cell.shape, np.int64)
        _teams(o.reward, o.cell, o.height, o.width, draws[..., 0], sets)
        return Choice(weights(sets)), memory
