"""Reads foreign tables, CSV or Parquet, into rows of text whose places can be named.

Nothing in a file is ever executed: CSV is parsed as text and Parquet by Arrow, without its
pickled pandas metadata.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from sts.errors import ArgumentError, DamagedData

TABLE_FORMATS = (".csv", ".parquet")


class RawTable(NamedTuple):
    """A table as it was found, before its columns mean anything.

    Attributes:
      name: what errors call it, such as the file's name.
      frame: every cell is text; a missing one is the empty string.
      lines: int64[rows], what errors call each row.
      unit: "line" (of the file, the header is line 1) or "row" (the first row is 1).
    """

    name: str
    frame: pd.DataFrame
    lines: np.ndarray
    unit: str

    def place(self, row: int) -> str:
        """Names a row, counted from 0, as its author would find it."""
        return f"{self.name}, {self.unit} {self.lines[row]}"


def read_table(path: Path) -> RawTable:
    """Reads one CSV or Parquet file as text.

    Args:
      path: ends in .csv (UTF-8, comma-separated, one header line) or .parquet.

    Raises:
      ArgumentError: the file does not exist or ends in something else.
      DamagedData: the file is empty, binary, truncated or ragged.
    """
    if path.suffix.lower() not in TABLE_FORMATS:
        found = repr(path.suffix) if path.suffix else "no extension"
        raise ArgumentError(
            f"{path.name}: expected a .csv or .parquet table, found {found}; rename or convert it"
        )
    if not path.is_file():
        raise ArgumentError(f"no table at {path}; check the path")
    data = path.read_bytes()
    if not data.strip():
        raise DamagedData(f"{path.name}: expected a table, found an empty file")
    return _parse_csv(path.name, data) if path.suffix.lower() == ".csv" else _parquet(path, data)


def from_frame(name: str, frame: pd.DataFrame) -> RawTable:
    """Treats a frame made elsewhere like a file: every cell becomes text again."""
    cells = {str(column): [_text(value) for value in frame[column]] for column in frame.columns}
    text = pd.DataFrame(cells, index=range(len(frame)), dtype=object)
    return RawTable(name, text, np.arange(1, len(frame) + 1), "row")


def require_columns(table: RawTable, required: Sequence[str]) -> None:
    """Checks that every required column is there.

    Raises:
      DamagedData: names each missing column and the ones found.
    """
    missing = [column for column in required if column not in table.frame.columns]
    if missing:
        found = ", ".join(map(repr, table.frame.columns))
        raise DamagedData(
            f"{table.name}: missing column{'s' if len(missing) > 1 else ''} "
            f"{', '.join(map(repr, missing))}; found {found[:300]}"
        )


def refuse(table: RawTable, bad: np.ndarray, expected: str, column: str | None = None) -> None:
    """Refuses the table if any row is bad, naming the first such row.

    Args:
      table: where the rows come from.
      bad: bool[rows].
      expected: what should have stood there.
      column: whose cell to quote, if one cell is to blame.

    Raises:
      DamagedData: some row is bad.
    """
    if not bad.any():
        return
    row = int(np.argmax(bad))
    found = "" if column is None else f", found {table.frame[column].iat[row]!r}"
    name = "" if column is None else f"{column}: "
    raise DamagedData(f"{table.place(row)}: {name}expected {expected}{found}")


def one_of(table: RawTable, column: str, allowed: Iterable[str]) -> None:
    """Refuses a column that holds anything but the allowed words."""
    words = tuple(allowed)
    bad = ~table.frame[column].isin(words).to_numpy()
    named = [word or "nothing" for word in words]
    refuse(table, bad, f"one of {', '.join(named)}", column)


def numbers(
    table: RawTable, column: str, expected: str, *, optional: bool, whole: bool = False
) -> np.ndarray:
    """Turns a column into float64[rows], NaN where it is empty.

    Raises:
      DamagedData: a cell is no finite number, not whole, or empty although it may not be.
    """
    text = table.frame[column]
    values = np.asarray(pd.to_numeric(text, errors="coerce"), dtype=np.float64)
    empty = (text == "").to_numpy()
    bad = ~np.isfinite(values) & ~empty
    if whole:
        bad |= np.isfinite(values) & (values != np.round(values))
    if not optional:
        bad |= empty
    refuse(table, bad, expected, column)
    return values


def one_value_each(table: RawTable, key: str, column: str, rows: np.ndarray) -> None:
    """Refuses a key that stands with two different values of a column.

    Args:
      table: where the rows come from.
      key: the column whose values identify something.
      column: what each of these must have exactly one of.
      rows: bool[rows], the rows to look at.
    """
    frame = table.frame
    first = frame[rows].groupby(key, sort=False)[column].first()
    expected = frame[key].map(first)
    bad = rows & (frame[column] != expected).to_numpy()
    if bad.any():
        row = int(np.argmax(bad))
        raise DamagedData(
            f"{table.place(row)}: {key} {frame[key].iat[row]!r} has {column} "
            f"{frame[column].iat[row]!r} here and {expected.iat[row]!r} above; expected one value"
        )


def _text(value: object) -> str:
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    return str(value).strip()


def _parse_csv(name: str, data: bytes) -> RawTable:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise DamagedData(f"{name}: expected CSV text in UTF-8, found a binary file")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    start = 1
    try:
        header = [cell.strip() for cell in next(reader)]
        start = reader.line_num + 1
        for cells in reader:
            if cells:
                if len(cells) != len(header):
                    raise DamagedData(
                        f"{name}, line {start}: expected {len(header)} cells, found {len(cells)}"
                    )
                rows.append([cell.strip() for cell in cells])
                lines.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise DamagedData(f"{name}, line {start}: not readable as CSV ({error})") from error
    _unique_header(name, header)
    frame = pd.DataFrame(rows, columns=header, dtype=object)
    return RawTable(name, frame, np.array(lines, dtype=np.int64), "line")


def _parquet(path: Path, data: bytes) -> RawTable:
    try:
        table = pq.read_table(io.BytesIO(data))
    except (pa.ArrowException, OSError) as error:
        raise DamagedData(
            f"{path.name}: expected a Parquet file, found a damaged one; write it again"
        ) from error
    _unique_header(path.name, table.column_names)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    return from_frame(path.name, pd.DataFrame(columns, dtype=object))


def _unique_header(name: str, header: Sequence[str]) -> None:
    twice = sorted({column for column in header if list(header).count(column) > 1})
    if twice:
        raise DamagedData(f"{name}: column {twice[0]!r} stands twice; keep one")
