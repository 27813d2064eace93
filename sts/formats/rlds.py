"""The exporter `rlds`: one row a step, with the column names of RLDS.

Source: Ramos et al. 2021, "RLDS: an Ecosystem to Generate, Share and Use Datasets in Reinforcement
Learning", for the names and for the meaning of an episode's last row; `language_instruction` is the
name in the data sets of Open X-Embodiment.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sts.domains import action_space, load_domain, reward_values
from sts.storage.files import canonical_json, write_atomically
from sts.trajectories.observed import (
    ObservedTrajectory,
    Progress,
    describe_steps,
    iter_observations,
)
from sts.trajectories.trajectory import Trajectory

FORMAT = "rlds/3"
BUFFERED_ROWS = 2**16
"""Number of rows that are buffered before they are written."""


def write(
    path: Path,
    trajectories: Sequence[Trajectory],
    *,
    player: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Write the observations, actions and rewards of player `player`, or 0.

    Each trajectory has T + 1 rows. Errors are those of `observed`.
    """
    sink, writer = io.BytesIO(), None
    buffered: list[pa.RecordBatch] = []
    for replay in iter_observations(trajectories, player, progress):
        batch = _rows(replay, player or 0)
        if writer is None:
            schema = batch.schema.with_metadata(_metadata(replay, player or 0))
            writer = pq.ParquetWriter(sink, schema, compression="zstd")
        buffered.append(batch.replace_schema_metadata(schema.metadata))
        if sum(b.num_rows for b in buffered) >= BUFFERED_ROWS:
            writer.write_table(pa.Table.from_batches(buffered))
            buffered = []
    assert writer is not None  # observed rejects an empty sequence
    if buffered:
        writer.write_table(pa.Table.from_batches(buffered))
    writer.close()
    write_atomically(path, sink.getvalue())


def _metadata(replay: ObservedTrajectory, player: int) -> dict[str, str]:
    """Return the metadata of the schema; values that are not plain text are JSON."""
    domain = load_domain(replay.trajectory.episode.domain)
    shapes = {name: list(a.shape[1:]) for name, a in replay.values.items() if a.ndim > 2}
    if len(action_space(domain).shape) > 1:
        shapes["action"] = list(action_space(domain).shape)
    return {
        "sts.format": FORMAT,
        "sts.domain": domain.name,
        "sts.role": str(player),
        "sts.actions": canonical_json(
            list(domain.action_names) or action_space(domain).describe()
        ).decode(),
        "sts.shapes": canonical_json(shapes).decode(),
    }


def _rows(replay: ObservedTrajectory, player: int) -> pa.RecordBatch:
    """Return T + 1 rows; the last has no action."""
    episode = replay.trajectory.episode
    steps, domain = episode.steps, load_domain(episode.domain)
    actions = episode.actions[:, player]
    last = np.arange(steps + 1) == steps
    columns: dict[str, pa.Array] = {
        "episode_id": pa.array([replay.trajectory.id] * (steps + 1), pa.string()),
        "step": pa.array(np.arange(steps + 1, dtype=np.int32)),
    }
    columns |= {f"observation.{name}": _column(array) for name, array in replay.values.items()}
    columns |= {
        name: pa.array(values, pa.bool_() if name == "is_person" else pa.string())
        for name, values in describe_steps(replay.trajectory, player).items()
    }
    done = {
        "action": actions.astype(np.int64) if domain.action_names else actions,
        "reward": reward_values(domain, episode.rewards[:, player]),
        "discount": np.where(replay.ended[1:], 0.0, 1.0),
    }
    columns |= {name: _with_empty_last(array) for name, array in done.items()}
    chosen = replay.trajectory.intended
    intended = [None] * steps if chosen is None else chosen[:, player].tolist()
    columns["intended_action"] = pa.array([*intended, None], pa.int64())
    columns["is_first"] = pa.array(np.arange(steps + 1) == 0)
    columns["is_last"] = pa.array(last)
    columns["is_terminal"] = pa.array(last & replay.ended)
    return pa.RecordBatch.from_pydict(columns)


def _column(array: NDArray[Any], gone: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return one value or one flat list of fixed length a row; None in the rows `gone`."""
    if array.ndim == 1:
        return pa.array(array, mask=gone)
    flat = np.ascontiguousarray(array).reshape(len(array), -1)
    mask = None if gone is None else pa.array(gone)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat.ravel()), flat.shape[1], mask=mask)


def _with_empty_last(array: NDArray[Any]) -> pa.Array:
    more = np.zeros((1, *array.shape[1:]), array.dtype)
    return _column(np.concatenate((array, more)), np.arange(len(array) + 1) == len(array))
