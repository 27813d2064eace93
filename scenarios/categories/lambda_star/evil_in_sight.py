"""evil-in-sight: say whether Evil is in sight at takeover.

Asked while Evil is in sight, or was during the context and no longer is. Easy: it has been so for
four frames or more; medium: for two or three; hard: Evil came or left with the last step.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scenarios.category import Candidate, Category
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory

from .tracks import DOMAIN, SIGHT, Track, ago, moments, said

HORIZON = 5
LONG = 4


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments with Evil about."""
    for track, moment in moments(trajectory.episode, context, horizon):
        if _fault(track, moment, context):
            continue
        answer = _answer(track, moment)
        before = track.to_evil[moment - context : moment + 1] <= SIGHT
        frames = int(np.argmax(np.append(before[::-1] != before[-1], True)))
        difficulty = "hard" if frames == 1 else "medium" if frames < LONG else "easy"
        yield Candidate(moment, track.role, difficulty, {"answer": answer}, answer=answer)


def _answer(track: Track, moment: int) -> str:
    return "yes" if track.to_evil[moment] <= SIGHT else "no"


def _fault(track: Track, moment: int, context: int) -> str | None:
    return "Evil was never in sight" if ago(track.to_evil, moment, context) is None else None


def fits(scenario: Scenario) -> str | None:
    """Says why there is no such answer at takeover."""
    track = Track(scenario.recording, scenario.roles[0])
    truth = _answer(track, scenario.takeover)
    if scenario.parameters["answer"] != truth:
        return f"the answer is {truth}"
    return _fault(track, scenario.takeover, scenario.takeover)


CATEGORY = Category(
    name="evil-in-sight",
    kind="question",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Do you see Evil right now?",
        "Is Evil in sight at this moment?",
        "Is Evil on your cell or next to you right now?",
    ),
    candidates=candidates,
    label=said,
    fits=fits,
    superseded=True,
)
