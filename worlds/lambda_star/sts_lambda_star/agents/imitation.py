"""Imitation agent: local search that follows a guide which knows Good's next cell."""

from typing import Literal

import numpy as np

from sts.plugin import ArgumentError, Memory
from sts_lambda_star.agents.move_sets import best_moves, crop_reachable
from sts_lambda_star.agents.reactive import Reactive, TeamObservation
from sts_lambda_star.domain import Observation
from sts_lambda_star.kernels import Ints
from sts_lambda_star.torus import first_move, move_cell, offset_to_move, shortest_offset

GUIDE_KINDS = ("each-step", "each-role")


class Imitation(Reactive):
    """Agent that steps onto the guide's cell if one move reaches it, else does local search.

    The guide is an additional oracle that only the team sees: it starts on the cell of the team's
    last role (lambdastar_2016.md section 2, main.cpp:515) and at every step, before the roles
    decide, moves once by a shortest path toward the cell that Good intends next. So a role that has
    found it stays with it.

    The rule is the published program's (lambdastar_2016.md section 7,
    imitativeLocalSearchAgent.cpp:15); it is not in the paper. `Imitation(guide="each-role")` also
    follows the program in moving the guide once before each role decides, so as many steps at once
    as the team has roles (main.cpp:383).
    """

    name = "imitation"
    sees = "world"

    def __init__(self, guide: Literal["each-step", "each-role"] = "each-step") -> None:
        """Set how often the guide moves: one of `GUIDE_KINDS`."""
        if guide not in GUIDE_KINDS:
            raise ArgumentError(f"expected a guide {' or '.join(GUIDE_KINDS)}, found {guide!r}")
        self.guide = guide

    def _initial_memory(self, seen: Observation) -> Memory:
        return {"guide": seen.cell[:, -1:].copy()}

    def _decide(self, teams: TeamObservation, memory: Memory) -> Ints:
        size, guide, guide_cells = (teams.height, teams.width), memory["guide"], []
        for _ in range(teams.cell.shape[1] if self.guide == "each-role" else 1):
            guide[:] = move_cell(guide, first_move(guide, teams.good_next, *size), *size)
            guide_cells.append(guide.copy())
        way = shortest_offset(teams.cell, np.concatenate(guide_cells, 1), *size)
        close = (abs(way.rows) <= 1) & (abs(way.columns) <= 1)
        return np.where(close, 1 << offset_to_move(way), best_moves(crop_reachable(teams.around)))
