"""walk: be a number of cells from here in a direction.

Asked of a participant that was moving, did not do it in the recording, and would not by going after
Good. Easy: up to three cells straight; medium: four straight, or up to three on a diagonal; hard:
four on a diagonal. Ways of half the torus or more are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenarios.category import Candidate, Category, Label, Word
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star.state import MOVES

from .tracks import (
    CALLED,
    DOMAIN,
    Grid,
    Track,
    chase,
    grid,
    heading,
    moments,
    number,
    offsets,
    once,
)

HORIZON = 10
NUMBERS = {count: CALLED[count] for count in (2, 3, 4)}
FEW = 3
WAYS = tuple(move for move in MOVES if move != "stay")
STAY = MOVES.index("stay")


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields a direction and a number of cells a moment, in turn."""
    for track, moment in moments(trajectory.episode, context, horizon):
        turn = moment + track.role
        way, cells = WAYS[turn % len(WAYS)], min(NUMBERS) + turn // len(WAYS) % len(NUMBERS)
        moved = (track.moves[moment - context : moment] != STAY).sum()
        asked: dict[str, Any] = {"direction": way, "cells": cells}
        unasked = (track.moves[moment : moment + horizon], _chasing(track, moment, horizon))
        if cells > horizon or 2 * moved < context or not _clear(track.size, **asked):
            continue
        if any(_there(moves, **asked).any() for moves in unasked):
            continue
        difficulty = ("easy", "medium", "hard")[(not _straight(way)) + (cells > FEW)]
        yield Candidate(
            moment,
            track.role,
            difficulty,
            asked,
            {"direction": _told(way), "cells": NUMBERS[cells]},
            answer=way,
        )


def _straight(way: str) -> bool:
    return 0 in heading(way)


def _told(way: str) -> str:
    return way if _straight(way) else f"diagonally {way}"


def words(scenario: Scenario) -> dict[str, Word]:
    """Returns the direction and the number of cells."""
    way, cells = scenario.parameters["direction"], scenario.parameters["cells"]
    return {
        "direction": Word(_told(way), tuple(one for one in WAYS if one != way), (way,)),
        "cells": number(cells, NUMBERS),
    }


def _clear(size: Grid, direction: str, cells: int) -> bool:
    down, right = heading(direction)
    return 2 * cells * abs(down) < size.height and 2 * cells * abs(right) < size.width


def _chasing(track: Track, moment: int, horizon: int) -> NDArray[np.int64]:
    """Returns the moves of going after Good from `moment` on."""
    cells = np.append(track.me[moment], chase(track, moment, horizon))
    down, right = offsets(cells[:-1], cells[1:], track.size)
    moves: NDArray[np.int64] = 3 * (down + 1) + right + 1
    return moves


def _there(moves: NDArray[Any], direction: str, cells: int) -> NDArray[np.bool_]:
    """Returns after which moves the way since the start is `cells` cells in `direction`."""
    down, right = heading(direction)
    rows, columns = np.cumsum(moves // 3 - 1), np.cumsum(moves % 3 - 1)
    out: NDArray[np.bool_] = (rows == cells * down) & (columns == cells * right)
    return out


def fits(scenario: Scenario) -> str | None:
    """Says why the way is not clear."""
    asked = scenario.parameters
    if asked["direction"] not in WAYS or not 1 <= asked["cells"] <= scenario.horizon:
        return "there is no such way"
    size = grid(scenario.recording.state)
    return None if _clear(size, **asked) else "the torus is too small for it"


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Success at the first frame at which the moves since takeover add up to it; else not_done."""
    moves = episode.moves[takeover:, roles[0]]
    return once(_there(moves, parameters["direction"], parameters["cells"]))


CATEGORY = Category(
    name="walk",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Walk {cells} cells {direction}.",
        "Move {cells} cells {direction} from where you are now.",
        "Head {direction} for {cells} cells.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    words=words,
    superseded=True,
)
