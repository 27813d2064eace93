"""Wisdom-of-the-crowd agent: a team averages the rewards it sees and goes to the best cell."""

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Memory, jit, jit_inlined
from sts_lambda_star.agents.move_sets import max_cells
from sts_lambda_star.agents.reactive import Reactive
from sts_lambda_star.agents.team_sight import TeamSight, head_for, write_cells
from sts_lambda_star.kernels import Ints
from sts_lambda_star.torus import side_length

_LOWEST, _MAGNITUDE = -(2**63), 2**63 - 1


@jit
def choose_moves(team: TeamSight, values: NDArray[np.float64]) -> None:
    """Average the observed rewards into the teams' values and allow the moves to the best cells.

    Values are float64[B, cells or more], in halves; 0 at an episode's start. The teams' draws
    select among several best cells for each role.
    """
    keys, cells = values.view(np.int64), np.empty(team.around.shape[1], np.int64)
    tied = np.empty(values.shape[1], np.int64)
    for b in range(team.sets.shape[1]):
        _average_and_choose(team, b, values[b], keys[b], cells, tied)


@jit_inlined
def _average_and_choose(
    team: TeamSight, b: int, values: NDArray[np.float64], every_key: Ints, cells: Ints, tied: Ints
) -> None:
    """Choose as `choose_moves` in one world, given its values and their bits.

    `cells`, int64[M], and `tied`, int64[cells of the grid], are scratch space.
    """
    width = int(team.width[b])
    for r in range(team.sets.shape[0]):
        _average(team, r, b, values, cells)
    keys = every_key[: int(team.height[b]) * width]
    top = _find_top(keys)
    ties = goal = 0
    for c in range(keys.size):
        ties += 1 if keys[c] == top else 0
        goal += c if keys[c] == top else 0
    if ties > 1:
        _list_tied_cells(keys, top, tied)
    for r in range(team.sets.shape[0]):
        if ties > 1:
            goal = tied[np.uint64(team.draws[r, b] * ties)]
        row = goal // width
        head_for(team, r, b, row, goal - row * width)


@jit_inlined
def _find_top(keys: Ints) -> int:
    """Return the bits of the highest of float64 values, given as their bits, int64[cells].

    Bits of values are ordered as the values are once those below 0 are mirrored. A maximum of
    integers vectorises and one of floats does not. No value is -0.0.
    """
    top = _LOWEST
    for c in range(keys.size):
        top = max(top, keys[c] ^ (keys[c] >> 63 & _MAGNITUDE))
    return int(top ^ (top >> 63 & _MAGNITUDE))


@jit_inlined
def _average(team: TeamSight, r: int, b: int, values: NDArray[np.float64], cells: Ints) -> None:
    """Average in the rewards that one role sees; cells without a reward keep their value."""
    around, any_reward = team.around[r], 0
    for m in range(len(around)):
        any_reward |= around[m, b]
    if any_reward != 0:
        write_cells(team, r, b, side_length(len(around)) // 2, cells)
        for m in range(len(around)):
            value = values[np.uint64(cells[m])]
            averaged = 0.5 * (value + around[m, b])
            values[np.uint64(cells[m])] = averaged if around[m, b] != 0 else value


@jit_inlined
def _list_tied_cells(keys: Ints, top: int, tied: Ints) -> None:
    """Write the cells whose key is `top` to the start of `tied`; the last entry may be another."""
    count = 0
    for c in range(keys.size):
        tied[np.uint64(count)] = c  # without a branch, which would be mispredicted
        count += keys[c] == top


class WisdomOfTheCrowd(Reactive):
    """Team that heads for the cell of the whole grid with the highest shared value.

    The team keeps a value V of every cell, 0 at the start. At every step each role in turn sets
    V = (V + reward) / 2 on the cells it sees that have a reward, so a value is averaged with later
    rewards there but not erased when the cell has none. Then each role takes a shortest path to a
    cell of the highest V of the whole grid (ties broken uniformly): at first any cell.

    The rule is the published program's (lambdastar_2016.md section 7, WocLocalSearch.cpp:23); it is
    not in the paper. The program leaves open: with a larger radius all cells in sight are valued.
    """

    name = "wisdom-of-the-crowd"
    reads = "neighbourhood"
    draws = 1

    def _initial_memory(self, cells: Ints, height: Ints, width: Ints) -> Memory:
        return {"values": np.zeros((len(cells), max_cells(height, width)))}

    def _decide(self, team: TeamSight, memory: Memory) -> None:
        choose_moves(team, memory["values"])
