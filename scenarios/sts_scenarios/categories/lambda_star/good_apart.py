"""good-apart: stay close to Good for some steps in a row, on a cell that nobody else is on.

Asked when Good and a team-mate are in sight, Good is gone soon, and whoever goes straight after it
shares a cell; neither that nor any way that can be held without looking will do, and somebody does
it who goes by what was seen. Easy: at the next steps fewer than one half others are on Good's cell,
on average; medium: fewer than one; hard: more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.suites.types import Scenario
from sts.worlds.lambda_star.agents.local_search import LocalSearch
from sts_scenarios.category import Controls, Hits, Label, Rubric

from .abreast import Ints, Spots, Tracks
from .asking import Steps, instruction
from .playing import Past, Prospects, landings, moving
from .screening import attempt, hits
from .tracks import FIRST, SIGHT, Track, distances, in_a_row, once

HORIZON = 10
STEPS, AWAY = 6, 2
ASKED = Steps(STEPS, least=3)
FEW, MANY = 0.5, 1.0


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments at which Good draws several onto one cell."""
    near = (every.to_good <= SIGHT) & (every.crowd() > 0)
    spots = Spots.of(every, near, context, horizon)
    close = spots.still(every.good) <= AWAY
    spots = spots.where(2 * close.sum(1) <= STEPS)
    others = _others(spots)
    straight = spots.chase()
    shared = (others == straight[:, :, None]).any((1, 2))
    spots, others, straight = spots.where(shared), others[shared], straight[shared]
    good, free = spots.ahead(every.good), np.ones(len(spots.track), np.bool_)
    for cells in (straight, *spots.ways().swapaxes(0, 1)):
        alone = (others != cells[:, :, None]).all(2)
        near_by = every.apart(cells, good) <= AWAY
        free &= ~in_a_row(alone & near_by, STEPS).any(1)
    beside = (others == good[:, :, None]).sum(2).mean(1)[free]
    difficulty = np.where(beside < FEW, 0, np.where(beside < MANY, 1, 2))
    return hits(spots.where(free), difficulty, ASKED.kinds)


def _others(spots: Spots) -> Ints:
    """Return int[N, L, P - 1], the cells of the others after each step."""
    people, role = spots.every.people, spots.track % spots.every.people
    index = (role[:, None] + np.arange(1, people)) % people
    tracks_ = (spots.track - role)[:, None] + index
    frames = spots.moment[:, None] + np.arange(1, spots.horizon + 1)
    out: Ints = spots.every.me[tracks_[:, None, :], frames[:, :, None]]
    return out


def _aside(seen: Past) -> int:
    """Return a move that stays by Good, and out of the way of those who go onto it."""
    good = Prospects(seen, seen.good)
    taken = np.isin(landings(seen), seen.others[-1]) + good.within(0)
    return int((10 * good.within(AWAY) - 5 * taken - abs(good.apart - 1)).argmax())


def _fault(own: Track, scenario: Scenario) -> str | None:
    if own.to_good[-1] > SIGHT:
        return "Good is not in sight at takeover"
    near = (distances(own.scene[-1, FIRST:], int(own.me[-1]), own.size) <= SIGHT).sum()
    return None if near > 1 else "no other participant is in sight"


def rule(own: Track, parameters: Mapping[str, Any]) -> Label:
    """Success where enough frames in a row after takeover first end.

    All of them within AWAY of Good, on a cell without another participant.
    """
    alone = (own.scene[1:, FIRST:] == own.me[1:, None]).sum(1) == 1
    return once(in_a_row((own.to_good[1:] <= AWAY) & alone, parameters["steps"]))


CATEGORY = instruction(
    "good-apart",
    (
        "For {steps} steps in a row, be within two cells of Good and on a cell that no other "
        "participant is on.",
        "Keep within two cells of Good and share your cell with no other participant, for {steps} "
        "steps in a row.",
        "Be at most two cells away from Good, and alone on your cell among the participants, for "
        "{steps} steps in a row.",
    ),
    find,
    rule,
    _fault,
    horizon=HORIZON,
    steps=ASKED,
    confirm=attempt(_aside, rule, {"steps": STEPS}, "replay"),
    partner="replay",
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
