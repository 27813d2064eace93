"""What a reader remembers: where things were, and what it did since it was told."""

from __future__ import annotations

import numpy as np

from sts.agents.protocol import Memory
from sts.worlds.lambda_star.agents.readers.sight import GOOD, NOWHERE, PEOPLE, Sighting
from sts.worlds.lambda_star.agents.readers.told import Told
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.kernels import Ints
from sts.worlds.lambda_star.torus import STAY, distance

LENGTH = 32
"""For how many steps it is remembered where things were."""
NEVER = -1


def begin(batch: int, roles: int) -> Memory:
    """Return the memory of nothing seen, nothing told and nothing done.

    Of three things, which are Good, Evil and another participant: `trace`, int64[B, R, 3, LENGTH],
    their cells, the newest last; `place`, int64[B, R, 3], where each was last in sight, and `age`,
    how many steps ago. `first`, int64[B, R], is where Good was seen first. Since the last text,
    whose number is `text`, int64[B]: `gone`, int64[B, R, 2], is how many rows down and columns
    right the role has gone, `stood` for how many steps it has not moved, `searched` for how many it
    has looked for something, `met` whether what it waits for has come near, and `spoke` whether it
    has spoken.
    """
    shape = (batch, roles)
    return {
        "trace": np.full((*shape, 3, LENGTH), NOWHERE, np.int64),
        "place": np.full((*shape, 3), NOWHERE, np.int64),
        "age": np.full((*shape, 3), NEVER, np.int64),
        "first": np.full(shape, NOWHERE, np.int64),
        "text": np.full(batch, NEVER, np.int64),
        "gone": np.zeros((*shape, 2), np.int64),
        "stood": np.zeros(shape, np.int64),
        "searched": np.zeros(shape, np.int64),
        "met": np.zeros(shape, np.bool_),
        "spoke": np.zeros(shape, np.bool_),
    }


def forgotten(memory: Memory) -> Memory:
    """Return a memory of what was done, without what was seen."""
    return memory | {
        name: np.full_like(memory[name], NOWHERE) for name in ("trace", "place", "age", "first")
    }


def remembered(memory: Memory, seen: Observation, shown: Sighting, told: Told) -> Memory:
    """Return the memory after a look around and a text."""
    anew = (memory["text"] != told.text)[:, None]
    cells = np.stack([_cell(memory, seen, shown, which) for which in range(3)], -1)
    in_sight = cells != NOWHERE
    age = np.where(in_sight, 0, memory["age"] + (memory["age"] != NEVER))
    believed = cells.copy()
    for which, beyond in enumerate(shown.beyond):
        believed[..., which] = np.where(in_sight[..., which], cells[..., which], beyond)
    first = memory["first"]
    trace = np.concatenate((memory["trace"][..., 1:], believed[..., None]), -1)
    step = np.stack((seen.last_move // 3 - 1, seen.last_move % 3 - 1), -1).astype(np.int64)
    near = told.of(_apart(seen, cells) <= 1)
    return {
        "trace": trace,
        "place": np.where(in_sight, cells, memory["place"]),
        "age": age,
        "first": np.where(first == NOWHERE, cells[..., GOOD], first),
        "text": told.text,
        "gone": np.where(anew[..., None], 0, memory["gone"] + step),
        "stood": np.where(anew | (seen.last_move != STAY), 0, memory["stood"] + 1),
        "searched": np.where(anew, 0, memory["searched"]),
        "met": (memory["met"] & ~anew) | near,
        "spoke": ~anew & (memory["spoke"] | (seen.last_said > 0)),
    }


def _cell(memory: Memory, seen: Observation, shown: Sighting, which: int) -> Ints:
    """Return where a thing is in sight, int64[B, R]; of several, nearest to where it last was."""
    flags = shown.flags[which]
    start = np.where(memory["place"][..., which] == NOWHERE, seen.cell, memory["place"][..., which])
    size = seen.height[:, None, None], seen.width[:, None, None]
    far = distance(start[..., None], shown.cells, *size) if which == PEOPLE else 0
    nearest = np.where(flags, far, np.iinfo(np.int64).max).argmin(-1)
    cell = np.take_along_axis(shown.cells, nearest[..., None], -1)[..., 0]
    return np.where(flags.any(-1), cell, NOWHERE)


def _apart(seen: Observation, cells: Ints) -> Ints:
    """Return how far things in sight are, int64[B, R, 3]; those that are not, very far."""
    size = seen.height[:, None, None], seen.width[:, None, None]
    far = np.iinfo(np.int64).max
    apart: Ints = np.where(
        cells == NOWHERE, far, distance(seen.cell[..., None], np.maximum(cells, 0), *size)
    )
    return apart
