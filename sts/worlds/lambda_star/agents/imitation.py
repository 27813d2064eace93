"""Imitation: local search that follows a guide who knows where Good goes."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Memory
from sts.errors import ArgumentError
from sts.numerics.compiled import lean
from sts.worlds.lambda_star.agents.reactive import Reactive, Teams
from sts.worlds.lambda_star.agents.sets import best
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.torus import moved, offset, step, toward

GUIDES = ("each-step", "each-role")


@lean
def rule(teams: Teams, hasty: bool, guide: NDArray[np.int64]) -> None:
    """Moves the teams' guides, and decides.

    Args:
      teams: see the world.
      hasty: whether a guide moves anew before each role, not once for all.
      guide: int64[B, 1], its cell, written; where the team's last role stands at the start.
    """
    for b in range(len(teams.sets)):
        cell, height, width = teams.cell[b], teams.height[b], teams.width[b]
        for r in range(cell.size):
            if hasty or r == 0:
                move = toward(guide[b, 0], teams.good_next[b], height, width)
                guide[b, 0] = moved(guide[b, 0], move, height, width)
            way = offset(cell[r], guide[b, 0], height, width)
            if abs(way.rows) <= 1 and abs(way.columns) <= 1:
                teams.sets[b, r] = 1 << step(way)
            else:
                teams.sets[b, r] = best(teams.around[b, r])


class Imitation(Reactive):
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
    sees = "world"

    def __init__(self, guide: Literal["each-step", "each-role"] = "each-step") -> None:
        """Takes how often the guide moves.

        Raises:
          ArgumentError: `guide` is not one of `GUIDES`.
        """
        if guide not in GUIDES:
            raise ArgumentError(f"expected a guide {' or '.join(GUIDES)}, found {guide!r}")
        self.guide = guide

    def _start(self, seen: Observation) -> Memory:
        return {"guide": seen.cell[:, -1:].copy()}

    def _decide(self, teams: Teams, kept: Memory) -> None:
        rule(teams, self.guide == "each-role", kept["guide"])
