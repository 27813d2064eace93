"""catch-mate: get onto the cell of a team-mate that runs away from whoever comes near.

The team-mate is a `fugitive` from takeover on, so that what it does depends on what is done: it
flees for two steps and rests for one, and stands still out of sight. Asked in teams of two, when it
was in sight in the last steps and is no farther than a cell from where it was then. Easy: it is one
cell away at takeover; medium: two, just out of sight; hard: three or four.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.suites.types import Scenario
from sts_scenarios.category import Controls, Hits, Label, Rubric

from . import mates
from .abreast import Spots, Tracks
from .asking import instruction
from .playing import Past, moving
from .screening import hits
from .tracks import FIRST, SIGHT, Track, ago, distances, once

HORIZON = 10
PARTNER = "agent:fugitive"
FAR = 4


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments with the team-mate at hand, in teams of two."""
    if every.people != 2:
        return hits(Spots.of(every, np.zeros(every.me.shape, np.bool_), context, horizon), 0)
    mate = every.me.reshape(-1, 2, every.me.shape[1])[:, ::-1].reshape(every.me.shape)
    away = every.apart(every.me, mate)
    gone = ago(away)
    near = (gone <= min(mates.RECENT, context)) & (away > 0) & (away <= FAR)
    spots = Spots.of(every, near, context, horizon)
    was = spots.now(mate, -spots.now(gone))
    spots = spots.where(every.apart(spots.now(mate), was) <= SIGHT)
    kinds = [("", {"target": target}) for target in (1, 0)]  # by who is asked
    return hits(spots, np.minimum(spots.now(away), 3) - 1, kinds, spots.track % 2)


def _go_there(seen: Past) -> int:
    """Return the move to where the team-mate was last in sight when it was asked for."""
    return mates.follow(seen._replace(others=seen.others[: seen.asked + 1]))


def _fault(own: Track, scenario: Scenario) -> str | None:
    if scenario.partner != PARTNER:
        return "the team-mate does not run away"
    if scenario.recording.participants != 2:
        return "there are others besides the team-mate"
    if scenario.parameters["target"] != 1 - own.role:
        return "there is no such team-mate"
    away = own.distance_to(1 - own.role)
    if away[-1] == 0:
        return "the two share a cell already"
    if away[-1] > FAR:
        return f"the team-mate is more than {FAR} cells away"
    if (gone := ago(away)[-1]) > mates.RECENT:
        return f"the team-mate was not in sight in the last {mates.RECENT} steps"
    mate = own.scene[:, FIRST + 1 - own.role]
    if distances(mate[-1], mate[-1 - gone], own.size) > SIGHT:
        return "the team-mate is not near where it was last in sight"
    return None


def rule(own: Track, parameters: Mapping[str, Any]) -> Label:
    """Return success at the first frame after takeover on the team-mate's cell; else not_done."""
    return once(own.me[1:] == own.scene[1:, FIRST + parameters["target"]])


CATEGORY = instruction(
    "catch-mate",
    (
        "Catch {mate}, who runs away from you: be on the same cell.",
        "Chase {mate} until you are both on one cell.",
        "Try to get onto the cell of {mate}, who steps away when you come near.",
    ),
    find,
    rule,
    _fault,
    horizon=HORIZON,
    words=mates.words,
    partner=PARTNER,
    rubric=Rubric(
        done="At some step after the takeover the participant and {mate} are on the same cell.",
        guideline="Once is enough, and it does not matter who moved. Next to one another is not "
        "caught, nor is changing places with one step. The marked cell is where {mate} was at the "
        "takeover.",
        overlay=mates.mark_mate,
    ),
    controls=Controls(probe=moving(mates.follow), shortcut=moving(_go_there), against_reward=True),
)
