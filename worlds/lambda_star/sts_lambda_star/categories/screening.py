"""Parts of the search for steps at which categories of Λ* can be asked."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import CandidateColumns

from .batches import Ints, StepBatch
from .tracks import NONE, SIGHT, Cells

Kinds = Sequence[tuple[str, dict[str, Any]]]
NO_PARAMETERS: Kinds = (("", {}),)
DIRECTIONS: Kinds = tuple((move, {"answer": move}) for move in MOVES)
COUNTS: Kinds = tuple((str(n), {"answer": str(n)}) for n in range(9))
UNGRADED = -1
"""Difficulty of a hit that depends on the steps the solver needs."""


def make_hits(
    steps: StepBatch, difficulty: Any, kinds: Kinds = NO_PARAMETERS, kind: Any = 0
) -> CandidateColumns:
    """Return the hits of a prefilter; `kind` is an index of `kinds`."""
    count, players = len(steps.track), steps.tracks.players
    return CandidateColumns(
        steps.track // players,
        steps.track % players,
        steps.step,
        np.broadcast_to(np.asarray(difficulty, np.int32), (count,)),
        np.broadcast_to(np.asarray(kind), (count,)),
        kinds,
    )


def good_moves_seen(steps: StepBatch) -> Cells:
    """Return Good's moves in the context; NONE if either frame was not seen."""
    batch = steps.tracks
    good = steps.values_between(batch.good, -steps.context, 1)
    near = steps.values_between(batch.to_good, -steps.context, 1) <= SIGHT
    actions = batch.move_towards(good[:, :-1], good[:, 1:])
    out: Cells = np.where(near[:, :-1] & near[:, 1:], actions, NONE).astype(np.int64)
    return out


def grade_leaving(distance: Ints) -> Any:
    """Return the difficulty of following, by how long a player standing still stays near."""
    stays = (distance <= SIGHT).sum(1)
    return np.where(stays > 2, 0, np.where(stays == 2, 1, 2))
