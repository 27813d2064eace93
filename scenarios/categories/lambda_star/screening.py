"""What screens of Λ* are made of: how they answer, and what several of them ask.

A screen says in columns what its category says of one moment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from scenarios.category import Hits, Screen
from sts.trajectories.flat import Abreast

from .abreast import NONE, Ints, Spots, Tracks, tracks
from .tracks import SIGHT

Kinds = Sequence[tuple[str, dict[str, Any]]]
Finds = Callable[[Tracks, int, int], Hits]
NOTHING: Kinds = (("", {}),)


def screen(find: Finds, *, exact: bool = True) -> Screen:
    """Returns the screen that finds moments of tracks."""

    def found(every: Abreast, context: int, horizon: int) -> Hits:
        return find(tracks(every), context, horizon)

    return Screen(found, exact)


def hits(spots: Spots, difficulty: Any, kinds: Kinds = NOTHING, kind: Any = 0) -> Hits:
    """Returns moments as a screen answers; `kind` is an index of `kinds`."""
    count, people = len(spots.track), spots.every.people
    return Hits(
        spots.track // people,
        spots.track % people,
        spots.moment,
        np.broadcast_to(np.asarray(difficulty, np.int32), (count,)),
        np.broadcast_to(np.asarray(kind), (count,)),
        kinds,
    )


def steps_in_a_row(count: int) -> Kinds:
    """Returns what is asked where only the number of steps is."""
    return (("", {"steps": count}),)


def seen_moves(spots: Spots, context: int) -> Ints:
    """Returns Good's moves in the context; NONE where one of two frames was not seen."""
    every = spots.every
    good = spots.span(every.good, -context, 1)
    near = spots.span(every.to_good, -context, 1) <= SIGHT
    moves = every.toward(good[:, :-1], good[:, 1:])
    out: Ints = np.where(near[:, :-1] & near[:, 1:], moves, NONE)
    return out
