"""Things that a player sees, and things just out of sight that it infers from rewards."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import jit
from sts_lambda_star.domain import Observation
from sts_lambda_star.kernels import Ints
from sts_lambda_star.lanes import reward_at_distance
from sts_lambda_star.torus import neighbour, side_length

GOOD, EVIL, PEOPLE = range(3)
NOWHERE = -1
UNKNOWN, AMBIGUOUS = -2, -3
"""Instead of a hidden thing's place: no explanation was found yet; explanations differ."""


class Sighting(NamedTuple):
    """Things that R players see in B worlds at a step."""

    flags: NDArray[np.bool_]  # bool[3, B, R, M], True where Good, Evil and other players are
    cells: Ints  # int64[B, R, M], the cells in sight
    # int64[2, B, R], the cell just out of sight on which Good, or Evil, must be to explain the
    # rewards in sight; `NOWHERE` if they do not determine it
    beyond: Ints


def narrow_view(seen: Observation) -> Observation:
    """Restrict an observation of radius k to the cells within k steps along rows and columns.

    For k = 1 these are the player's own cell and the four adjacent ones.
    """
    length = side_length(seen.good.shape[-1])
    down, right = np.divmod(np.arange(length * length), length)
    near = abs(down - length // 2) + abs(right - length // 2) <= length // 2
    near_fields: dict[str, Any] = {
        name: getattr(seen, name) * near for name in ("good", "evil", "team", "others", "reward")
    }
    return replace(seen, **near_fields)


def hide_evil(seen: Observation) -> Observation:
    """Return an observation in which Evil is nowhere; the rewards stay."""
    return replace(seen, evil=np.zeros_like(seen.evil))


def find_things(seen: Observation) -> Sighting:
    """Return the things that an observation shows or implies."""
    people = seen.team.astype(np.int64) + seen.others > 0
    flags = np.stack((seen.good, seen.evil, people))
    shape = seen.cell.shape
    beyond = np.full((2, seen.cell.size), NOWHERE, np.int64)
    height, width = np.repeat(seen.height, shape[1]), np.repeat(seen.width, shape[1])
    flat = flags[:2].reshape(2, seen.cell.size, -1)
    _infer_hidden(
        seen.reward.reshape(seen.cell.size, -1), flat, seen.cell.ravel(), height, width, beyond
    )
    return Sighting(flags, seen.surroundings, beyond.reshape(2, *shape))


@jit
def _infer_hidden(
    reward: NDArray[np.int8],
    flags: NDArray[np.bool_],
    cell: Ints,
    height: Ints,
    width: Ints,
    out: Ints,
) -> None:
    """Write the cells of Good and Evil that must be one cell out of sight.

    Among all pairs of places that explain the rewards, those with the fewest things nearby count; a
    thing's cell is written if they agree on it. Grids on which the ring around the sight would
    overlap itself are skipped.
    """
    cells = reward.shape[1]
    k = side_length(cells) // 2
    long = 2 * k + 3
    for n in range(len(cell)):
        lit = False
        for m in range(cells):
            lit = lit or reward[n, m] != 0
        if not lit or height[n] < long or width[n] < long:
            continue
        places = np.full((2, long * long + 1), -1, np.int64)
        counts = np.zeros(2, np.int64)
        for thing in range(2):
            for m in range(cells):
                if flags[thing, n, m]:
                    places[thing, 0] = (m // (2 * k + 1) + 1) * long + m % (2 * k + 1) + 1
                    counts[thing] = 1
            if counts[thing] == 0:
                for m in range(long * long):
                    if max(abs(m // long - k - 1), abs(m % long - k - 1)) == k + 1:
                        places[thing, counts[thing]] = m
                        counts[thing] += 1
                counts[thing] += 1
        hidden, fewest = np.full(2, UNKNOWN, np.int64), 3
        for i in range(counts[0]):
            for j in range(counts[1]):
                good, evil = places[0, i], places[1, j]
                near = int(good >= 0) + int(evil >= 0)
                if near <= fewest and _explains_rewards(reward[n], good, evil, k):
                    if near < fewest:
                        fewest = near
                        hidden[:] = UNKNOWN
                    hidden[0] = good if hidden[0] in (UNKNOWN, good) else AMBIGUOUS
                    hidden[1] = evil if hidden[1] in (UNKNOWN, evil) else AMBIGUOUS
        for thing in range(2):
            m = hidden[thing]
            if m >= 0:
                out[thing, n] = neighbour(cell[n], m, long, height[n], width[n])


@jit
def _explains_rewards(reward: NDArray[np.int8], good: int, evil: int, k: int) -> bool:
    """Return True if Good and Evil at these places give exactly the rewards in sight.

    Places are entries of the neighbourhood that is one wider than the sight; -1 is farther out.
    """
    long = 2 * k + 3
    for m in range(reward.size):
        row, column = m // (2 * k + 1) + 1, m % (2 * k + 1) + 1
        total = 0
        if good >= 0:
            total += reward_at_distance(max(abs(good // long - row), abs(good % long - column)))
        if evil >= 0:
            total -= reward_at_distance(max(abs(evil // long - row), abs(evil % long - column)))
        if total != reward[m]:
            return False
    return True
