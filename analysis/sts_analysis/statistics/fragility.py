"""How few judgements decide who is first."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

_MORE = 1e-9
"""By how much a rate has to be above another one."""


class Fragility(NamedTuple):
    """The fewest judgements that, flipped, change who is first.

    Attributes:
      first: row of the agent with the highest rate.
      rival: row of the one that would pass it.
      flips: how many judgements, 0 where the two are level already; None where none would do.
      judgements: of these two agents, how many there are to flip.
    """

    first: int
    rival: int
    flips: int | None
    judgements: int


def fragility(
    rate: np.ndarray, agent: np.ndarray, success: np.ndarray, worth: np.ndarray
) -> Fragility | None:
    """The fewest flips that put another agent above the first; None with fewer than two agents.

    A flipped judgement moves its agent's rate by what it is worth, and no other's. So against one
    rival the fewest are the ones worth most: successes of the first, failures of the rival; and
    the fewest over all rivals are exact.

    Args:
      rate: float64[A], of the agents of one ranking; NaN for others.
      agent: int64[J], whose continuation each judgement is of.
      success: bool[J].
      worth: float64[J], share of the agent's rate that hangs on it.

    Source: Walsh et al. 2014, J. Clin. Epidemiol. 67:622, for the fragility index.
    """
    ranked = np.flatnonzero(np.isfinite(rate))
    if len(ranked) < 2:
        return None
    first = int(ranked[np.argmax(rate[ranked])])
    order = np.argsort(agent, kind="stable")
    edges = np.searchsorted(agent[order], [*range(len(rate) + 1)])
    own = [order[start:stop] for start, stop in pairwise(edges)]
    won = own[first][success[own[first]]]
    best: Fragility | None = None
    for rival in (int(row) for row in ranked if row != first):
        lost = own[rival][~success[own[rival]]]
        moves = np.sort(worth[np.concatenate([won, lost])])[::-1]
        gap = float(rate[first] - rate[rival])
        count = len(own[first]) + len(own[rival])
        reached = np.concatenate([[0.0], np.cumsum(moves)])
        enough = np.flatnonzero(reached > gap + _MORE)
        flips = 0 if gap <= _MORE else int(enough[0]) if len(enough) else None
        fewer = best is None or (flips is not None and (best.flips is None or flips < best.flips))
        if fewer:
            best = Fragility(first, rival, flips, count)
    return best
