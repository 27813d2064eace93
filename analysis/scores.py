"""The scores table: other metrics of agents, to correlate with the pass rate."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from analysis import tables
from sts.errors import DamagedData
from sts.storage.files import content_hash, write_atomically
from sts.storage.workspace import Workspace

PASS_RATE = "pass_rate"
REQUIRED = ("agent", "metric", "value")
OPTIONAL = ("standard_error", "n", "family", "parameters")


def read_scores(path: Path) -> pd.DataFrame:
    """Reads a scores table from a file; see `check_scores`."""
    return check_scores(tables.read_table(path))


def check_scores(table: tables.RawTable) -> pd.DataFrame:
    """Validates a scores table and gives every column its type.

    Args:
      table: the text as found.

    Returns:
      agent, metric, family and parameters as text ("" where empty); value, standard_error and n
      as float64 with NaN where empty.

    Raises:
      DamagedData: names the file, the line and what was expected there.
    """
    tables.require_columns(table, REQUIRED)
    if table.frame.empty:
        raise DamagedData(f"{table.name}: expected at least one row, found only a header")
    for column in OPTIONAL:
        if column not in table.frame.columns:
            table.frame[column] = ""
    frame = table.frame
    for column in ("agent", "metric"):
        tables.refuse(table, (frame[column] == "").to_numpy(), "a name", column)
    own = (frame["metric"] == PASS_RATE).to_numpy()
    tables.refuse(table, own, "another name than the suite's own metric has", "metric")
    value = tables.numbers(table, "value", "a finite number", optional=False)
    error = tables.numbers(table, "standard_error", "a number, at least 0", optional=True)
    tables.refuse(table, error < 0, "a number, at least 0", "standard_error")
    count = tables.numbers(table, "n", "a count, at least 1", optional=True, whole=True)
    tables.refuse(table, count < 1, "a count, at least 1", "n")
    twice = frame.duplicated(["agent", "metric"]).to_numpy()
    tables.refuse(table, twice, "one value per agent and metric", "metric")
    tables.one_value_each(table, "agent", "family", np.ones(len(frame), dtype=bool))
    return frame.assign(value=value, standard_error=error, n=count)[[*REQUIRED, *OPTIONAL]]


def empty_scores() -> pd.DataFrame:
    """A scores table without a row."""
    return pd.DataFrame({column: [] for column in (*REQUIRED, *OPTIONAL)}, dtype=object)


def merge_scores(named: Iterable[tuple[str, pd.DataFrame]]) -> pd.DataFrame:
    """Joins scores tables; equal rows count once.

    Raises:
      DamagedData: two tables give one agent different values of one metric.
    """
    kept: dict[tuple[str, str], tuple[str, pd.Series]] = {}
    for name, frame in named:
        for _, row in frame.iterrows():
            key = (row["agent"], row["metric"])
            other = kept.setdefault(key, (name, row))
            if other[1]["value"] != row["value"]:
                raise DamagedData(
                    f"{name} and {other[0]} give {key[0]!r} different values of {key[1]!r}; "
                    "remove one of the files"
                )
    rows = [row for _, row in kept.values()]
    return pd.DataFrame(rows).reset_index(drop=True) if rows else empty_scores()


def override_scores(scores: pd.DataFrame, newer: pd.DataFrame) -> pd.DataFrame:
    """Joins two scores tables; where both have an agent's metric, `newer` counts."""
    keys = ["agent", "metric"]
    joined = pd.concat([newer, scores], ignore_index=True) if len(scores) else newer
    return joined.drop_duplicates(keys).reset_index(drop=True)


def import_scores(workspace: Workspace, scores: pd.DataFrame) -> Path:
    """Writes a checked scores table into the workspace and returns its path.

    The file is named by its content, so importing it twice leaves one file.

    Raises:
      DamagedData: the workspace already has other values of the same metrics and agents.
    """
    ordered = scores.sort_values(["metric", "agent"]).reset_index(drop=True)
    name = content_hash(ordered.to_csv(index=False).encode())[:16]
    path = workspace.path("scores", f"{name}.parquet")
    others = [other for other in sorted(path.parent.glob("*.parquet")) if other != path]
    named = [(other.name, read_scores(other)) for other in others]
    merge_scores([*named, ("this table", scores)])
    buffer = io.BytesIO()
    ordered.to_parquet(buffer, index=False)
    workspace.ensure()
    write_atomically(path, buffer.getvalue())
    return path
