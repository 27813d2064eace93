"""Continuations in Parquet, `continuations/2`: a folder an agent, a file a scenario and seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sts.continuations.types import Continuation, Identity
from sts.domains import checked
from sts.episodes import Instruction, columns
from sts.errors import DamagedData, UnknownName
from sts.storage import parquet
from sts.storage.files import canonical_json, parsed_json
from sts.storage.workspace import Workspace

FORMAT, VERSION = "continuations", 2
SCHEMA = {
    "id": pa.string(),
    "content_hash": pa.string(),
    "scenario": pa.string(),
    "agent": pa.string(),
    "fingerprint": pa.string(),
    "seed": pa.int64(),
    "index": pa.int32(),
    "scenario_id": pa.string(),
    "category": pa.string(),
    "kind": pa.string(),
    "instruction": pa.string(),
    "heard": pa.string(),
    "roles": pa.list_(pa.int32()),
    "takeover": pa.int32(),
    "horizon": pa.int32(),
    "sees": pa.string(),
    "deterministic": pa.bool_(),
    "batch_sensitive": pa.bool_(),
    "log_probs": pa.list_(pa.float32()),
    "seconds": pa.float64(),
    "provenance": pa.string(),
    **columns.EPISODE,
}
_IDENTITY = ("scenario", "agent", "fingerprint", "seed", "index")
_PLAIN = (
    "scenario_id category kind takeover horizon sees deterministic batch_sensitive seconds"
).split()


def path_of(workspace: Workspace, identity: Identity) -> Path:
    """Returns the file that holds the continuations of one scenario, agent and seed."""
    folder = f"{identity.agent}-{identity.fingerprint}"
    return workspace.path(
        "continuations", folder, f"{identity.scenario[:24]}-{identity.seed}.parquet"
    )


def save(workspace: Workspace, continuations: Sequence[Continuation]) -> None:
    """Adds continuations to their files; one that is there already stays as it is."""
    files: dict[Path, list[Continuation]] = defaultdict(list)
    for one in continuations:
        files[path_of(workspace, one.identity)].append(one)
    for path, fresh in files.items():
        with workspace.ensure().locked():  # two runs may add to one file
            kept = {one.id: one for one in (*fresh, *(read(path) if path.exists() else ()))}
            write(path, sorted(kept.values(), key=lambda one: one.identity.index))


def write(path: Path, continuations: Sequence[Continuation]) -> None:
    """Writes continuations to one file."""
    rows: dict[str, Any] = {n: [getattr(c.identity, n) for c in continuations] for n in _IDENTITY}
    rows |= {n: [getattr(c, n) for c in continuations] for n in ("id", "content_hash", *_PLAIN)}
    rows |= {
        "instruction": [canonical_json(c.instruction.view()).decode() for c in continuations],
        "heard": [canonical_json([i.view() for i in c.heard]).decode() for c in continuations],
        "roles": [list(c.roles) for c in continuations],
        "log_probs": parquet.lists([c.log_probs for c in continuations], pa.float32()),
        "provenance": [canonical_json(c.provenance).decode() for c in continuations],
    }
    episodes = columns.episode_columns([c.episode for c in continuations])
    parquet.write(path, FORMAT, VERSION, SCHEMA, rows | episodes)


def read(path: Path) -> list[Continuation]:
    """Returns the continuations in one file.

    Raises:
      DamagedData: no such file, or a row is not what its hash says.
      NewerFormat: a later version.
    """
    table = parquet.read(path, FORMAT, VERSION, SCHEMA)
    rows = table.drop_columns([*columns.EPISODE, "log_probs"]).to_pylist()
    log_probs = parquet.unlist(table, "log_probs")
    names = [f"{path}: continuation {row['id']}" for row in rows]
    episodes = checked(columns.episodes(table), names)
    out = []
    for row, episode, flat in zip(rows, episodes, log_probs, strict=True):
        try:
            one = Continuation(
                identity=Identity(**{name: row[name] for name in _IDENTITY}),
                **{name: row[name] for name in _PLAIN},
                instruction=Instruction(**parsed_json(row["instruction"], dict)),
                heard=tuple(Instruction(**one) for one in parsed_json(row["heard"], list)),
                roles=tuple(row["roles"]),
                episode=episode,
                log_probs=flat.astype(np.float32).reshape(episode.steps, len(row["roles"])),
                provenance=parsed_json(row["provenance"], dict),
            )
            marks = (one.id, one.content_hash)
            whole = one.episode.steps == one.takeover + one.horizon
            whole = whole and all(0 <= role < one.episode.participants for role in one.roles)
        except (TypeError, ValueError, DamagedData) as error:
            raise DamagedData(f"{path}: continuation {row['id']}: {error}") from None
        if marks != (row["id"], row["content_hash"]):
            raise DamagedData(f"{path}: continuation {row['id']} was altered: its hash differs")
        if not whole or one.takeover < 0 or one.horizon < 1:
            raise DamagedData(f"{path}: continuation {row['id']}: its steps or roles do not agree")
        out.append(one)
    return out


def indices(workspace: Workspace, identity: Identity) -> set[int]:
    """Returns which continuations of this scenario, agent and seed are kept, whatever the index."""
    path = path_of(workspace, identity)
    if not path.exists():
        return set()
    found = parquet.read(path, FORMAT, VERSION, {"index": SCHEMA["index"]})
    return set(found.column("index").to_pylist())


def kept(workspace: Workspace, identity: Identity) -> Continuation:
    """Returns the continuation of this identity, which was saved."""
    return next(one for one in read(path_of(workspace, identity)) if one.identity == identity)


def load(workspace: Workspace, scenarios: Collection[str]) -> list[Continuation]:
    """Returns every continuation of the scenarios with these content hashes.

    In order of agent, fingerprint, scenario, seed and index. One that stands in two files, as in a
    copied folder, is there once.

    Raises:
      DamagedData: a file is damaged, or two files disagree on one continuation.
      NewerFormat: a later version.
    """
    wanted = {hash[:24] for hash in scenarios}
    found: dict[str, Continuation] = {}
    for path in sorted(workspace.path("continuations").glob("*/*.parquet")):
        if path.name.partition("-")[0] not in wanted:
            continue
        for one in read(path):
            if one.scenario_hash not in scenarios:
                continue
            if found.setdefault(one.id, one).content_hash != one.content_hash:
                raise DamagedData(f"{path}: continuation {one.id} is another one elsewhere")
    order = ("agent", "fingerprint", *_IDENTITY)
    return sorted(found.values(), key=lambda c: tuple(getattr(c.identity, n) for n in order))


def find(workspace: Workspace, id: str) -> Continuation:
    """Returns the continuation whose id begins with `id`.

    Raises:
      UnknownName: there is none, or more than one.
    """
    hits: dict[str, Path] = {}
    known: dict[str, None] = {}
    for path in sorted(workspace.path("continuations").glob("*/*.parquet")):
        table = parquet.read(path, FORMAT, VERSION, {"id": SCHEMA["id"]})
        ids = table.column("id").to_pylist()
        hits |= {one: path for one in ids if len(id) >= 4 and one.startswith(id)}
        known |= dict.fromkeys(ids)
    if len(hits) != 1:
        raise UnknownName("continuation", id, hits or known, most=5)
    (full, path), *_ = hits.items()
    return next(one for one in read(path) if one.id == full)
