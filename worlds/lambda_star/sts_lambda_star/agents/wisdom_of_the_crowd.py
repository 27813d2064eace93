"""Wisdom-of-the-crowd agent: a team averages the rewards it sees and goes to the best cell."""

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Memory, jit, jit_inlined
from sts_lambda_star.agents.move_sets import max_cells
from sts_lambda_star.agents.reactive import Reactive, TeamObservation
from sts_lambda_star.domain import Observation
from sts_lambda_star.kernels import Ints
from sts_lambda_star.torus import first_move, side_length, wrap

_LOWEST, _MAGNITUDE = -(2**63), 2**63 - 1


@jit
def choose_moves(teams: TeamObservation, values: NDArray[np.float64]) -> Ints:
    """Average the observed rewards into the teams' values and return the moves to the best cells.

    Values are float64[B, cells or more], in halves; 0 at an episode's start. The teams' draws
    select among several best cells for each role.
    """
    sets, every_key = np.empty(teams.cell.shape, np.int64), values.view(np.int64)
    for b in range(len(sets)):
        cell, height, width = teams.cell[b], teams.height[b, 0], teams.width[b, 0]
        for r in range(cell.size):
            _average(teams.around[b, r], cell[r], height, width, values[b])
        keys = every_key[b, : height * width]
        top = _find_top(keys)
        ties = goal = 0
        for c in range(keys.size):
            ties += 1 if keys[c] == top else 0
            goal += c if keys[c] == top else 0
        for r in range(cell.size):
            if ties > 1:
                goal = _find_tied_cell(keys, top, int(teams.draws[b, r] * ties))
            sets[b, r] = 1 << first_move(cell[r], goal, height, width)
    return sets


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
def _average(
    around: NDArray[np.int8], cell: int, height: int, width: int, values: NDArray[np.float64]
) -> None:
    """Average in the rewards that one role sees; cells without a reward keep their value."""
    k = side_length(around.size) // 2
    middle, m = cell // width, 0
    for row in range(middle - k, middle + k + 1):
        start, left = wrap(row, height) * width, cell - middle * width - k
        for column in range(left, left + 2 * k + 1):
            here = start + wrap(column, width)
            value = values[here]
            values[here] = 0.5 * (value + around[m]) if around[m] != 0 else value
            m += 1


@jit_inlined
def _find_tied_cell(keys: Ints, top: int, number: int) -> int:
    """Return cell `number`, from 0 and row by row, of those whose key is `top`."""
    for c in range(keys.size):
        if keys[c] == top:
            if number == 0:
                return c
            number -= 1
    return 0


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
    draws = 1

    def _initial_memory(self, seen: Observation) -> Memory:
        return {"values": np.zeros((len(seen.cell), max_cells(seen.height, seen.width)))}

    def _decide(self, teams: TeamObservation, memory: Memory) -> Ints:
        return choose_moves(teams, memory["values"])
