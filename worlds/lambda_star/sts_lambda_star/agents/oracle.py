"""Oracle agent: it knows Good's next cell."""

from sts.plugin import Memory, jit, jit_inlined
from sts_lambda_star.agents.reactive import Reactive
from sts_lambda_star.agents.team_sight import TeamSight, find_offset
from sts_lambda_star.torus import STAY, Offset, offset_to_move


@jit_inlined
def _choose_displacement(nearest: int, heading: int) -> int:
    """Return the offset to head for on one axis: the opposite way if Good runs away."""
    return -nearest if nearest * heading > 1 else nearest


@jit
def approach_good(team: TeamSight) -> None:
    """Let each role approach or intercept Good."""
    for r in range(team.sets.shape[0]):
        for b in range(team.sets.shape[1]):
            heading = STAY if team.heading[b] < 0 else int(team.heading[b])
            way = find_offset(team, r, b, int(team.next_rows[b]), int(team.next_columns[b]))
            rows = _choose_displacement(way.rows, heading // 3 - 1)
            columns = _choose_displacement(way.columns, heading % 3 - 1)
            team.sets[r, b] = 1 << offset_to_move(Offset(rows, columns))


class Oracle(Reactive):
    """Agent that approaches the cell that Good intends next, and intercepts a fleeing Good.

    It takes a shortest path on the torus, both axes at once; halfway round, the path that crosses
    no edge. It ignores Evil and instructions. If Good's whole pattern is one move that leads away
    from the agent, it goes the opposite way until they meet, and then stays with Good.

    Choices on which the paper is silent: "a constant movement pattern" is a pattern of a single
    repeated move, and the axes are treated separately, because Good may run away along the rows and
    not along the columns. Good runs away on an axis if the shortest path to its next cell is longer
    than one cell and has the direction in which Good itself moves, so that pursuit never shortens
    it. They meet within half the longer side, rounded down: on a ring of n cells at most n - 2
    separate them the opposite way, and each step closes two.

    The rule is the paper's: its program only approaches (lambdastar_2016.md section 7,
    Oracle.cpp:21).

    Source: Chmait et al. 2016, section 5.2.1, expert agent.
    """

    name = "oracle"
    sees = "world"
    deterministic = True

    def _decide(self, team: TeamSight, memory: Memory) -> None:
        approach_good(team)
