"""good-apart: stay close to Good for some steps in a row, on a cell that nobody else is on.

Asked when Good and a team-mate are in sight, Good is gone soon, and whoever goes straight after it
shares a cell; neither that nor any way that can be held without looking will do, and somebody does
it who goes by what was seen. Easy: at the next steps fewer than one half others are on Good's cell,
on average; medium: fewer than one; hard: more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from scenarios.category import Candidate, Category, Controls, Label, Rubric, Word
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star.agents.local_search import LocalSearch

from .follow_good import in_a_row
from .playing import Past, Prospects, imagined, landings, moving
from .tracks import (
    DOMAIN,
    FIRST,
    SIGHT,
    Cells,
    Track,
    chase,
    distances,
    moments,
    number,
    once,
    ways,
)

HORIZON = 10
STEPS, AWAY = 6, 2
FEW, MANY = 0.5, 1.0


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which Good draws several onto one cell."""
    episode, asked = trajectory.episode, {"steps": STEPS}
    for track, moment in moments(episode, context, horizon):
        if _fault(episode, track, moment) or STEPS > horizon:
            continue
        ahead = slice(moment + 1, moment + horizon + 1)
        others = np.delete(episode.scene[ahead, FIRST:].astype(np.int64), track.role, 1)
        if not _crowding(track, moment, others):
            continue
        aside = imagined(episode, track, moment, context, horizon, _aside, "replay")
        if label(aside, 0, (track.role,), asked).verdict == "success":
            beside = (others == track.good[ahead, None]).sum(1).mean()
            difficulty = "easy" if beside < FEW else "medium" if beside < MANY else "hard"
            yield Candidate(moment, track.role, difficulty, asked, {"steps": str(STEPS)})


def _crowding(track: Track, moment: int, others: Cells) -> bool:
    """Says whether Good goes, others are on its way, and neither chasing it nor any one way does.

    Args:
      track: who is asked.
      moment: of the takeover.
      others: int64[L, P - 1], where the others will be.
    """
    horizon = len(others)
    good, straight = track.good[moment + 1 : moment + horizon + 1], chase(track, moment, horizon)
    if 2 * (distances(good, int(track.me[moment]), track.size) <= AWAY).sum() > STEPS:
        return False
    if not (others == straight[:, None]).any():
        return False
    for cells in (straight, *ways(track, moment, horizon)):
        alone = (others != cells[:, None]).all(1)
        if in_a_row(alone & (distances(cells, good, track.size) <= AWAY), STEPS).any():
            return False
    return True


def _fault(episode: Episode, track: Track, moment: int) -> str | None:
    if track.to_good[moment] > SIGHT:
        return "Good is not in sight at takeover"
    people = episode.scene[moment, FIRST:].astype(np.int64)
    near = (distances(people, int(track.me[moment]), track.size) <= SIGHT).sum()
    return None if near > 1 else "no other participant is in sight"


def fits(scenario: Scenario) -> str | None:
    """Says why there is nobody to keep apart from, or no Good to stay by."""
    if scenario.parameters["steps"] > scenario.horizon:
        return "there are fewer steps than are asked for"
    track = Track(scenario.recording, scenario.roles[0])
    return _fault(scenario.recording, track, scenario.takeover)


def words(scenario: Scenario) -> dict[str, Word]:
    """Returns the number of steps."""
    steps = scenario.parameters["steps"]
    return {"steps": number(steps, (n for n in range(3, 11)), digits=True)}


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Success where enough frames in a row after takeover first end.

    All of them within AWAY of Good, on a cell without another participant.
    """
    track, scene = Track(episode, roles[0]), episode.scene[takeover + 1 :, FIRST:]
    alone = (scene == scene[:, roles[0], None]).sum(1) == 1
    close = track.to_good[takeover + 1 :] <= AWAY
    return once(in_a_row(close & alone, parameters["steps"]))


def _aside(seen: Past) -> int:
    """Returns a move that stays by Good, and out of the way of those who go onto it."""
    good = Prospects(seen, seen.good)
    taken = np.isin(landings(seen), seen.others[-1]) + good.within(0)
    return int((10 * good.within(AWAY) - 5 * taken - abs(good.apart - 1)).argmax())


CATEGORY = Category(
    name="good-apart",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "For {steps} steps in a row, be within two cells of Good and on a cell that no other "
        "participant is on.",
        "Keep within two cells of Good and share your cell with no other participant, for {steps} "
        "steps in a row.",
        "Be at most two cells away from Good, and alone on your cell among the participants, for "
        "{steps} steps in a row.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    partner="replay",
    words=words,
    rubric=Rubric(
        done="After the takeover there are {steps} steps in a row, one directly after the other, "
        "at each of which the participant is at most two cells away from Good and no other "
        "participant is on its cell.",
        guideline="Cells are counted as a king walks, across the edges of the board. Being on Good "
        "counts as close, and Good and Evil are no participants. It does not matter who came onto "
        "whose cell. A single other step begins the count anew.",
    ),
    controls=Controls(probe=moving(_aside), shortcut=LocalSearch(), against_reward=True),
)
