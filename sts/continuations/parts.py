"""Parts: immutable Parquet files of continuations, `continuations/4`.

Functions that read a part raise `DamagedData` if it is not one or a row does not match its hash,
and `NewerFormat` if a later version wrote it.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sts.continuations.continuation import Continuation, Identity
from sts.domains import validate_episodes
from sts.episodes import Instruction, columns
from sts.errors import DamagedData
from sts.storage import arrow, parquet
from sts.storage.files import canonical_json, content_hash, parse_versioned_json
from sts.storage.store import KeyValueStore

FORMAT, VERSION = "continuations", 4
FOLDER = "continuations"
ROWS_PER_GROUP = 256
"""Rows of a row group, the least that is read to show one continuation."""
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
    **columns.EPISODE_SCHEMA,
}
_HASHES = ("id", "content_hash", "clip")
_IDENTITY = ("scenario", "agent", "fingerprint", "seed", "index")
_PLAIN = ("scenario_id category kind takeover horizon sees deterministic together seconds").split()
SUMMARY = {
    name: SCHEMA[name]
    for name in (*_HASHES, *_IDENTITY, *_PLAIN)
    if name not in ("deterministic", "seconds")
}
"""The columns from which an index is built."""


def part_name(plan: str, chunk: str) -> str:
    """Return the name of the part for a chunk of a plan."""
    return f"{FOLDER}/{plan}/{chunk}.parquet"


def list_parts(store: KeyValueStore) -> dict[str, int]:
    """Return the size in bytes of each stored part, by its name."""
    names = store.list(FOLDER).items()
    return {name: n for name, n in names if name.count("/") == 2 and name.endswith(".parquet")}


def write_part(store: KeyValueStore, name: str, continuations: Sequence[Continuation]) -> None:
    """Write continuations as one part; writing the same again, timings apart, changes nothing.

    Raises:
      DamagedData: the part exists and holds others.
      OSError: it cannot be written; nothing of it is stored then.
    """
    raw = encode_part(name, continuations)
    store.put_new(name, raw, lambda a, b: read_hashes(name, a) == read_hashes(name, b))


def read_hashes(name: str, raw: bytes) -> dict[str, str]:
    """Return the content hash of each continuation in a part, by its id."""
    table = parquet.decode_table(name, raw, FORMAT, VERSION, {n: SCHEMA[n] for n in _TEXTS[0][:2]})
    return dict(zip(*(column.to_pylist() for column in table.columns), strict=True))


def encode_part(name: str, continuations: Sequence[Continuation]) -> bytes:
    """Return the bytes of a part; `DamagedData` if a value does not fit its column."""
    rows: dict[str, list[Any]] = {
        n: [getattr(c.identity, n) for c in continuations] for n in _IDENTITY
    }
    rows |= {n: [getattr(c, n) for c in continuations] for n in (*_HASHES, *_PLAIN)}
    rows["instruction"] = _encode_shared(
        [c.instruction for c in continuations], Instruction.to_json
    )
    earlier = [c.earlier_instructions for c in continuations]
    rows["heard"] = _encode_shared(earlier, lambda several: [i.to_json() for i in several])
    rows["provenance"] = _encode_shared([c.provenance for c in continuations], dict)
    try:
        values = {n: arrow.from_texts(rows[n]) for group in _TEXTS for n in group}
        kinds = {n: kind.to_pandas_dtype() for n, kind in _NUMBERS.items()}
        values |= {n: arrow.from_numpy(np.array(rows[n], kinds[n])) for n in kinds}
    except (DamagedData, OverflowError) as error:
        raise DamagedData(f"{name}: {error}") from None
    players = [np.array(c.players, np.int32) for c in continuations]
    values["roles"] = arrow.to_list_column(players, pa.int32())
    values["log_probs"] = arrow.to_list_column([c.log_probs for c in continuations], pa.float32())
    values |= columns.episodes_to_columns([c.episode for c in continuations])
    return parquet.encode_table(name, FORMAT, VERSION, SCHEMA, values, group_rows=ROWS_PER_GROUP)


def _encode_shared(shared: Sequence[Any], view: Callable[[Any], Any]) -> list[str]:
    """Encode values as JSON; one that many continuations share is serialised once."""
    distinct = {id(value): value for value in shared}
    written = {key: canonical_json(view(value)).decode() for key, value in distinct.items()}
    return [written[id(value)] for value in shared]


def decode_part(
    name: str,
    raw: bytes,
    *,
    groups: Sequence[int] | None = None,
    wanted: Collection[str] | None = None,
) -> list[Continuation]:
    """Return continuations of a part after checking the hash of each.

    `groups` are the row groups to read, `wanted` the ids to return; None stands for all.
    """
    table = parquet.decode_table(name, raw, FORMAT, VERSION, SCHEMA, groups=groups)
    if wanted is not None:
        keep = np.array([id in wanted for id in table.column("id").to_pylist()], np.bool_)
        table = table.filter(arrow.from_numpy(keep))
    rows = table.drop_columns([*columns.EPISODE_SCHEMA, "log_probs"]).to_pylist()
    log_probs = arrow.split_list_column(table, "log_probs")
    names = [f"{name}: continuation {row['id']}" for row in rows]
    episodes = validate_episodes(columns.table_to_episodes(table), names)
    shared: dict[str, Any] = {}
    return [
        _decode_row(label, row, episode, probs, shared)
        for label, row, episode, probs in zip(names, rows, episodes, log_probs, strict=True)
    ]


def _decode_row(
    name: str, row: dict[str, Any], episode: Any, log_probs: Any, shared: dict[str, Any]
) -> Continuation:
    """Return the continuation in a row; `shared` caches JSON texts that many rows have."""
    try:
        for column in _TEXTS[1]:
            if (text := row[column]) not in shared:
                shared[text] = _PARSED[column](text)
        continuation = Continuation(
            identity=Identity(**{n: row[n] for n in _IDENTITY}),
            **{n: row[n] for n in _PLAIN},
            instruction=shared[row["instruction"]],
            earlier_instructions=shared[row["heard"]],
            players=tuple(row["roles"]),
            episode=episode,
            log_probs=log_probs.reshape(episode.steps, len(row["roles"])),
            provenance=shared[row["provenance"]],
        )
        hashes = [getattr(continuation, n) for n in _HASHES]
        is_consistent = continuation.episode.steps == continuation.takeover + continuation.horizon
        is_consistent = is_consistent and all(0 <= p < episode.n_players for p in row["roles"])
    except (TypeError, ValueError, DamagedData) as error:
        raise DamagedData(f"{name}: {error}") from None
    if hashes != [row[n] for n in _HASHES]:
        raise DamagedData(f"{name} has been modified: its hash does not match")
    if not is_consistent or continuation.takeover < 0 or continuation.horizon < 1:
        raise DamagedData(f"{name}: its numbers of steps or its roles contradict each other")
    return continuation


_PARSED: dict[str, Callable[[str], Any]] = {
    "instruction": lambda text: Instruction(**parse_versioned_json(text, dict)),
    "heard": lambda text: tuple(
        Instruction(**fields) for fields in parse_versioned_json(text, list)
    ),
    "provenance": lambda text: parse_versioned_json(text, dict),
}


def compute_part_name(ids: Sequence[str]) -> str:
    """Return the name of the part that holds exactly the continuations with these ids."""
    return part_name(content_hash(b"given", *(id.encode() for id in sorted(ids)))[:24], "0")
