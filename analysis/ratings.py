"""The ratings table: one row per judgement of a continuation, validated and typed.

Columns: agent, scenario, category, continuation, annotator, verdict, step, horizon, and the
optional kind, truth, truth_step, seconds, source, sees, reason, extra, notes (on the agent). A row
whose annotator and verdict are empty is a continuation that nobody has judged yet.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from analysis import tables
from sts.errors import DamagedData
from sts.ratings import REQUIRED, SOURCES, VERDICTS

SIGHTS = ("observation", "world", "rehearsal", "recording")
KINDS = ("instruction", "question")
DEFAULTS = {
    "kind": "",
    "truth": "",
    "truth_step": "",
    "seconds": "",
    "source": "human",
    "sees": "observation",
    "reason": "",
    "extra": "0",
    "notes": "",
}


def read_ratings(path: Path) -> pd.DataFrame:
    """Reads a ratings table from a file; see `check_ratings`."""
    return check_ratings(tables.read_table(path))


def check_ratings(table: tables.RawTable) -> pd.DataFrame:
    """Validates a ratings table and gives every column its type.

    A continuation's name identifies it in the whole table: its rows agree on agent, scenario and
    horizon. A scenario has one category and one kind, an agent sees one thing.

    Args:
      table: the text as found.

    Returns:
      REQUIRED and the optional columns. step, truth_step and seconds are float64 with NaN where
      empty, horizon int64, extra bool; the others are text, "" where empty. Reference episodes
      are the rows with a truth.

    Raises:
      DamagedData: names the file, the line and what was expected there.
    """
    tables.require_columns(table, REQUIRED)
    if table.frame.empty:
        raise DamagedData(f"{table.name}: expected at least one row, found only a header")
    for column, default in DEFAULTS.items():
        if column not in table.frame.columns:
            table.frame[column] = default
        elif default:
            table.frame.loc[table.frame[column] == "", column] = default
    frame = table.frame
    empty = {column: (frame[column] == "").to_numpy() for column in frame.columns}
    unjudged = empty["annotator"] & empty["verdict"]
    reference = ~empty["truth"]

    tables.one_of(table, "source", SOURCES)
    tables.one_of(table, "sees", SIGHTS)
    tables.one_of(table, "kind", (*KINDS, ""))
    tables.one_of(table, "truth", ("success", "failure", "not_done", ""))
    tables.one_of(table, "extra", ("0", "1"))
    tables.refuse(
        table,
        ~frame["verdict"].isin(VERDICTS).to_numpy() & ~unjudged,
        f"a verdict, one of {', '.join(VERDICTS)}",
        "verdict",
    )
    tables.refuse(table, empty["annotator"] & ~unjudged, "a name", "annotator")
    tables.refuse(table, empty["continuation"], "a name", "continuation")
    for column in ("agent", "scenario", "category"):
        tables.refuse(table, empty[column] & ~reference, "a name", column)

    horizon = tables.numbers(table, "horizon", "a number of steps", optional=False, whole=True)
    tables.refuse(table, horizon < 1, "at least 1 step", "horizon")
    step = _steps(table, "step", horizon)
    marked = np.isfinite(step)
    timeless = frame["verdict"].isin(("not_done", "cannot_judge", "")).to_numpy()
    tables.refuse(table, marked & timeless, "no step beside not_done and cannot_judge", "step")
    truth_step = _steps(table, "truth_step", horizon)
    seconds = tables.numbers(table, "seconds", "a number of seconds", optional=True)
    tables.refuse(table, seconds < 0, "at least 0 seconds", "seconds")

    for column in ("agent", "scenario", "horizon"):
        tables.one_value_each(table, "continuation", column, np.ones(len(frame), dtype=bool))
    tables.one_value_each(table, "continuation", "truth", reference)
    for column in ("category", "kind"):
        tables.one_value_each(table, "scenario", column, ~reference)
    tables.one_value_each(table, "agent", "sees", ~reference)
    twice = frame.duplicated(["source", "continuation", "annotator"]).to_numpy() & ~unjudged
    tables.refuse(table, twice, "one row per continuation and annotator", "annotator")

    return frame.assign(
        step=step,
        horizon=horizon.astype(np.int64),
        truth_step=truth_step,
        seconds=seconds,
        extra=(frame["extra"] == "1").to_numpy(),
    )[[*REQUIRED, *DEFAULTS]]


def _steps(table: tables.RawTable, column: str, horizon: np.ndarray) -> np.ndarray:
    step = tables.numbers(table, column, "a whole step", optional=True, whole=True)
    outside = np.isfinite(step) & ((step < 1) | (step > horizon))
    tables.refuse(table, outside, "a step of the continuation, 1 to its horizon", column)
    return step
