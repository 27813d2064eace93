"""Columns of recorded trajectories, of one row group of a file or of a list in memory.

Mining scans millions of steps in these arrays and builds a `Trajectory` only for selected rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sts.errors import DamagedData
from sts.storage import arrow, parquet
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from sts.trajectories.trajectory import Trajectory

MAX_EPISODES = 1024
"""Maximum number of episodes in one batch of `TrajectoryColumns.batches`."""
_TEXTS = ("id", "domain", "world", "source", "people", "provenance")
_NUMBERS = ("steps", "participants", "objects", "height", "width")


class FilePart(NamedTuple):
    """A row group of a file of trajectories, all of one split.

    `duplicates` are the rows whose trajectories an earlier part holds, too.
    """

    path: Path
    group: int
    rows: int
    duplicates: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class MemoryPart:
    """Trajectories in memory, with the interface of a `FilePart`."""

    trajectories: tuple[Trajectory, ...]
    duplicates: frozenset[int] = frozenset()

    @property
    def rows(self) -> int:
        """The number of trajectories."""
        return len(self.trajectories)


Part = FilePart | MemoryPart
"""Trajectories that are scanned at once."""


class RecordedParts(NamedTuple):
    """The trajectory files of a workspace."""

    parts: list[FilePart]  # of the requested split
    rows: int  # number of trajectories of both splits
    first_rows: dict[str, list[tuple[FilePart, int]]]  # of each domain, its first row in each file


@dataclass(frozen=True, eq=False)
class EpisodeBatch:
    """E episodes of one domain and size: H x W, T steps, P players."""

    height: int
    width: int
    n_players: int
    scene: NDArray[np.uint16]  # uint16[E, T + 1, K], the state snapshot at each frame


@dataclass(frozen=True, eq=False)
class TrajectoryColumns:
    """The trajectories of a part as columns of one value each."""

    part: Part
    rows: NDArray[np.int64]  # int64, the row of each in the part
    texts: dict[str, list[str]]  # a list for each name in `_TEXTS`
    numbers: dict[str, NDArray[np.int32]]  # int32 for each name in `_NUMBERS`
    scene: NDArray[np.uint16]  # uint16, all scenes concatenated
    ends: NDArray[np.int64]  # int64, the end of each in `scene`

    def batches(self) -> Iterator[tuple[str, NDArray[np.int64], EpisodeBatch]]:
        """Yield (domain, positions, batch) of each domain and size; unknown sizes are left out.

        Batches are small enough for the processor's cache.
        """
        domains, code = np.unique(np.array(self.texts["domain"]), return_inverse=True)
        numbers = (self.numbers[name] for name in _NUMBERS)
        keys, group = np.unique(np.stack([code, *numbers], 1), axis=0, return_inverse=True)
        for n, (domain, steps, people, objects, height, width) in enumerate(keys.tolist()):
            if not height or not width:
                continue
            members, length = np.flatnonzero(group.reshape(-1) == n), (steps + 1) * objects
            for first in range(0, len(members), MAX_EPISODES):
                positions = members[first : first + MAX_EPISODES]
                scene = self.scene[(self.ends[positions] - length)[:, None] + np.arange(length)]
                shaped = scene.reshape(len(positions), steps + 1, objects)
                yield str(domains[domain]), positions, EpisodeBatch(height, width, people, shaped)

    def load(self, places: Sequence[int]) -> list[Trajectory]:
        """Return the trajectories at these positions."""
        return read_rows(self.part, self.rows[list(places)].tolist())


def list_parts(workspace: Workspace, split: str) -> RecordedParts:
    """Return the parts of one split of a workspace's files, sorted by file name.

    Each file is verified against its hashes, unless that was done before; errors as of
    `store.read`.
    """
    parts: list[FilePart] = []
    firsts: dict[str, list[tuple[FilePart, int]]] = {}
    rows, seen_ids = 0, set[str]()
    for path in store.list_files(workspace):
        store.ensure_verified(path)
        spans = parquet.read_ranges(path, "split")
        rows += sum(span.rows for span in spans)
        file_parts = [
            FilePart(path, group, span.rows) for group, span in enumerate(spans) if span.rows
        ]
        for domain, first in _first_rows(file_parts).items():
            firsts.setdefault(domain, []).append(first)
        for part in file_parts:
            if spans[part.group].minimum == split:
                ids = _table(part, ("id",)).column("id").to_pylist()
                duplicates = frozenset(row for row, id in enumerate(ids) if id in seen_ids)
                seen_ids.update(ids)
                parts.append(part._replace(duplicates=duplicates))
    return RecordedParts(parts, rows, firsts)


def describe_rows(workspace: Workspace, split: str, most: int) -> dict[str, str]:
    """Return a line on each trajectory of a split by id, at most `most` of them."""
    lines: dict[str, str] = {}
    for part in list_parts(workspace, split).parts:
        table = _table(part, ("id", "domain", "source", "steps"))
        for row in table.to_pylist():
            if len(lines) < most:
                lines[row["id"]] = "{source} ({domain}, {steps} steps)".format(**row)
    return lines


def _first_rows(parts: Sequence[FilePart]) -> dict[str, tuple[FilePart, int]]:
    """Return the first row of each domain in a file."""
    firsts: dict[str, tuple[FilePart, int]] = {}
    for part in parts:
        column = _table(part, ("domain",)).column("domain").combine_chunks()
        codes = arrow.to_numpy(column.dictionary_encode().indices)
        for row in np.unique(codes, return_index=True)[1].tolist():
            firsts.setdefault(column[row].as_py(), (part, row))
    return firsts


def read_columns(part: Part) -> TrajectoryColumns:
    """Return the columns of a part, which is unchanged since `list_parts`, without the actions."""
    table = _table(part, (*_TEXTS, *_NUMBERS, "scene"))
    rows = np.array([row for row in range(part.rows) if row not in part.duplicates], np.int64)
    scene = table.column("scene").combine_chunks()
    ends = np.cumsum(arrow.to_numpy(scene.value_lengths()), dtype=np.int64)
    numbers = {name: arrow.to_numpy(table.column(name).combine_chunks()) for name in _NUMBERS}
    lengths = (numbers["steps"].astype(np.int64) + 1) * numbers["objects"]
    if isinstance(part, FilePart) and not np.array_equal(np.diff(ends, prepend=0), lengths):
        raise DamagedData(f"{part.path}: the lengths of its scenes do not match its steps")
    texts = {name: table.column(name).to_pylist() for name in _TEXTS}
    return TrajectoryColumns(
        part,
        rows,
        {name: [column[row] for row in rows.tolist()] for name, column in texts.items()},
        {name: column[rows] for name, column in numbers.items()},
        arrow.to_numpy(scene.flatten()),
        ends[rows],
    )


def read_rows(part: Part, rows: Sequence[int]) -> list[Trajectory]:
    """Return the trajectories in rows of a part; errors as of `read_columns`."""
    if isinstance(part, MemoryPart):
        return [part.trajectories[row] for row in rows]
    table = _table(part, tuple(store.SCHEMA))
    selected = pa.concat_tables(table.slice(row, 1) for row in rows) if rows else table.slice(0, 0)
    return store.decode_rows(part.path, selected.combine_chunks(), sound=True)


def _table(part: Part, names: Sequence[str]) -> pa.Table:
    schema = {name: store.SCHEMA[name] for name in names}
    if isinstance(part, MemoryPart):
        columns = store.encode_columns(part.trajectories)
        return pa.table([columns[name] for name in names], schema=pa.schema(schema))
    table, sizes = parquet.read_groups(part.path, *store.KIND, schema, groups=[part.group])
    if len(sizes) <= part.group or table.num_rows != part.rows:
        raise DamagedData(f"{part.path} changed while it was being read; start again")
    return table
