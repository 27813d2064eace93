"""count-others: say how many other participants are in sight.

Asked when it is another number than a step before, and at most four. Easy: none or one; medium:
two; hard: more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scenarios.category import Candidate, Category, Controls, Overlay, Rubric
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory

from .playing import Past, saying
from .tracks import DOMAIN, FIRST, SIGHT, Track, distances, moments, said

HORIZON = 5
MOST = 4
ANSWERS = tuple(str(n) for n in range(MOST + 1))


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which somebody has come or gone."""
    episode = trajectory.episode
    counts: dict[int, NDArray[np.int64]] = {}
    for track, moment in moments(episode, context, horizon):
        if moment == 0:
            continue
        if track.role not in counts:
            counts[track.role] = _counts(episode, track)
        before, count = (int(n) for n in counts[track.role][moment - 1 : moment + 1])
        if count != before and count <= MOST:
            difficulty = "easy" if count < 2 else "medium" if count == 2 else "hard"
            answer = str(count)
            yield Candidate(moment, track.role, difficulty, {"answer": answer}, answer=answer)


def _counts(episode: Episode, track: Track) -> NDArray[np.int64]:
    """Returns int64[T + 1], how many others are in sight at each frame."""
    people = episode.scene[:, FIRST:].astype(np.int64)
    near: NDArray[np.int64] = (distances(people, track.me[:, None], track.size) <= SIGHT).sum(1)
    return near - 1  # oneself


def fits(scenario: Scenario) -> str | None:
    """Says why this is not the answer at takeover."""
    track = Track(scenario.recording, scenario.roles[0])
    truth = str(_counts(scenario.recording, track)[scenario.takeover])
    return None if scenario.parameters["answer"] == truth else f"the answer is {truth}"


def _now(seen: Past) -> str:
    return str(min(len(seen.others[seen.asked]), 8))


def _before(seen: Past) -> str:
    """Returns how many were in sight a step before."""
    return str(min(len(seen.others[seen.asked - 1]), 8))


CATEGORY = Category(
    name="count-others",
    kind="question",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "How many other participants are on your cell or next to you right now? Say a number from "
        "0 to 8.",
        "How many other participants do you see right now? Answer with a number from 0 to 8.",
        "Count the other participants in sight, on your cell or next to you, and say the number.",
    ),
    candidates=candidates,
    label=said,
    fits=fits,
    rubric=Rubric(
        done="The first word that the participant says is the number of other participants in the "
        "framed square around it at the takeover.",
        guideline="Good and Evil are no participants. Several on one cell count each. What changes "
        "after the takeover does not matter. Silence is not done.",
        overlay=lambda scenario: Overlay(sight=True),
    ),
    controls=Controls(probe=saying(_now), shortcut=saying(_before), answers=ANSWERS),
)
