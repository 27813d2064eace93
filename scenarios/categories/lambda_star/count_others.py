"""count-others: say how many other participants are in sight.

Asked when it is another number than a step before, and at most four. Easy: none or one; medium:
two; hard: more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scenarios.category import Category, Controls, Hits, Overlay, Rubric
from sts.episodes import Episode
from sts.suites.types import Scenario

from .abreast import Spots, Tracks
from .playing import Past, saying
from .screening import COUNTS, batched, hits
from .tracks import DOMAIN, FIRST, SIGHT, Track, distances, said

HORIZON = 5
MOST = 4
ANSWERS = tuple(str(n) for n in range(MOST + 1))


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments at which another participant has come or gone."""
    crowd = every.crowd()
    changed = np.zeros(crowd.shape, np.bool_)
    changed[:, 1:] = (crowd[:, 1:] != crowd[:, :-1]) & (crowd[:, 1:] <= MOST)
    spots = Spots.of(every, changed, context, horizon)
    count = spots.now(crowd)
    return hits(spots, np.where(count < 2, 0, np.where(count == 2, 1, 2)), COUNTS, count)


MOMENTS = batched(find)


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
    candidates=MOMENTS.candidates,
    screen=MOMENTS.screen,
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
