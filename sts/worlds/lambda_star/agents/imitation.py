"""Imitation: local search that follows a guide who knows where Good goes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.errors import ArgumentError
from sts.numerics.compiled import lean
from sts.worlds.lambda_star.agents.sets import best, once, toward, way, weights
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.kernels import moved

GUIDES = ("each-step", "each-role")
UNPLACED = -1


@lean
def rule(
    around: NDArray[np.int8],
    cell: NDArray[np.int64],
    height: int,
    width: int,
    good_next: int,
    hasty: bool,
    guide: NDArray[np.int64],
    sets: NDArray[np.int64],
) -> None:
    """Moves one team's guide, and writes each role's moves to `sets`, int64[R].

    Args:
      around: int8[R, M], rewards in halves.
      cell: int64[R].
      height: the grid's rows.
      width: its columns.
      good_next: the cell that Good intends next.
      hasty: whether the guide moves anew before each role, not once for all.
      guide: int64[1], its cell, written; `UNPLACED` before the first step.
      sets: int64[R], written.
    """
    if guide[0] == UNPLACED:
        guide[0] = cell[cell.size - 1]
    for r in range(cell.size):
        if hasty or r == 0:
            step = toward(guide[0], good_next, height, width)
            guide[0] = moved(guide[0], step, height, width)
        rows = way(cell[r] // width, guide[0] // width, height)
        columns = way(cell[r] % width, guide[0] % width, width)
        if -1 <= rows <= 1 and -1 <= columns <= 1:
            sets[r] = once(3 * (rows + 1) + columns + 1)
        else:
            sets[r] = best(around[r])


@lean
def _teams(
    around: NDArray[np.int8],
    cell: NDArray[np.int64],
    height: NDArray[np.int64],
    width: NDArray[np.int64],
    good_next: NDArray[np.int64],
    hasty: bool,
    guide: NDArray[np.int64],
    sets: NDArray[np.int64],
) -> None:
    for b in range(sets.shape[0]):
        rule(around[b], cell[b], height[b], width[b], good_next[b], hasty, guide[b], sets[b])


class Imitation(Agent):
    """Steps onto the guide's cell where a move can reach it; else it is a local search agent.

    The guide is one more oracle, which nobody sees but the team: it starts where the team's last
    role stands (lambdastar_2016.md section 2, main.cpp:515) and at every step, before the roles
    decide, moves once by a shortest way toward the cell that Good intends next. So a role that has
    found it keeps with it.

    The rule is the published program's (lambdastar_2016.md section 7,
    imitativeLocalSearchAgent.cpp:15); the paper has none. `Imitation(guide="each-role")` follows it
    in this too: there the guide moves once before each role decides, so as many steps at once as
    the team has roles (main.cpp:383).
    """

    name = "imitation"
    domain = "lambda-star"
    sees = "world"

    def __init__(self, guide: Literal["each-step", "each-role"] = "each-step") -> None:
        """Takes how often the guide moves.

        Raises:
          ArgumentError: `guide` is not one of `GUIDES`.
        """
        if guide not in GUIDES:
            raise ArgumentError(f"expected a guide {' or '.join(GUIDES)}, found {guide!r}")
        self.guide = guide

    def begin(self, batch: int, roles: int) -> dict[str, NDArray[Any]]:
        """Returns the memory of a guide not placed yet: int64[B, 1], its cell."""
        return {"guide": np.full((batch, 1), UNPLACED, np.int64)}

    def act(
        self,
        observation: Observation,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns all weight on the guide's cell or equal weights on the best, and the guide."""
        o, guide = observation, memory["guide"].copy()
        assert o.good_next is not None
        sets = np.empty(o.cell.shape, np.int64)
        hasty = self.guide == "each-role"
        _teams(o.reward, o.cell, o.height, o.width, o.good_next, hasty, guide, sets)
        return Choice(weights(sets)), {"guide": guide}
