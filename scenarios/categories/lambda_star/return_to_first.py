"""return-to-first: stand on the cell on which Good was when it was first seen.

Asked when that was four or more steps ago in what is shown, the cell is two to five cells away, and
neither going after Good nor holding one way crosses it. Easy: the cell is at most three away, and
was not in a corner of the sight; medium: it is farther, or was; hard: both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from scenarios.category import Candidate, Category, Controls, Label, Overlay, Rubric
from sts.episodes import Episode
from sts.suites.types import DIFFICULTIES, Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star import torus
from sts.worlds.lambda_star.state import MOVES

from . import prospects
from .playing import HIDDEN, STAY, Past, last, moving, toward
from .tracks import (
    DOMAIN,
    SIGHT,
    Cells,
    Track,
    ago,
    chase,
    diagonal,
    distances,
    moments,
    once,
    ways,
)

HORIZON = 10
OLD = 4
NEAREST, FAR, FARTHEST = 2, 3, 5


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which Good was first seen a while ago and elsewhere."""
    for track, moment in moments(trajectory.episode, context, horizon):
        if _fault(track, moment, context):
            continue
        frame = _first_sight(track, moment, context)
        cell = int(track.good[frame])
        crossed = (*_chases(track, moment, horizon, context), ways(track, moment, horizon))
        if any((one == cell).any() for one in crossed):
            continue
        me, past = int(track.me[moment]), int(track.me[frame])
        far = bool(distances(me, cell, track.size) > FAR)
        difficulty = DIFFICULTIES[far + bool(diagonal(past, cell, track.size))]
        way = MOVES[torus.toward(me, cell, *track.size, torus.BACK)]
        yield Candidate(moment, track.role, difficulty, {"cell": cell}, answer=way)


def _chases(track: Track, moment: int, horizon: int, context: int) -> Iterator[Cells]:
    """Yields the cells of who goes after Good, and to where it was last in sight."""
    yield chase(track, moment, horizon)
    latest = moment - (ago(track.to_good, moment, context) or 0)
    goals = np.full(horizon, track.good[latest])
    yield prospects.chased(int(track.me[moment]), goals, *track.size)


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
