"""Trajectories in Parquet: one row an episode, `trajectories/3`.

Those of one side stand in row groups of their own, so that who needs one side reads the other not
at all. A file of a workspace is held to its hashes once: beside it stands the SHA-256 of the file
that was found to be sound.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sts.domains import checked, domain
from sts.episodes import Episode, Instruction, columns
from sts.errors import ArgumentError, DamagedData, StsError, UnknownName
from sts.storage import arrow, parquet
from sts.storage.files import canonical_json, content_hash, parsed_json, write_atomically
from sts.storage.workspace import Workspace
from sts.trajectories.types import SIDES, Participant, Trajectory

FORMAT, VERSION = KIND = "trajectories", 3
GROUP = 4096
"""Rows of a row group, which is what has to be read to find one."""
SCHEMA = {
    "id": pa.string(),
    "place": pa.int32(),
    "world": pa.string(),
    "split": pa.string(),
    "height": pa.int32(),
    "width": pa.int32(),
    "source": pa.string(),
    "people": pa.string(),
    "instructions": pa.string(),
    "provenance": pa.string(),
    **columns.EPISODE,
}
_TOLD_ANEW = ("split", "height", "width")


def write(path: Path, trajectories: Sequence[Trajectory]) -> None:
    """Write trajectories to one file."""
    write_atomically(path, _packed(path, trajectories))


def _packed(path: Path, trajectories: Sequence[Trajectory]) -> bytes:
    """Return the bytes of a file of trajectories, those of one side before the other."""
    sides = np.array([SIDES.index(t.split) for t in trajectories], np.int8)
    order = np.argsort(sides, kind="stable")
    rows = columns_of([trajectories[i] for i in order.tolist()])
    rows["place"] = arrow.of_numpy(order.astype(np.int32))
    apart = int((sides == 0).sum())
    return parquet.packed(str(path), FORMAT, VERSION, SCHEMA, rows, group=GROUP, apart=apart)


def columns_of(every: Sequence[Trajectory]) -> dict[str, Any]:
    """Return the columns of `SCHEMA` for trajectories, but for their places."""
    people = [[[p.kind, p.name] for p in t.participants] for t in every]
    told = [[i.view() for i in t.instructions] for t in every]
    sizes = np.array(_sizes([t.episode for t in every]), np.int32).reshape(-1, 2)
    rows = {
        "id": [t.id for t in every],
        "world": [t.world for t in every],
        "split": [t.split for t in every],
        "height": arrow.of_numpy(sizes[:, 0]),
        "width": arrow.of_numpy(sizes[:, 1]),
        "source": [t.source for t in every],
        "people": [canonical_json(p).decode() for p in people],
        "instructions": [canonical_json(i).decode() for i in told],
        "provenance": [canonical_json(t.provenance).decode() for t in every],
    }
    return rows | columns.episode_columns([t.episode for t in every])


def _sizes(episodes: Sequence[Episode]) -> list[tuple[int, int]]:
    """Return the height and width of each episode's pictures; 0 where it has none here."""
    worlds = [(one.domain, one.state) for one in episodes]
    made = {world: _size(*world) for world in dict.fromkeys(worlds)}
    return [made[world] for world in worlds]


def _size(name: str, state: bytes) -> tuple[int, int]:
    try:
        picture = domain(name).picture(state)
    except StsError:
        return 0, 0
    return picture.height, picture.width


def export(
    path: Path,
    trajectories: Sequence[Trajectory],
    *,
    role: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write trajectories to one file, as every exporter is called; it holds every participant."""
    if role is not None:
        raise ArgumentError("--format parquet holds every participant: expected no --role")
    write(path, trajectories)
    if progress is not None:
        progress(len(trajectories), len(trajectories))


def read(path: Path) -> list[Trajectory]:
    """Return the trajectories in one file, in the order in which they were given.

    Raises:
      DamagedData: not such a file, or a row is not what its id says.
      NewerFormat: a later version.
    """
    return _in_order(path, parquet.read(path, FORMAT, VERSION, SCHEMA), sound=False)


def _in_order(path: Path, table: pa.Table, *, sound: bool) -> list[Trajectory]:
    made = rows_of(path, table, sound=sound)
    places = arrow.as_numpy(table.column("place").combine_chunks())
    return [made[i] for i in np.argsort(places, kind="stable").tolist()]


def rows_of(path: Path, table: pa.Table, *, sound: bool) -> list[Trajectory]:
    """Return the trajectories in rows of a file, all columns of `SCHEMA`; errors as of `read`.

    Rows that were not found to be `sound` before are held to their ids and their worlds.
    """
    rows = table.drop_columns([*columns.EPISODE, *_TOLD_ANEW]).to_pylist()
    episodes = columns.episodes(table)
    out = []
    for row, episode in zip(rows, episodes, strict=True):
        try:
            found = Trajectory(
                episode,
                tuple(Participant(*p) for p in parsed_json(row["people"], list)),
                tuple(Instruction(**i) for i in parsed_json(row["instructions"], list)),
                row["world"],
                row["source"],
                parsed_json(row["provenance"], dict),
            )
        except (TypeError, ValueError, DamagedData) as error:
            raise DamagedData(f"{path}: trajectory {row['id']}: {error}") from None
        if sound:
            vars(found)["id"] = row["id"]
        out.append(found)
    if not sound:
        _check_rows(path, table, out)
    return out


def _check_rows(path: Path, table: pa.Table, made: Sequence[Trajectory]) -> None:
    """Refuses rows that are not what they say."""
    ids = table.column("id").to_pylist()
    names = [f"{path}: trajectory {id}" for id in ids]
    check_worlds(made, names)
    stated = zip(*(table.column(one).to_pylist() for one in _TOLD_ANEW), strict=True)
    sizes = _sizes([t.episode for t in made])
    for id, one, name, own, (split, *size) in zip(ids, made, names, sizes, stated, strict=True):
        if one.id != id:
            raise DamagedData(f"{name} was altered: it hashes to {one.id}")
        unknown = (0, 0) in (own, tuple(size))  # here, or where it was written
        if one.split != split or not (unknown or own == tuple(size)):
            raise DamagedData(f"{name} was altered: its split or size is another")


def check_worlds(made: Sequence[Trajectory], names: Sequence[str]) -> None:
    """Refuse trajectories that do not fit their worlds; `names` is what an error calls them."""
    checked([t.episode for t in made], names, [t.world for t in made])
    for one, name in zip(made, names, strict=True):
        try:
            _ = one.split
        except ValueError as error:
            raise DamagedData(f"{name}: {error}") from None
        if len(one.participants) != one.episode.participants:
            raise DamagedData(f"{name} names other participants than it has")


def save(workspace: Workspace, trajectories: Sequence[Trajectory]) -> Path:
    """Write trajectories, held to their worlds, to a file of the workspace; return its path."""
    check_worlds(trajectories, [f"trajectory {t.id}" for t in trajectories])
    name = content_hash(*(t.id.encode() for t in trajectories))[:16]
    path = workspace.ensure().path("trajectories", f"{name}.parquet")
    raw = _packed(path, trajectories)
    write_atomically(path, raw)
    _remember(path, raw)
    return path


def files(workspace: Workspace) -> list[Path]:
    """Return the files of a workspace's trajectories, in order of name."""
    return sorted(workspace.path("trajectories").glob("*.parquet"))


def load(workspace: Workspace) -> list[Trajectory]:
    """Return every trajectory of the workspace once, in order of file name and place.

    A file that was found to be sound is not held to its hashes again.
    """
    found: dict[str, Trajectory] = {}
    for path in files(workspace):
        raw = parquet.raw_bytes(path)
        sound = _remembered(path, raw)
        table = parquet.unpacked(str(path), raw, FORMAT, VERSION, SCHEMA)
        for one in _in_order(path, table, sound=sound):
            found.setdefault(one.id, one)
        if not sound:
            _remember(path, raw)
    return list(found.values())


def ensure_sound(path: Path) -> None:
    """Hold a file of a workspace to its hashes, unless that was done; errors as of `read`."""
    raw = parquet.raw_bytes(path)
    if not _remembered(path, raw):
        _in_order(path, parquet.unpacked(str(path), raw, FORMAT, VERSION, SCHEMA), sound=False)
        _remember(path, raw)


def _mark(raw: bytes) -> bytes:
    return f"{FORMAT}/{VERSION} {hashlib.sha256(raw).hexdigest()}\n".encode()


def _remember(path: Path, raw: bytes) -> None:
    """Note that a file was found to be sound; nothing where that cannot be written."""
    with suppress(OSError):
        write_atomically(path.with_suffix(".sound"), _mark(raw))


def _remembered(path: Path, raw: bytes) -> bool:
    """Return whether a file with these bytes was found to be sound."""
    try:
        there = path.with_suffix(".sound").read_bytes()
    except OSError:
        return False
    return there == _mark(raw)


def find(workspace: Workspace, id: str) -> Trajectory:
    """Return the trajectory whose id begins with `id`; no other is read than is stored beside it.

    Raises:
      UnknownName: there is none, or more than one.
    """
    every: dict[str, tuple[Path, int]] = {}
    for path in files(workspace):
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
    return rows_of(path, table.slice(rows[0], 1), sound=False)[0]


@functools.lru_cache(maxsize=1024)
def _ids(path: Path, *of: int) -> list[tuple[str, int]]:
    """Return the id of each trajectory in a file, and the row group that it stands in."""
    table, sizes = parquet.sought(path, FORMAT, VERSION, {"id": pa.string()}, groups=None)
    groups = [group for group, size in enumerate(sizes) for _ in range(size)]
    return list(zip(table.column("id").to_pylist(), groups, strict=True))
