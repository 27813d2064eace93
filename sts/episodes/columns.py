"""Episodes as columns of a table.

An episode is one row. Its step columns are flat lists (row-major), so that Arrow keeps one long
array and the offsets; `steps`, `participants` and `objects` give the shapes back.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sts.episodes.types import Episode
from sts.errors import DamagedData
from sts.storage.parquet import lists, of_numpy, texts, unlist

EPISODE = {
    "domain": pa.string(),
    "state": pa.binary(),
    "steps": pa.int32(),
    "participants": pa.int32(),
    "objects": pa.int32(),
    "moves": pa.list_(pa.int8()),
    "says": pa.list_(pa.int8()),
    "rewards": pa.list_(pa.int8()),
    "scene": pa.list_(pa.uint16()),
}


def episode_columns(episodes: Sequence[Episode]) -> dict[str, pa.Array]:
    """Returns the columns of EPISODE for `episodes`."""
    shapes = np.array([(e.steps, e.participants, e.scene.shape[1]) for e in episodes], np.int32)
    steps, participants, objects = map(of_numpy, shapes.reshape(-1, 3).T)
    return {
        "domain": texts([e.domain for e in episodes]),
        "state": texts([e.state for e in episodes]).cast(pa.binary()),
        "steps": steps,
        "participants": participants,
        "objects": objects,
        **{
            name: lists([getattr(e, name) for e in episodes], EPISODE[name].value_type)
            for name in ("moves", "says", "rewards", "scene")
        },
    }


def episodes(table: pa.Table) -> list[Episode]:
    """Returns the episode in each row.

    Raises:
      DamagedData: a row's columns do not agree in length.
    """
    shapes = [table.column(n).to_pylist() for n in ("steps", "participants", "objects")]
    flat = [unlist(table, n) for n in ("moves", "says", "rewards", "scene")]
    domains, states = table.column("domain").to_pylist(), table.column("state").to_pylist()
    out = []
    for i, (steps, people, objects) in enumerate(zip(*shapes, strict=True)):
        try:
            moves, says, rewards = (column[i].reshape(steps, people) for column in flat[:3])
            scene = flat[3][i].reshape(steps + 1, objects)
        except ValueError:
            raise DamagedData(f"row {i}: its step columns do not have {steps} steps") from None
        out.append(Episode(domains[i], states[i], moves, says, rewards, scene))
    return out
