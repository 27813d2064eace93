"""Parts: immutable Parquet files of continuations, `continuations/4`, and what is in them.

Whatever reads a part raises `DamagedData` where it is none or a row is not what its hash says, and
`NewerFormat` where a later version wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sts.continuations.types import Continuation, Identity
from sts.domains import checked
from sts.episodes import Instruction, columns
from sts.errors import DamagedData
from sts.storage import arrow, parquet
from sts.storage.files import canonical_json, content_hash, parsed_json
from sts.storage.store import Store

FORMAT, VERSION = "continuations", 4
FOLDER = "continuations"
GROUP = 256
"""Rows of a row group, which is what has to be read to show one."""
_TEXTS = (
    "id content_hash clip scenario agent fingerprint scenario_id category kind sees".split(),
    "instruction heard provenance".split(),
)
_NUMBERS = {
    "seed": pa.int64(),
    "index": pa.int32(),
    "takeover": pa.int32(),
    "horizon": pa.int32(),
    "deterministic": pa.bool_(),
    "together": pa.int32(),
    "seconds": pa.float64(),
}
SCHEMA = {
    **{name: pa.string() for group in _TEXTS for name in group},
    **_NUMBERS,
    "roles": pa.list_(pa.int32()),
    "log_probs": pa.list_(pa.float32()),
    **columns.EPISODE,
}
_MARKS = ("id", "content_hash", "clip")
_IDENTITY = ("scenario", "agent", "fingerprint", "seed", "index")
_PLAIN = ("scenario_id category kind takeover horizon sees deterministic together seconds").split()
SUMMARY = {
    name: SCHEMA[name]
    for name in (*_MARKS, *_IDENTITY, *_PLAIN)
    if name not in ("deterministic", "seconds")
}
"""The columns that an index is made of."""


def name_of(plan: str, chunk: str) -> str:
    """Return the name of a plan's part."""
    return f"{FOLDER}/{plan}/{chunk}.parquet"


def is_part(name: str) -> bool:
    """Whether what is kept under a name is a part."""
    return name.startswith(f"{FOLDER}/") and name.count("/") == 2 and name.endswith(".parquet")


def put(store: Store, name: str, continuations: Sequence[Continuation]) -> None:
    """Keep continuations as one part; the same again changes nothing, timings apart.

    Raises:
      DamagedData: the part is there, and holds others.
      OSError: it cannot be kept; nothing of it is then there.
    """
    store.put_new(name, packed(name, continuations), lambda a, b: told(name, a) == told(name, b))


def told(name: str, raw: bytes) -> dict[str, str]:
    """Return the content hash of each continuation in a part, by its id."""
    table = parquet.unpacked(name, raw, FORMAT, VERSION, {n: SCHEMA[n] for n in _TEXTS[0][:2]})
    return dict(zip(*(column.to_pylist() for column in table.columns), strict=True))


def packed(name: str, continuations: Sequence[Continuation]) -> bytes:
    """Return the bytes of a part; `DamagedData` if a value does not fit its column."""
    rows: dict[str, list[Any]] = {
        n: [getattr(c.identity, n) for c in continuations] for n in _IDENTITY
    }
    rows |= {n: [getattr(c, n) for c in continuations] for n in (*_MARKS, *_PLAIN)}
    rows["instruction"] = _json([c.instruction for c in continuations], Instruction.view)
    rows["heard"] = _json([c.heard for c in continuations], lambda h: [one.view() for one in h])
    rows["provenance"] = _json([c.provenance for c in continuations], dict)
    try:
        made = {n: arrow.texts(rows[n]) for group in _TEXTS for n in group}
        made |= {
            n: arrow.of_numpy(np.array(rows[n], kind.to_pandas_dtype()))
            for n, kind in _NUMBERS.items()
        }
    except (DamagedData, OverflowError) as error:
        raise DamagedData(f"{name}: {error}") from None
    made["roles"] = arrow.lists([np.array(c.roles, np.int32) for c in continuations], pa.int32())
    made["log_probs"] = arrow.lists([c.log_probs for c in continuations], pa.float32())
    made |= columns.episode_columns([c.episode for c in continuations])
    return parquet.packed(name, FORMAT, VERSION, SCHEMA, made, group=GROUP)


def _json(shared: Sequence[Any], view: Callable[[Any], Any]) -> list[str]:
    """Return as JSON what many continuations share, and so serialised once for each that do."""
    each = {id(one): one for one in shared}
    written = {key: canonical_json(view(one)).decode() for key, one in each.items()}
    return [written[id(one)] for one in shared]


def summary(name: str, raw: bytes) -> pa.Table:
    """Return the columns of `SUMMARY` in a part."""
    return parquet.unpacked(name, raw, FORMAT, VERSION, SUMMARY)


def unpacked(
    name: str,
    raw: bytes,
    *,
    groups: Sequence[int] | None = None,
    wanted: Collection[str] | None = None,
) -> list[Continuation]:
    """Return continuations of a part, each held to its hash.

    `name` is what an error begins with. `groups` are the row groups that are read, and `wanted` the
    ids of those that are returned if they are there; None stands for all.
    """
    table = parquet.unpacked(name, raw, FORMAT, VERSION, SCHEMA, groups=groups)
    if wanted is not None:
        keep = np.array([one in wanted for one in table.column("id").to_pylist()], np.bool_)
        table = table.filter(arrow.of_numpy(keep))
    rows = table.drop_columns([*columns.EPISODE, "log_probs"]).to_pylist()
    log_probs = arrow.unlist(table, "log_probs")
    names = [f"{name}: continuation {row['id']}" for row in rows]
    episodes = checked(columns.episodes(table), names)
    shared: dict[str, Any] = {}
    return [
        _row(called, row, episode, flat, shared)
        for called, row, episode, flat in zip(names, rows, episodes, log_probs, strict=True)
    ]


def _row(
    name: str, row: dict[str, Any], episode: Any, log_probs: Any, shared: dict[str, Any]
) -> Continuation:
    """Return the continuation in a row; `shared` keeps what many rows say in the same words."""
    try:
        for column in _TEXTS[1]:
            if (text := row[column]) not in shared:
                shared[text] = _PARSED[column](text)
        one = Continuation(
            identity=Identity(**{n: row[n] for n in _IDENTITY}),
            **{n: row[n] for n in _PLAIN},
            instruction=shared[row["instruction"]],
            heard=shared[row["heard"]],
            roles=tuple(row["roles"]),
            episode=episode,
            log_probs=log_probs.reshape(episode.steps, len(row["roles"])),
            provenance=shared[row["provenance"]],
        )
        marks = [getattr(one, n) for n in _MARKS]
        whole = one.episode.steps == one.takeover + one.horizon
        whole = whole and all(0 <= role < one.episode.participants for role in one.roles)
    except (TypeError, ValueError, DamagedData) as error:
        raise DamagedData(f"{name}: {error}") from None
    if marks != [row[n] for n in _MARKS]:
        raise DamagedData(f"{name} was altered: its hash differs")
    if not whole or one.takeover < 0 or one.horizon < 1:
        raise DamagedData(f"{name}: its steps or roles do not agree")
    return one


_PARSED: dict[str, Callable[[str], Any]] = {
    "instruction": lambda text: Instruction(**parsed_json(text, dict)),
    "heard": lambda text: tuple(Instruction(**one) for one in parsed_json(text, list)),
    "provenance": lambda text: parsed_json(text, dict),
}


def given(ids: Sequence[str]) -> str:
    """Return the name of the part that exactly the continuations of these ids are."""
    return name_of(content_hash(b"given", *(id.encode() for id in sorted(ids)))[:24], "0")
