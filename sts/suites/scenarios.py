"""Parquet files of scenarios, `scenarios/3`: those of a suite, and the candidates of a draft."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sts.episodes import Episode, Instruction, columns
from sts.errors import DamagedData, TamperedSuite
from sts.storage import arrow, parquet
from sts.storage.files import canonical_json, parse_versioned_json, read_bytes, write_atomically
from sts.suites.folders import FORMAT, FORMAT_VERSION
from sts.suites.suite import Scenario, Summary

SCHEMA = {
    "id": pa.string(),
    "hash": pa.string(),
    "category": pa.string(),
    "kind": pa.string(),
    "instruction": pa.string(),
    "parameters": pa.string(),
    "trajectory": pa.string(),
    "world": pa.string(),
    "context_start": pa.int32(),
    "takeover": pa.int32(),
    "horizon": pa.int32(),
    "roles": pa.list_(pa.int32()),
    "partner": pa.string(),
    "difficulty": pa.string(),
    "tags": pa.list_(pa.string()),
    "takeover_hash": pa.string(),
    "provenance": pa.string(),
    "heard": pa.string(),
    "pair": pa.string(),
    "series": pa.string(),
    "turn": pa.int32(),
    "replaces": pa.string(),
    "criterion": pa.string(),
    "edge_cases": pa.string(),
    **columns.EPISODE_SCHEMA,
}
_PLAIN = (
    "id category kind trajectory world context_start horizon partner difficulty takeover_hash "
    "pair turn replaces criterion edge_cases"
).split()
MAX_BYTES = 2**32
"""Maximum size of a file of scenarios, in bytes."""
ROWS_PER_GROUP = 64
"""Rows of a row group, the least that is read to show one scenario."""


Check = Callable[[Sequence[Episode], Sequence[str]], Sequence[Episode]]
"""Takes recordings and their names for errors; returns them if they fit their worlds."""


def write(path: Path, scenarios: Sequence[Scenario]) -> None:
    """Write scenarios to one Parquet file."""
    write_atomically(path, encode_scenarios(str(path), scenarios))


def encode_scenarios(name: str, scenarios: Sequence[Scenario]) -> bytes:
    """Encode scenarios as the bytes of a file; an error starts with `name`."""
    rows: dict[str, Any] = {column: [getattr(s, column) for s in scenarios] for column in _PLAIN}
    rows |= {
        "hash": [s.hash for s in scenarios],
        "takeover": [s.context for s in scenarios],
        "instruction": [canonical_json(s.instruction.to_json()).decode() for s in scenarios],
        "parameters": [canonical_json(s.parameters).decode() for s in scenarios],
        "roles": [list(s.players) for s in scenarios],
        "tags": [list(s.tags) for s in scenarios],
        "provenance": [canonical_json(s.provenance).decode() for s in scenarios],
        "heard": [
            canonical_json([i.to_json() for i in s.earlier_instructions]).decode()
            for s in scenarios
        ],
        "series": [s.dialogue for s in scenarios],
    }
    rows |= columns.episodes_to_columns([s.recording for s in scenarios])
    return parquet.encode_table(
        name, FORMAT, FORMAT_VERSION, SCHEMA, rows, group_rows=ROWS_PER_GROUP
    )


def read(path: Path, check: Check | None = None) -> tuple[Scenario, ...]:
    """Return the scenarios in one file; no world is needed without a check.

    Raises:
      DamagedData: there is no such file, or a row is not a valid scenario.
      NewerFormat: a later version.
      TamperedSuite: a row does not match its hash.
    """
    return decode_scenarios(str(path), read_bytes(path, MAX_BYTES), check=check)


def decode_scenarios(
    name: str, raw: bytes, id: str | None = None, *, check: Check | None = None
) -> tuple[Scenario, ...]:
    """Decode the scenarios of a file, or the one with the given `id`; errors as of `read`."""
    groups = None
    if id is not None:
        ids = parquet.decode_table(name, raw, FORMAT, FORMAT_VERSION, {"id": pa.string()})
        places = [row for row, value in enumerate(ids.column("id").to_pylist()) if value == id]
        groups = sorted({row // ROWS_PER_GROUP for row in places})
    table = parquet.decode_table(name, raw, FORMAT, FORMAT_VERSION, SCHEMA, groups=groups)
    if id is not None:
        mask = np.array([value == id for value in table.column("id").to_pylist()], np.bool_)
        table = table.filter(arrow.from_numpy(mask))
    rows = table.drop_columns(list(columns.EPISODE_SCHEMA)).to_pylist()
    names = [f"{name}: scenario {row['id']}" for row in rows]
    recordings: Sequence[Episode] = columns.table_to_episodes(table)
    if check is not None:
        recordings = check(recordings, names)
    return tuple(map(_decode_scenario, names, rows, recordings))


def _decode_scenario(name: str, row: dict[str, Any], recording: Episode) -> Scenario:
    try:
        scenario = Scenario(**_fields(row), recording=recording)
        mark = scenario.hash
    except (TypeError, ValueError, DamagedData) as error:
        raise DamagedData(f"{name}: {error}") from None
    if mark != row["hash"]:
        raise TamperedSuite(f"{name} has been modified: its hash does not match")
    return scenario


def _fields(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a summary in a row."""
    return {column: row[column] for column in _PLAIN} | {
        "context": row["takeover"],
        "instruction": Instruction(**parse_versioned_json(row["instruction"], dict)),
        "parameters": parse_versioned_json(row["parameters"], dict),
        "players": tuple(row["roles"]),
        "tags": tuple(row["tags"]),
        "provenance": parse_versioned_json(row["provenance"], dict),
        "earlier_instructions": tuple(
            Instruction(**fields) for fields in parse_versioned_json(row["heard"], list)
        ),
        "dialogue": row["series"],
    }


def decode_summaries(name: str, raw: bytes) -> list[Summary]:
    """Decode the summaries of a file; recordings are neither read nor checked."""
    schema = {column: SCHEMA[column] for column in SCHEMA if column not in columns.EPISODE_SCHEMA}
    rows = parquet.decode_table(name, raw, FORMAT, FORMAT_VERSION, schema).to_pylist()
    return [_decode_summary(f"{name}: scenario {row['id']}", row) for row in rows]


def _decode_summary(name: str, row: dict[str, Any]) -> Summary:
    try:
        summary = Summary(**_fields(row))
        vars(summary)["hash"] = row["hash"]
        _ = summary.row_hash, summary.recorded_by
    except (TypeError, ValueError, DamagedData) as error:
        raise DamagedData(f"{name}: {error}") from None
    return summary
