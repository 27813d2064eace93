"""The scores table and its file format, `scores/3`.

One row is one metric of one agent; `docs/data_standard.md` describes the columns.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sts.errors import DamagedData
from sts.storage import parquet
from sts.storage.workspace import Workspace

FORMAT, VERSION = "scores", 3
SCHEMA = {
    "agent": pa.string(),
    "metric": pa.string(),
    "value": pa.float64(),
    "standard_error": pa.float64(),
    "n": pa.float64(),
    "hours": pa.float64(),
    "family": pa.string(),
    "parameters": pa.string(),
    "sees": pa.string(),
    "fingerprint": pa.string(),
}
"""The type of each column; missing texts are "", missing numbers NaN."""
REQUIRED = ("agent", "metric", "value")
KEY = ("agent", "fingerprint", "metric", "parameters")
"""Columns that identify a row: another version of an agent, suite or seed is another row."""


def write_scores(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a file of scores; values that are absent from a row or None are missing."""
    columns = {
        name: [_fill_missing(row.get(name), kind) for row in rows] for name, kind in SCHEMA.items()
    }
    parquet.write_table(path, FORMAT, VERSION, SCHEMA, columns)


def save_scores(workspace: Workspace, name: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Save rows in the table `name` of a workspace, and return its path.

    They replace earlier rows with the same key; other rows stay. Errors as for `read_score_rows`,
    in which case the file is left as it is.
    """
    path = workspace.create().path("scores", f"{name}.parquet")
    with workspace.lock():
        stored = read_score_rows(path) if path.exists() else []
        merged = {tuple(row.get(key) or "" for key in KEY): row for row in (*stored, *rows)}
        write_scores(path, list(merged.values()))
    return path


def read_score_rows(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a file of scores; errors as for `parquet.read_table`."""
    rows: list[dict[str, Any]] = parquet.read_table(path, FORMAT, VERSION, SCHEMA).to_pylist()
    return rows


def check_format(name: str, stored_format: str) -> None:
    """Raise DamagedData if `stored_format` is another version of the format of scores."""
    kind, _, number = stored_format.partition("/")
    if kind == FORMAT and number != str(VERSION):
        raise DamagedData(
            f"{name}: scores format {number}; this version reads {VERSION}: measure them again"
        )


def _fill_missing(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return "" if kind == pa.string() else math.nan
    return value
