"""Trajectories in Parquet: one row an episode, `trajectories/4`.

The two splits are in separate row groups, so that reading one skips the other. A file of a
workspace is verified against its hashes once; a `.sound` file next to it then holds the SHA-256 of
the verified bytes.
"""

import functools
import hashlib
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sts.domains import load_domain, validate_episodes
from sts.episodes import Episode, Instruction, columns
from sts.errors import ArgumentError, DamagedData, StsError, UnknownName
from sts.storage import arrow, parquet
from sts.storage.files import canonical_json, content_hash, parse_versioned_json, write_atomically
from sts.storage.workspace import Workspace
from sts.trajectories.trajectory import SPLITS, Player, Trajectory

FORMAT, VERSION = KIND = "trajectories", 4
ROWS_PER_GROUP = 4096
"""Rows of a row group, the least that is read to find one trajectory."""
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
    "intended": pa.list_(pa.int8()),
    **columns.EPISODE_SCHEMA,
}
_DERIVED_COLUMNS = ("split", "height", "width")


def _encode(path: Path, trajectories: Sequence[Trajectory]) -> bytes:
    """Return the bytes of a file of trajectories, with the train split first."""
    splits = np.array([SPLITS.index(t.split) for t in trajectories], np.int8)
    order = np.argsort(splits, kind="stable")
    rows = encode_columns([trajectories[i] for i in order.tolist()])
    rows["place"] = arrow.from_numpy(order.astype(np.int32))
    n_first = int((splits == 0).sum())
    return parquet.encode_table(
        str(path), *KIND, SCHEMA, rows, group_rows=ROWS_PER_GROUP, first_group_rows=n_first
    )


def encode_columns(trajectories: Sequence[Trajectory]) -> dict[str, Any]:
    """Return the columns of `SCHEMA` for trajectories, except `place`."""
    people = [[[p.kind, p.name] for p in t.players] for t in trajectories]
    instructions = [[i.to_json() for i in t.instructions] for t in trajectories]
    sizes = np.array(_sizes([t.episode for t in trajectories]), np.int32).reshape(-1, 2)
    rows = {
        "id": [t.id for t in trajectories],
        "world": [t.world for t in trajectories],
        "split": [t.split for t in trajectories],
        "height": arrow.from_numpy(sizes[:, 0]),
        "width": arrow.from_numpy(sizes[:, 1]),
        "source": [t.source for t in trajectories],
        "people": [canonical_json(p).decode() for p in people],
        "instructions": [canonical_json(i).decode() for i in instructions],
        "provenance": [canonical_json(t.provenance).decode() for t in trajectories],
        "intended": arrow.to_list_column([_flat_intended(t) for t in trajectories], pa.int8()),
    }
    return rows | columns.episodes_to_columns([t.episode for t in trajectories])


def _flat_intended(trajectory: Trajectory) -> NDArray[np.int8]:
    """Return the intended moves, T x P in a row; empty if they are unknown."""
    intended = trajectory.intended
    return np.empty(0, np.int8) if intended is None else intended.ravel()


def _sizes(episodes: Sequence[Episode]) -> list[tuple[int, int]]:
    """Return the height and width of each episode's pictures; 0 if it has none here."""
    worlds = [(episode.domain, episode.state) for episode in episodes]
    sizes = {world: _size(*world) for world in dict.fromkeys(worlds)}
    return [sizes[world] for world in worlds]


def _size(name: str, state: bytes) -> tuple[int, int]:
    try:
        picture = load_domain(name).scene_layout(state)
    except StsError:
        return 0, 0
    return picture.height, picture.width


def export(
    path: Path,
    trajectories: Sequence[Trajectory],
    *,
    player: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write trajectories to one file, with the signature of an exporter; `player` must be None."""
    if player is not None:
        raise ArgumentError(
            "--player cannot be combined with --format parquet, which exports every player"
        )
    write_atomically(path, _encode(path, trajectories))
    if progress is not None:
        progress(len(trajectories), len(trajectories))


def read(path: Path) -> list[Trajectory]:
    """Return the trajectories in one file, in the order in which they were written.

    Raises:
      DamagedData: not such a file, or a row does not match its id.
      NewerFormat: a later version.
    """
    return _sort_rows(path, parquet.read_table(path, FORMAT, VERSION, SCHEMA), sound=False)


def _sort_rows(path: Path, table: pa.Table, *, sound: bool) -> list[Trajectory]:
    trajectories = decode_rows(path, table, sound=sound)
    places = arrow.to_numpy(table.column("place").combine_chunks())
    return [trajectories[i] for i in np.argsort(places, kind="stable").tolist()]


def decode_rows(path: Path, table: pa.Table, *, sound: bool) -> list[Trajectory]:
    """Return the trajectories in rows of a file, all columns of `SCHEMA`; errors as of `read`.

    Unless they are `sound`, that is, verified before, rows are checked against ids and worlds.
    """
    dropped = [*columns.EPISODE_SCHEMA, *_DERIVED_COLUMNS, "intended"]
    rows = table.drop_columns(dropped).to_pylist()
    episodes, intended = columns.table_to_episodes(table), columns.list_values(table, "intended")
    trajectories = []
    for row, episode, moves in zip(rows, episodes, intended, strict=True):
        try:
            trajectory = Trajectory(
                episode,
                tuple(Player(*p) for p in parse_versioned_json(row["people"], list)),
                tuple(Instruction(**i) for i in parse_versioned_json(row["instructions"], list)),
                row["world"],
                row["source"],
                parse_versioned_json(row["provenance"], dict),
                moves.reshape(episode.steps, episode.n_players) if moves.size else None,
            )
        except (TypeError, ValueError, DamagedData) as error:
            raise DamagedData(f"{path}: trajectory {row['id']}: {error}") from None
        if sound:
            vars(trajectory)["id"] = row["id"]
        trajectories.append(trajectory)
    if not sound:
        _check_rows(path, table, trajectories)
    return trajectories


def _check_rows(path: Path, table: pa.Table, trajectories: Sequence[Trajectory]) -> None:
    """Raise DamagedData if rows do not match their ids, splits or sizes."""
    ids = table.column("id").to_pylist()
    names = [f"{path}: trajectory {id}" for id in ids]
    check_worlds(trajectories, names)
    stated = zip(*(table.column(column).to_pylist() for column in _DERIVED_COLUMNS), strict=True)
    sizes = _sizes([t.episode for t in trajectories])
    rows = zip(ids, trajectories, names, sizes, stated, strict=True)
    for id, trajectory, name, actual, (split, *size) in rows:
        if trajectory.id != id:
            raise DamagedData(f"{name} has been modified: its hash is {trajectory.id}")
        unknown = (0, 0) in (actual, tuple(size))  # unknown here, or where it was written
        if trajectory.split != split or not (unknown or actual == tuple(size)):
            raise DamagedData(f"{name} has been modified: its split or size does not match")


def check_worlds(trajectories: Sequence[Trajectory], names: Sequence[str]) -> None:
    """Raise an error if trajectories do not fit their worlds; `names` identify them in it."""
    validate_episodes([t.episode for t in trajectories], names, [t.world for t in trajectories])
    intended = {
        name: replace(t.episode, actions=t.intended)
        for t, name in zip(trajectories, names, strict=True)
        if t.intended is not None
    }
    if intended:
        validate_episodes([*intended.values()], [*intended])
    for trajectory, name in zip(trajectories, names, strict=True):
        try:
            _ = trajectory.split
        except ValueError as error:
            raise DamagedData(f"{name}: {error}") from None
        if len(trajectory.players) != trajectory.episode.n_players:
            raise DamagedData(f"{name} does not list as many players as it has")
        if any((i.player or 0) >= trajectory.episode.n_players for i in trajectory.instructions):
            raise DamagedData(f"{name} has an instruction to a player that it does not have")


def save(workspace: Workspace, trajectories: Sequence[Trajectory]) -> Path:
    """Check trajectories against their worlds and write a workspace file; return its path."""
    check_worlds(trajectories, [f"trajectory {t.id}" for t in trajectories])
    name = content_hash(*(t.id.encode() for t in trajectories))[:16]
    path = workspace.create().path("trajectories", f"{name}.parquet")
    raw = _encode(path, trajectories)
    write_atomically(path, raw)
    _record_verified(path, raw)
    return path


def list_files(workspace: Workspace) -> list[Path]:
    """Return the files of a workspace's trajectories, sorted by name."""
    return sorted(workspace.path("trajectories").glob("*.parquet"))


def load(workspace: Workspace) -> list[Trajectory]:
    """Return every trajectory of the workspace once, in order of file name and place.

    Files that were verified before are not checked again.
    """
    by_id: dict[str, Trajectory] = {}
    for path in list_files(workspace):
        raw = parquet.read_raw(path)
        sound = _is_verified(path, raw)
        table = parquet.decode_table(str(path), raw, FORMAT, VERSION, SCHEMA)
        for trajectory in _sort_rows(path, table, sound=sound):
            by_id.setdefault(trajectory.id, trajectory)
        if not sound:
            _record_verified(path, raw)
    return list(by_id.values())


def erase(workspace: Workspace, ids: Collection[str]) -> None:
    """Erase trajectories from all files of the workspace."""
    for path in list_files(workspace):
        stored = read(path)
        kept = [trajectory for trajectory in stored if trajectory.id not in ids]
        if not kept:
            path.unlink()
            path.with_suffix(".sound").unlink(missing_ok=True)
        elif len(kept) < len(stored):
            write_atomically(path, _encode(path, kept))


def ensure_verified(path: Path) -> None:
    """Verify a file of a workspace, unless that was done before; errors as of `read`."""
    raw = parquet.read_raw(path)
    if not _is_verified(path, raw):
        _sort_rows(path, parquet.decode_table(str(path), raw, FORMAT, VERSION, SCHEMA), sound=False)
        _record_verified(path, raw)


def _verification_mark(raw: bytes) -> bytes:
    return f"{FORMAT}/{VERSION} {hashlib.sha256(raw).hexdigest()}\n".encode()


def _record_verified(path: Path, raw: bytes) -> None:
    """Record that a file was verified, if that can be written."""
    with suppress(OSError):
        write_atomically(path.with_suffix(".sound"), _verification_mark(raw))


def _is_verified(path: Path, raw: bytes) -> bool:
    """Return True if a file with these bytes was verified before."""
    try:
        recorded = path.with_suffix(".sound").read_bytes()
    except OSError:
        return False
    return recorded == _verification_mark(raw)


def find_trajectory(workspace: Workspace, id: str) -> Trajectory:
    """Return the trajectory whose id begins with `id`; reads only its row group.

    Raises:
      UnknownName: there is none, or more than one.
      StsError: it was erased.
    """
    places: dict[str, tuple[Path, int]] = {}
    for path in list_files(workspace):
        stat = path.stat()
        for full_id, group in _read_ids(path, stat.st_ino, stat.st_size, stat.st_mtime_ns):
            places.setdefault(full_id, (path, group))
    hits = [full_id for full_id in places if full_id.startswith(id)]
    if not hits and id and (log := workspace.path("live", "erased.jsonl")).exists():
        line = rf'"date":"([^"]*)".*"trajectory":"{re.escape(id)}'
        if erased := re.search(line, log.read_text()):
            raise StsError(f"trajectory {id} was erased on {erased[1]}")
    if len(hits) != 1 or not id:
        raise UnknownName("trajectory", id, hits or list(places), most=5)
    path, group = places[hits[0]]
    table, _ = parquet.read_groups(path, FORMAT, VERSION, SCHEMA, groups=[group])
    rows = np.flatnonzero([value == hits[0] for value in table.column("id").to_pylist()])
    if not rows.size:
        raise DamagedData(f"{path} changed while it was being read; start again")
    return decode_rows(path, table.slice(rows[0], 1), sound=False)[0]


@functools.lru_cache(maxsize=1024)
def _read_ids(path: Path, *of: int) -> list[tuple[str, int]]:
    """Return the id and row group of each trajectory in a file; `of` identifies its content."""
    table, sizes = parquet.read_groups(path, FORMAT, VERSION, {"id": pa.string()}, groups=None)
    groups = [group for group, size in enumerate(sizes) for _ in range(size)]
    return list(zip(table.column("id").to_pylist(), groups, strict=True))
