"""return-to-first: stand on the cell on which Good was when it was first seen.

Asked when that was four or more steps ago in what is shown, the cell is two to five cells away, and
neither going after Good nor holding one way crosses it. Easy: it was four or five steps ago;
medium: six to eight; hard: more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from scenarios.category import Candidate, Category, Controls, Label, Overlay, Rubric
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star import torus
from sts.worlds.lambda_star.state import MOVES

from .playing import HIDDEN, STAY, Past, last, moving, toward
from .tracks import DOMAIN, SIGHT, Track, chase, distances, moments, once

HORIZON = 10
OLD, OLDER, OLDEST = 4, 6, 9
NEAREST, FARTHEST = 2, 5


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which Good was first seen a while ago and elsewhere."""
    for track, moment in moments(trajectory.episode, context, horizon):
        if _fault(track, moment, context):
            continue
        frame = _first_sight(track, moment, context)
        cell = int(track.good[frame])
        if (chase(track, moment, horizon) == cell).any() or _crossed(track, moment, horizon, cell):
            continue
        age = moment - frame
        difficulty = "easy" if age < OLDER else "medium" if age < OLDEST else "hard"
        way = MOVES[torus.toward(int(track.me[moment]), cell, *track.size, torus.BACK)]
        yield Candidate(moment, track.role, difficulty, {"cell": cell}, answer=way)


def _crossed(track: Track, moment: int, horizon: int, cell: int) -> bool:
    """Says whether one of the eight ways, held without looking, leads over the cell."""
    moves, steps = np.arange(len(MOVES)), np.arange(1, horizon + 1)[:, None]
    row, column = divmod(int(track.me[moment]), track.size.width)
    rows = (row + steps * (moves // 3 - 1)) % track.size.height
    columns = (column + steps * (moves % 3 - 1)) % track.size.width
    return bool((rows * track.size.width + columns == cell).any())


def _first_sight(track: Track, moment: int, context: int) -> int:
    """Returns the first frame of the context with Good in sight; `moment + 1` where there is none.

    The first that the page shows is what is meant, and all that a participant remembers.
    """
    seen = track.to_good[moment - context : moment + 1] <= SIGHT
    return moment - context + int(np.argmax(np.append(seen, True)))


def _fault(track: Track, moment: int, context: int) -> str | None:
    frame = _first_sight(track, moment, context)
    if moment - frame < OLD:
        return f"Good was not first in sight {OLD} steps ago or more"
    away = distances(int(track.me[moment]), int(track.good[frame]), track.size)
    if not NEAREST <= away <= FARTHEST:
        return f"the cell is not {NEAREST} to {FARTHEST} cells away"
    return None


def fits(scenario: Scenario) -> str | None:
    """Says why there is no such cell, or which it is."""
    track, takeover = Track(scenario.recording, scenario.roles[0]), scenario.takeover
    fault = _fault(track, takeover, takeover)
    if fault is None:
        cell = int(track.good[_first_sight(track, takeover, takeover)])
        row, column = divmod(cell, track.size.width)
        if scenario.parameters["cell"] != cell:
            return f"Good was first seen in row {row + 1}, column {column + 1}"
    return fault


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Success at the first frame after takeover on the cell; else not_done."""
    return once(Track(episode, roles[0]).me[takeover + 1 :] == parameters["cell"])


def _back(seen: Past) -> int:
    sights = [cell for cell in seen.good[: seen.asked + 1] if cell != HIDDEN]
    return toward(seen, sights[0]) if sights else STAY


def _to_good(seen: Past) -> int:
    return toward(seen, last(seen.good)[0])


CATEGORY = Category(
    name="return-to-first",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Go to the cell on which Good was when you first saw it.",
        "Return to the cell where Good stood when you first saw it.",
        "Stand on the cell where Good was the first time that you saw it.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    rubric=Rubric(
        done="After the takeover the participant is on the marked cell, the one on which Good was "
        "when it was first on the participant's cell or one of the eight around it.",
        guideline="The first time in what is shown is meant. Passing over the cell is enough.",
        overlay=lambda scenario: Overlay((scenario.parameters["cell"],)),
    ),
    controls=Controls(
        probe=moving(_back),
        shortcut=moving(_to_good),
        against_reward=True,
    ),
)
