"""Imitation agent: local search that follows a guide which knows Good's next cell."""

from typing import Literal

from sts.plugin import ArgumentError, Memory, jit
from sts_lambda_star.agents.reactive import Reactive
from sts_lambda_star.agents.team_sight import TeamSight, find_offset
from sts_lambda_star.kernels import Ints
from sts_lambda_star.torus import first_move, move_cell, offset_to_move

GUIDE_KINDS = ("each-step", "each-role")


@jit
def follow_guide(team: TeamSight, each_role: bool, guide: Ints) -> None:
    """Move the guide, int64[B, 1], and let each role in its reach step onto its cell."""
    for b in range(team.sets.shape[1]):
        cell, height, width = guide[b, 0], int(team.height[b]), int(team.width[b])
        goal, row = int(team.next_rows[b]) * width + team.next_columns[b], 0
        for r in range(team.sets.shape[0]):
            if r == 0 or each_role:
                cell = move_cell(cell, first_move(cell, goal, height, width), height, width)
                row = cell // width
            way = find_offset(team, r, b, row, cell - row * width)
            is_close = abs(way.rows) <= 1 and abs(way.columns) <= 1
            team.sets[r, b] = 1 << offset_to_move(way) if is_close else team.best[r, b]
        guide[b, 0] = cell


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
    leaves_choice = True
    reads = "best"

    def __init__(self, guide: Literal["each-step", "each-role"] = "each-step") -> None:
        """Set how often the guide moves: one of `GUIDE_KINDS`."""
        if guide not in GUIDE_KINDS:
            raise ArgumentError(f"expected a guide {' or '.join(GUIDE_KINDS)}, found {guide!r}")
        self.guide = guide

    def _initial_memory(self, cells: Ints, height: Ints, width: Ints) -> Memory:
        return {"guide": cells[:, -1:].copy()}

    def _decide(self, team: TeamSight, memory: Memory) -> None:
        follow_guide(team, self.guide == "each-role", memory["guide"])
