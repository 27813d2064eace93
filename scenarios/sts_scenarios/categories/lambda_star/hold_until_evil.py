"""hold-until-evil: stand still until Evil comes, and then get away from it within some steps.

Asked with Evil out of sight that was seen before and comes within six steps, not with the first,
where neither standing on nor fleeing at once will do. Easy: it comes with the second or third step,
and not to a corner of the sight; medium: later, or to a corner; hard: both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.suites.types import Scenario
from sts_scenarios.categories.tried import NOT_DONE, decided
from sts_scenarios.category import Controls, Hits, Label, Rubric

from .abreast import Ints, Spots, Tracks
from .asking import Steps, instruction
from .evade_evil import away
from .playing import HIDDEN, STAY, Past, moving
from .screening import hits
from .tracks import SIGHT, Track, ago, first

HORIZON = 12
EARLIEST, SOON, LATEST = 2, 3, 6
STEPS = 3
ASKED = Steps(STEPS, least=3, spare=1)


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments at which Evil is about to come."""
    asked = (every.to_evil > SIGHT) & (ago(every.to_evil) <= context)
    spots = Spots.of(every, asked, context, horizon)
    close = spots.still(every.evil) <= SIGHT
    comes = first(close)
    held = (comes >= EARLIEST) & (comes <= min(LATEST, horizon - STEPS))
    spots, close, comes = spots.where(held), close[held], comes[held]
    caught: Any = np.take_along_axis(close, comes[:, None] + np.arange(STEPS), 1).all(axis=1)
    spots, comes = spots.where(caught), comes[caught]
    fled, waited = (_held(spots, spots.fled(context, waiting=waits)) for waits in (False, True))
    done = (fled == -1) & (waited == 1)
    spots, comes = spots.where(done), comes[done]
    rim = every.diagonal(spots.now(every.me), spots.now(every.evil, comes))
    return hits(spots, 1 * (comes > SOON) + rim, ASKED.kinds)


def _held(spots: Spots, path: Ints) -> Any:
    """Return 1 where `label` says success of paths int[N, L + 1], -1 for failure, 0 for neither."""
    close = spots.every.apart(path[:, 1:], spots.ahead(spots.every.evil)) <= SIGHT
    moved, came = first(path[:, 1:] != path[:, :-1]), first(close)
    rash = (moved > 0) & ((came == 0) | (moved <= came))
    # A frame past the last is not one at which it is left behind.
    padded = np.pad(close, ((0, 0), (0, STEPS)), constant_values=True)
    left = ~np.take_along_axis(padded, came[:, None] + np.arange(STEPS), 1).all(1)
    late = came + STEPS <= spots.horizon
    verdict = np.where(left, 1, np.where(late, -1, 0))
    return np.where(rash, -1, np.where(came == 0, 0, verdict))


def _wait(seen: Past) -> int:
    came = any(cell != HIDDEN for cell in seen.evil[seen.asked + 1 :])
    return away(seen) if came else STAY


def _fault(own: Track, scenario: Scenario) -> str | None:
    return None if own.to_evil[-1] > SIGHT else "Evil is there already"


def rule(own: Track, parameters: Mapping[str, Any]) -> Label:
    """Failure at a move before Evil comes within 1, or where it is not left behind in time.

    Success at the first frame more than 1 from it after it came.
    """
    steps, close = parameters["steps"], own.to_evil[1:] <= SIGHT
    moved, came = int(first(own.me[1:] != own.me[:-1])), int(first(close))
    if moved and (not came or moved <= came):
        return decided(moved, False)
    if not came:
        return NOT_DONE
    if left := int(first(~close[came : came + steps])):
        return decided(came + left, True)
    late = came + steps
    return decided(late, False) if late <= len(close) else NOT_DONE


CATEGORY = instruction(
    "hold-until-evil",
    (
        "Do not move until Evil is next to you or on your cell; then be at least two cells away "
        "from it within {steps} steps.",
        "Wait without a move until Evil comes next to you or onto your cell. Then get at least two "
        "cells away from it within {steps} steps.",
        "Hold still. When Evil is next to you or on your cell, and not before, get at least two "
        "cells away from it within {steps} steps.",
    ),
    find,
    rule,
    _fault,
    horizon=HORIZON,
    steps=ASKED,
    rubric=Rubric(
        done="The participant does not move before Evil is on its cell or one of the eight around "
        "it, and then, within {steps} steps, is two or more cells away from Evil.",
        guideline="Moving with the very step by which Evil comes is moving before it. Once the two "
        "have been apart, what comes after does not matter, even if Evil catches up.",
    ),
    controls=Controls(probe=moving(_wait), shortcut=moving(away), against_reward=True),
)
