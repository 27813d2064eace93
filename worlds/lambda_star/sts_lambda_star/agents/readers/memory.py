"""Memory of a reader: positions of things, and its own actions since the last instruction."""

import numpy as np

from sts.plugin import Memory
from sts_lambda_star.agents.readers.intents import Intents
from sts_lambda_star.agents.readers.sightings import GOOD, NOWHERE, PEOPLE, Sighting
from sts_lambda_star.domain import Observation
from sts_lambda_star.kernels import Ints
from sts_lambda_star.torus import STAY, distance

MEMORY_STEPS = 32
"""Steps for which positions of things are remembered."""
NEVER = -1


def initial_memory(batch: int, players: int) -> Memory:
    """Return the memory before the first step.

    Of three things, which are Good, Evil and another player: `trace`, int64[B, R, 3, LENGTH],
    their cells, the newest last; `place`, int64[B, R, 3], the cell in which each was last in sight,
    and `age`, how many steps ago. `first`, int64[B, R], is the cell where Good was first seen.
    `told`, int64[B], is the id of the last instruction. Since it was given: `gone`, int64[B, R, 2],
    the rows down and columns right that the role has moved; `stood`, the steps since its last move;
    `searched`, the steps it has searched for; `met`, whether the thing it waits for has come near;
    `spoke`, whether it has spoken.
    """
    shape = (batch, players)
    return {
        "trace": np.full((*shape, 3, MEMORY_STEPS), NOWHERE, np.int64),
        "place": np.full((*shape, 3), NOWHERE, np.int64),
        "age": np.full((*shape, 3), NEVER, np.int64),
        "first": np.full(shape, NOWHERE, np.int64),
        "told": np.full(batch, NEVER, np.int64),
        "gone": np.zeros((*shape, 2), np.int64),
        "stood": np.zeros(shape, np.int64),
        "searched": np.zeros(shape, np.int64),
        "met": np.zeros(shape, np.bool_),
        "spoke": np.zeros(shape, np.bool_),
    }


def forget_sightings(memory: Memory) -> Memory:
    """Return the memory without positions of things, but with the role's own actions."""
    return memory | {
        name: np.full_like(memory[name], NOWHERE) for name in ("trace", "place", "age", "first")
    }


def update_memory(memory: Memory, seen: Observation, shown: Sighting, intents: Intents) -> Memory:
    """Return the memory updated with an observation and the current instruction."""
    is_new = (memory["told"] != intents.id)[:, None]
    cells = np.stack([_locate(memory, seen, shown, thing) for thing in range(3)], -1)
    in_sight = cells != NOWHERE
    age = np.where(in_sight, 0, memory["age"] + (memory["age"] != NEVER))
    believed = cells.copy()
    for thing, beyond in enumerate(shown.beyond):
        believed[..., thing] = np.where(in_sight[..., thing], cells[..., thing], beyond)
    first = memory["first"]
    trace = np.concatenate((memory["trace"][..., 1:], believed[..., None]), -1)
    step = np.stack((seen.last_move // 3 - 1, seen.last_move % 3 - 1), -1).astype(np.int64)
    size = seen.height[:, None, None], seen.width[:, None, None]
    near = in_sight & (distance(seen.cell[..., None], np.maximum(cells, 0), *size) <= 1)
    return {
        "trace": trace,
        "place": np.where(in_sight, cells, memory["place"]),
        "age": age,
        "first": np.where(first == NOWHERE, cells[..., GOOD], first),
        "told": intents.id,
        "gone": np.where(is_new[..., None], 0, memory["gone"] + step),
        "stood": np.where(is_new | (seen.last_move != STAY), 0, memory["stood"] + 1),
        "searched": np.where(is_new, 0, memory["searched"]),
        "met": (memory["met"] & ~is_new) | intents.select(near),
        "spoke": ~is_new & (memory["spoke"] | (seen.last_said > 0)),
    }


def _locate(memory: Memory, seen: Observation, shown: Sighting, thing: int) -> Ints:
    """Return the cell of a thing in sight, int64[B, R]; of several, the nearest to its last one."""
    flags = shown.flags[thing]
    start = np.where(memory["place"][..., thing] == NOWHERE, seen.cell, memory["place"][..., thing])
    size = seen.height[:, None, None], seen.width[:, None, None]
    far = distance(start[..., None], shown.cells, *size) if thing == PEOPLE else 0
    nearest = np.where(flags, far, np.iinfo(np.int64).max).argmin(-1)
    cell = np.take_along_axis(shown.cells, nearest[..., None], -1)[..., 0]
    return np.where(flags.any(-1), cell, NOWHERE)
