"""follow-mate: stay with another participant, who goes on as recorded, for some steps in a row.

Asked when that one is in sight and was the only one in the last steps, moves in two of three steps
and is seldom near Good, so that going after Good is not following; whoever stands still is left.
Easy: in three of the first four steps it is still beside whoever stands; medium: in two; hard: in
fewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scenarios.category import Category, Controls, Hits, Label, Overlay, Rubric, Word
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.worlds.lambda_star.agents.local_search import LocalSearch

from . import abreast, mates
from .abreast import Ints, Spots, Tracks
from .mates import apart_from, crowd
from .playing import STAY, Past, moving, toward
from .screening import batched, fill_steps, hits, leaving
from .tracks import (
    DOMAIN,
    FIRST,
    SIGHT,
    Cells,
    Track,
    in_a_row,
    number,
    once,
)

HORIZON = 12
STEPS, SOON = 5, 4
BY_GOOD, SELDOM = 2, 0.3


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments with a team-mate in sight that is about to go somewhere else than to Good."""
    people, role = range(every.people), np.arange(len(every.me)) % every.people
    paths = [every.other(one) for one in people]
    near = [every.apart(every.me, path) <= SIGHT for path in paths]
    for one in people:
        near[one][role == one] = False
    recent = min(mates.RECENT, context)
    alone = np.sum([abreast.since(one) <= recent for one in near], axis=0) == 1
    found = []
    for target in people:
        spots = Spots.of(every, near[target] & alone, context, horizon)
        spots = spots.where(_elsewhere(spots, paths[target]))
        away = spots.still(paths[target])
        free = ~abreast.in_a_row(away <= SIGHT, STEPS)
        found.append(hits(spots.where(free), leaving(away[free][:, :SOON]), (), target))
    kinds = [("", {"target": target, "steps": STEPS}) for target in people]
    episode, role, moment, difficulty, kind = (
        np.concatenate(one) for one in zip(*(one[:5] for one in found), strict=True)
    )
    return Hits(episode, role, moment, difficulty, kind, kinds)


def _elsewhere(spots: Spots, values: Ints) -> Any:
    """Return where a team-mate is on the move, and not along with Good."""
    path = spots.span(values, 0, spots.horizon + 1)
    moves = (path[:, 1:] != path[:, :-1]).mean(1)
    by_good = spots.every.apart(path[:, 1:], spots.ahead(spots.every.good)) <= BY_GOOD
    return (3 * moves >= 2) & (by_good.mean(1) < SELDOM)


def _fill(episode: Episode, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the team-mate and the number of steps as wordings have them."""
    return mates.fill(episode, parameters) | fill_steps(episode, parameters)


MOMENTS = batched(find, _fill)


def _fault(apart: list[Cells], role: int, target: int, moment: int, context: int) -> str | None:
    if target == role:
        return "a participant cannot follow itself"
    if apart[target][moment] > SIGHT:
        return "the team-mate is not in sight at takeover"
    return crowd(apart, role, target, moment, context)


def fits(scenario: Scenario) -> str | None:
    """Says why the team-mate cannot be followed or told from the others."""
    episode, role, asked = scenario.recording, scenario.roles[0], scenario.parameters
    if not 0 <= asked["target"] < episode.participants:
        return "there is no such team-mate"
    if asked["steps"] > scenario.horizon:
        return "there are fewer steps than are asked for"
    if scenario.partner == "no-op":
        return "the team-mate stands still, so there is nothing to follow"
    track = Track(episode, role)
    apart = [apart_from(episode, track, other) for other in range(episode.participants)]
    return _fault(apart, role, asked["target"], scenario.takeover, scenario.takeover)


def words(scenario: Scenario) -> dict[str, Word]:
    """Returns the team-mate and the number of steps."""
    steps = number(scenario.parameters["steps"], range(2, 11))
    return {**mates.words(scenario), "steps": steps}


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Success where enough frames in a row after takeover, all within 1 of it, first end."""
    close = apart_from(episode, Track(episode, roles[0]), parameters["target"]) <= SIGHT
    return once(in_a_row(close[takeover + 1 :], parameters["steps"]))


def _follow(seen: Past) -> int:
    """Returns the move to the other that is in sight, or where one was last."""
    cells = next((cells for cells in reversed(seen.others) if cells), None)
    return toward(seen, cells[0]) if cells else STAY


def _marked(scenario: Scenario) -> Overlay:
    """Returns where the team-mate is at takeover, by which it is told from others."""
    place = scenario.recording.scene[scenario.takeover, FIRST + scenario.parameters["target"]]
    return Overlay((int(place),))


CATEGORY = Category(
    name="follow-mate",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Follow {mate}: be on the same cell or next to it for {steps} steps in a row.",
        "Stay close to {mate}, on the same cell or next to it, for {steps} steps in a row.",
        "For {steps} steps in a row, keep next to {mate} or on the same cell.",
    ),
    candidates=MOMENTS.candidates,
    screen=MOMENTS.screen,
    label=label,
    fits=fits,
    partner="replay",
    words=words,
    rubric=Rubric(
        done="After the takeover there are {steps} steps in a row, one directly after the other, "
        "at each of which the participant is on the same cell as {mate} or on one of the eight "
        "around it.",
        guideline="The marked cell is where that one was at the takeover. The takeover itself does "
        "not count. A single step farther away begins the count anew.",
        overlay=_marked,
    ),
    controls=Controls(probe=moving(_follow), shortcut=LocalSearch(), against_reward=True),
)
