"""evade-evil: never be on Evil or next to it until the end, asked with one cell between the two.

Asked when Evil was in sight in the last two steps, is exactly two cells away, comes within six
steps to whoever stands still, and spares at most three of the nine ways that can be held to the end
without looking; and only where somebody does it who flees by what it sees. Easy: it comes with the
fourth step or later; medium: with the second or third; hard: with the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.suites.types import Scenario
from sts.worlds.lambda_star import torus
from sts.worlds.lambda_star.agents.local_search import LocalSearch
from sts_scenarios.category import Controls, Hits, Label, Rubric

from .abreast import Spots, Tracks
from .asking import instruction
from .playing import HIDDEN, STAY, Past, landings, last, moving, shifts
from .screening import hits
from .tracks import SIGHT, Track, ago, distances, first, never

HORIZON = 10
RECENT, AWAY = 2, 2
SPARED = 3
SOON, LATER, LATEST = 1, 3, 6


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments at which Evil has just gone out of sight and comes back."""
    lately = ago(every.to_evil) <= min(RECENT, context)
    spots = Spots.of(every, lately & (every.to_evil == AWAY), context, horizon)
    spots = spots.where(_coming(spots) <= LATEST)
    spots = spots.where(sparing(spots) <= SPARED)
    spots = spots.where(evades(spots, context))
    return hits(spots, haste(spots))


def sparing(spots: Spots) -> Any:
    """Return how many of the nine ways that can be held without looking keep clear of Evil."""
    evil = spots.ahead(spots.every.evil)[:, None]
    return (spots.every.apart(spots.ways(), evil) > SIGHT).all(2).sum(1)


def haste(spots: Spots) -> Any:
    """Return the difficulty of keeping clear of Evil, by how soon it comes to who stands still."""
    comes = _coming(spots)
    return np.where(comes <= SOON, 2, np.where(comes <= LATER, 1, 0))


def _coming(spots: Spots) -> Any:
    """Return with which step Evil comes to who stands still; one past the last if with none."""
    comes = first(spots.still(spots.every.evil) <= SIGHT)
    return np.where(comes > 0, comes, spots.horizon + 1)


def evades(spots: Spots, context: int) -> Any:
    """Return where a participant that flees by what it sees keeps clear of Evil."""
    path = spots.fled(context, waiting=False)[:, 1:]
    return (spots.every.apart(path, spots.ahead(spots.every.evil)) > SIGHT).all(1)


def away(seen: Past) -> int:
    """Return a move that leads farthest from where Evil is and, by its last move, will be."""
    evil, since = last(seen.evil)
    if evil == HIDDEN:
        return STAY
    moved = shifts(seen.evil, seen.size)
    way = next((m for m in reversed(moved) if m != HIDDEN), STAY)
    soon = int(torus.moved(evil, way, *seen.size))
    landing = landings(seen)
    at_once, later = (distances(landing, cell, seen.size) for cell in (evil, soon))
    rank = 10 * np.minimum(at_once, later) + later
    return int(rank.argmax())


def _fault(own: Track, scenario: Scenario) -> str | None:
    if own.to_evil[-1] != AWAY:
        return f"Evil is not {AWAY} cells away"
    return unseen(own)


def unseen(own: Track) -> str | None:
    """Say that Evil was not in sight lately, if it was not."""
    lately = ago(own.to_evil)[-1] <= RECENT
    return None if lately else f"Evil was not in sight in the last {RECENT} steps"


def rule(own: Track, parameters: Mapping[str, Any]) -> Label:
    """Return failure at the first frame after takeover beside Evil, or success at the end."""
    return never(own.to_evil[1:] <= SIGHT)


CATEGORY = instruction(
    "evade-evil",
    (
        "Evade Evil until the end: never let it be on your cell or next to you.",
        "Until the end, keep Evil off your cell and off the eight cells around it.",
        "Do not let Evil come next to you or onto your cell before the end.",
    ),
    find,
    rule,
    _fault,
    horizon=HORIZON,
    rubric=Rubric(
        done="After the takeover Evil is never on the participant's cell or one of the eight cells "
        "around it.",
        guideline="The takeover itself does not count. The cells around go across the edges of the "
        "board. One step beside Evil is a failure, however it came about.",
    ),
    controls=Controls(
        probe=moving(away),
        shortcut=LocalSearch(),
        open_loop=0.4,
        why="of nine moves some lead away from Evil whatever it does",
    ),
)
