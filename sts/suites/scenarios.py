"""Scenarios in Parquet files, `scenarios/2`: what a suite holds, and the candidates of a draft."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sts.episodes import Episode, Instruction, columns
from sts.errors import DamagedData, TamperedSuite
from sts.storage import arrow, parquet
from sts.storage.files import canonical_json, parsed_json, regular_bytes, write_atomically
from sts.suites.folders import FORMAT, FORMAT_VERSION
from sts.suites.types import Scenario, Summary

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
    **columns.EPISODE,
}
_PLAIN = (
    "id category kind trajectory world context_start takeover horizon partner difficulty "
    "takeover_hash pair series turn replaces"
).split()
LARGEST = 2**32
"""Bytes of a file of scenarios."""
GROUP = 64
"""Rows of a row group, which is what has to be read to show one."""


Check = Callable[[Sequence[Episode], Sequence[str]], Sequence[Episode]]
"""Returns recordings, each with what an error calls it, where they fit their worlds."""


def unchecked(recordings: Sequence[Episode], names: Sequence[str]) -> Sequence[Episode]:
    """Return recordings as they are: no world is needed for that."""
    return recordings


def write(path: Path, scenarios: Sequence[Scenario]) -> None:
    """Write scenarios to one Parquet file."""
    write_atomically(path, packed(str(path), scenarios))


def packed(name: str, scenarios: Sequence[Scenario]) -> bytes:
    """Return the bytes of a file of scenarios; an error begins with `name`."""
    rows: dict[str, Any] = {one: [getattr(s, one) for s in scenarios] for one in _PLAIN}
    rows |= {
        "hash": [s.hash for s in scenarios],
        "instruction": [canonical_json(s.instruction.view()).decode() for s in scenarios],
        "parameters": [canonical_json(s.parameters).decode() for s in scenarios],
        "roles": [list(s.roles) for s in scenarios],
        "tags": [list(s.tags) for s in scenarios],
        "provenance": [canonical_json(s.provenance).decode() for s in scenarios],
        "heard": [canonical_json([i.view() for i in s.heard]).decode() for s in scenarios],
    }
    rows |= columns.episode_columns([s.recording for s in scenarios])
    return parquet.packed(name, FORMAT, FORMAT_VERSION, SCHEMA, rows, group=GROUP)


def read(path: Path, check: Check = unchecked) -> tuple[Scenario, ...]:
    """Return the scenarios in one file.

    Raises:
      DamagedData: no such file, or a row cannot be a scenario.
      NewerFormat: a later version.
      TamperedSuite: a row is not what its hash says.
    """
    return unpacked(str(path), regular_bytes(path, LARGEST), check=check)


def unpacked(
    name: str,
    raw: bytes,
    id: str | None = None,
    *,
    check: Check = unchecked,
) -> tuple[Scenario, ...]:
    """Return the scenarios in what `packed` made, or the one of an `id`; errors as of `read`."""
    chosen = None
    if id is not None:
        ids = parquet.unpacked(name, raw, FORMAT, FORMAT_VERSION, {"id": pa.string()})
        places = [row for row, one in enumerate(ids.column("id").to_pylist()) if one == id]
        chosen = sorted({row // GROUP for row in places})
    table = parquet.unpacked(name, raw, FORMAT, FORMAT_VERSION, SCHEMA, groups=chosen)
    if id is not None:
        own = np.array([one == id for one in table.column("id").to_pylist()], np.bool_)
        table = table.filter(arrow.of_numpy(own))
    rows = table.drop_columns(list(columns.EPISODE)).to_pylist()
    names = [f"{name}: scenario {row['id']}" for row in rows]
    recordings = check(columns.episodes(table), names)
    return tuple(map(_scenario, names, rows, recordings))


def _scenario(name: str, row: dict[str, Any], recording: Episode) -> Scenario:
    try:
        scenario = Scenario(**_fields(row), recording=recording)
        mark = scenario.hash
    except (TypeError, ValueError, DamagedData) as error:
        raise DamagedData(f"{name}: {error}") from None
    if mark != row["hash"]:
        raise TamperedSuite(f"{name} was edited: its hash does not match")
    return scenario


def _fields(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a summary in a row."""
    return {column: row[column] for column in _PLAIN} | {
        "instruction": Instruction(**parsed_json(row["instruction"], dict)),
        "parameters": parsed_json(row["parameters"], dict),
        "roles": tuple(row["roles"]),
        "tags": tuple(row["tags"]),
        "provenance": parsed_json(row["provenance"], dict),
        "heard": tuple(Instruction(**one) for one in parsed_json(row["heard"], list)),
    }


def summaries(name: str, raw: bytes) -> list[Summary]:
    """Return what is in a file of scenarios; their recordings are unread and so unchecked."""
    listed = {one: SCHEMA[one] for one in SCHEMA if one not in columns.EPISODE}
    rows = parquet.unpacked(name, raw, FORMAT, FORMAT_VERSION, listed).to_pylist()
    return [_summary(f"{name}: scenario {row['id']}", row) for row in rows]


def _summary(name: str, row: dict[str, Any]) -> Summary:
    try:
        found = Summary(**_fields(row))
        vars(found)["hash"] = row["hash"]
        _ = found.row_hash, found.recorded_by
    except (TypeError, ValueError, DamagedData) as error:
        raise DamagedData(f"{name}: {error}") from None
    return found
