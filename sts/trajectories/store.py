"""Trajectories in Parquet: one row an episode, `trajectories/2`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from sts.domains import checked
from sts.episodes import Instruction, columns
from sts.errors import ArgumentError, DamagedData, UnknownName
from sts.storage import parquet
from sts.storage.files import canonical_json, content_hash, parsed_json, write_atomically
from sts.storage.workspace import Workspace
from sts.trajectories.types import Participant, Trajectory

FORMAT, VERSION = "trajectories", 2
GROUP = 256
"""Rows of a row group, which is what has to be read to find one."""
SCHEMA = {
    "id": pa.string(),
    "world": pa.string(),
    "split": pa.string(),
    "source": pa.string(),
    "people": pa.string(),
    "instructions": pa.string(),
    "provenance": pa.string(),
    **columns.EPISODE,
}


def write(path: Path, trajectories: Sequence[Trajectory]) -> None:
    """Writes trajectories to one file."""
    people = [[[p.kind, p.name] for p in t.participants] for t in trajectories]
    told = [[i.view() for i in t.instructions] for t in trajectories]
    rows = {
        "id": [t.id for t in trajectories],
        "world": [t.world for t in trajectories],
        "split": [t.split for t in trajectories],
        "source": [t.source for t in trajectories],
        "people": [canonical_json(p).decode() for p in people],
        "instructions": [canonical_json(i).decode() for i in told],
        "provenance": [canonical_json(t.provenance).decode() for t in trajectories],
    }
    episodes = columns.episode_columns([t.episode for t in trajectories])
    raw = parquet.packed(str(path), FORMAT, VERSION, SCHEMA, rows | episodes, group=GROUP)
    write_atomically(path, raw)


def export(
    path: Path,
    trajectories: Sequence[Trajectory],
    *,
    role: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Writes trajectories to one file, as every exporter is called.

    Raises:
      ArgumentError: a participant is asked for: this format holds all of them.
    """
    if role is not None:
        raise ArgumentError("--format parquet holds every participant: expected no --role")
    write(path, trajectories)
    if progress is not None:
        progress(len(trajectories), len(trajectories))


def read(path: Path) -> list[Trajectory]:
    """Returns the trajectories in one file.

    Raises:
      DamagedData: not such a file, or a row is not what its id says.
      NewerFormat: a later version.
    """
    return _held(path, parquet.read(path, FORMAT, VERSION, SCHEMA))


def _held(path: Path, table: pa.Table) -> list[Trajectory]:
    """Returns the trajectories in rows of a file, each held to its id and its world."""
    rows = table.drop_columns([*columns.EPISODE, "split"]).to_pylist()
    names = [f"{path}: trajectory {row['id']}" for row in rows]
    episodes = checked(columns.episodes(table), names, [row["world"] for row in rows])
    out = []
    for row, episode, name in zip(rows, episodes, names, strict=True):
        try:
            found = Trajectory(
                episode,
                tuple(Participant(*p) for p in parsed_json(row["people"], list)),
                tuple(Instruction(**i) for i in parsed_json(row["instructions"], list)),
                row["world"],
                row["source"],
                parsed_json(row["provenance"], dict),
            )
            mark, _ = found.id, found.split
        except (TypeError, ValueError, DamagedData) as error:
            raise DamagedData(f"{name}: {error}") from None
        if mark != row["id"]:
            raise DamagedData(f"{name} was altered: it hashes to {mark}")
        if len(found.participants) != episode.participants:
            raise DamagedData(f"{name} names other participants than it has")
        out.append(found)
    return out


def save(workspace: Workspace, trajectories: Sequence[Trajectory]) -> Path:
    """Writes trajectories to a file of the workspace named by what is in it; returns its path."""
    name = content_hash(*(t.id.encode() for t in trajectories))[:16]
    path = workspace.ensure().path("trajectories", f"{name}.parquet")
    write(path, trajectories)
    return path


def load(workspace: Workspace) -> list[Trajectory]:
    """Returns every trajectory of the workspace once, in order of file name and row."""
    found: dict[str, Trajectory] = {}
    for path in sorted(workspace.path("trajectories").glob("*.parquet")):
        for one in read(path):
            found.setdefault(one.id, one)
    return list(found.values())


def find(workspace: Workspace, id: str) -> Trajectory:
    """Returns the trajectory whose id begins with `id`; no other is read than is stored beside it.

    Raises:
      UnknownName: there is none, or more than one.
      DamagedData, NewerFormat: as `read` does.
    """
    every: dict[str, tuple[Path, int]] = {}
    for path in sorted(workspace.path("trajectories").glob("*.parquet")):
        there = path.stat()
        ids = _ids(path, there.st_ino, there.st_size, there.st_mtime_ns)
        for one, group in ids:
            every.setdefault(one, (path, group))
    hits = [one for one in every if one.startswith(id)]
    if len(hits) != 1 or not id:
        raise UnknownName("trajectory", id, hits or list(every), most=5)
    path, group = every[hits[0]]
    table, _ = parquet.sought(path, FORMAT, VERSION, SCHEMA, groups=[group])
    rows = np.flatnonzero([one == hits[0] for one in table.column("id").to_pylist()])
    if not rows.size:
        raise DamagedData(f"{path} was changed while it was read; start again")
    return _held(path, table.slice(rows[0], 1))[0]


@functools.lru_cache(maxsize=1024)
def _ids(path: Path, *of: int) -> list[tuple[str, int]]:
    """Returns the id of each trajectory in a file, and the row group that it stands in."""
    table, sizes = parquet.sought(path, FORMAT, VERSION, {"id": pa.string()}, groups=None)
    groups = [group for group, size in enumerate(sizes) for _ in range(size)]
    return list(zip(table.column("id").to_pylist(), groups, strict=True))
