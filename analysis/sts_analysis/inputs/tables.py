"""Reads foreign tables, CSV or Parquet, into rows of text whose places can be named.

Nothing in a file is ever executed: CSV is parsed as text and Parquet by Arrow, without its
pickled pandas metadata.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sts.errors import ArgumentError, DamagedData
from sts.names import clean_name, quote
from sts.storage import csv_tables
from sts.storage.arrow import to_numpy
from sts.storage.csv_tables import MAX_BYTES, MAX_ROWS, check_header, parse_csv
from sts.storage.files import read_bytes
from sts.storage.memory import limit_memory

TABLE_FORMATS = (".csv", ".parquet")
MOST_LETTERS = 2**17
"""Bytes of a cell; as many as Python's CSV reader takes."""


class RawTable(NamedTuple):
    """A table as it was found, before its columns mean anything.

    Attributes:
      name: what errors call it, such as the file's name.
      frame: every cell is text, or a category of texts; a missing one is the empty string.
      lines: int64[rows], what errors call each row.
      unit: "line" (of the file, the header is line 1) or "row" (the first row is 1).
      mark: what a Parquet file of ours says of its format, "" for any other.
    """

    name: str
    frame: pd.DataFrame
    lines: np.ndarray
    unit: str
    mark: str = ""

    def place(self, row: int) -> str:
        """Names a row, counted from 0, as its author would find it."""
        return f"{self.name}, {self.unit} {self.lines[row]}"


def read_table(path: Path, columns: Sequence[str]) -> RawTable:
    """Reads one CSV or Parquet file as text.

    Args:
      path: ends in .csv (UTF-8, comma-separated, one header line) or .parquet.
      columns: what a table of its kind may have; others may be left out of what is read.

    Raises:
      ArgumentError: the file does not exist or ends in something else.
      DamagedData: it is no regular file, or is empty, binary, truncated, ragged or too large.
    """
    if path.suffix.lower() not in TABLE_FORMATS:
        suffix = repr(path.suffix) if path.suffix else "no extension"
        raise ArgumentError(
            f"{path}: expected a .csv or .parquet table, found {suffix}; rename or convert it"
        )
    try:
        data = read_bytes(path, MAX_BYTES)
    except FileNotFoundError:
        raise ArgumentError(f"no table at {path}; check the path") from None
    with limit_memory(path.name):
        if path.suffix.lower() == ".csv":
            return _parse_csv(path.name, data)
        if not data:
            raise DamagedData(f"{path.name}: expected a table, found an empty file")
        return _parse_parquet(path.name, data, columns)


def from_frame(name: str, frame: pd.DataFrame) -> RawTable:
    """Treats a frame made elsewhere like a file: every cell becomes text again."""
    cells = {str(column): [_text(value) for value in frame[column]] for column in frame.columns}
    return of_texts(name, pd.DataFrame(cells, index=range(len(frame)), dtype=object))


def of_texts(name: str, frame: pd.DataFrame) -> RawTable:
    """Treats a frame whose every cell is text, and whose index counts from 0, like a file."""
    return RawTable(name, frame, np.arange(1, len(frame) + 1), "row")


def require_columns(table: RawTable, required: Sequence[str]) -> None:
    """Checks that every required column is there.

    Raises:
      DamagedData: names each missing column.
    """
    csv_tables.require_columns(table.name, table.frame.columns, required)


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
    cell = "" if column is None else f", found {_cell(table.frame[column], row)}"
    name = "" if column is None else f"{column}: "
    raise DamagedData(f"{table.place(row)}: {name}expected {expected}{cell}")


def one_of(table: RawTable, column: str, allowed: Iterable[str]) -> None:
    """Refuses a column that holds anything but the allowed words."""
    words = tuple(allowed)
    if set(pd.unique(table.frame[column])) <= set(words):
        return
    bad = ~table.frame[column].isin(words).to_numpy()
    named = [word or "nothing" for word in words]
    refuse(table, bad, f"one of {', '.join(named)}", column)


def clean_names(table: RawTable, column: str) -> None:
    """Composes the names of a column, and refuses one that is no name; an empty cell stays.

    Raises:
      DamagedData: a cell is too long or does not print; names the row.
    """

    def clean(name: str) -> str:
        try:
            return clean_name(name) if name else name
        except ArgumentError as error:
            row = int(np.argmax((table.frame[column] == name).to_numpy()))
            raise DamagedData(f"{table.place(row)}: {column}: {error}") from None

    table.frame[column] = by_word(table.frame[column], clean)


def by_word(column: pd.Series, make: Callable[[str], str] = str) -> pd.Series:
    """Returns what `make` makes of each cell; it is asked once a text.

    As categories in alphabetical order: whoever compares, counts or sorts cells does so by number.
    """
    codes, words = pd.factorize(column)
    place, kept = pd.factorize(np.array([*map(make, words)], object), sort=True)
    return pd.Series(coded(place[codes], kept), column.index)


def coded(codes: np.ndarray, words: Sequence[str] | np.ndarray) -> pd.Categorical:
    """Returns cells that are categories: of each, which of the words it is."""
    categories: Any = pd.Index(np.array(words, object), dtype=object)
    return pd.Categorical.from_codes(codes, categories)


def numbers(
    table: RawTable, column: str, expected: str, *, optional: bool, whole: bool = False
) -> np.ndarray:
    """Turns a column into float64[rows], NaN where it is empty.

    Raises:
      DamagedData: a cell is no finite number, not whole, or empty although it may not be.
    """
    text = table.frame[column]
    codes, words = pd.factorize(text)  # most stand in many rows
    each = pd.to_numeric(pd.Series(words, dtype=object), errors="coerce")
    values = np.asarray(each, dtype=np.float64)[codes]
    empty = (text == "").to_numpy()
    bad = ~np.isfinite(values) & ~empty
    if whole:
        bad |= np.isfinite(values) & (values != np.round(values))
    if not optional:
        bad |= empty
    refuse(table, bad, expected, column)
    return values


def one_value_each(
    table: RawTable, key: str, column: str, rows: np.ndarray, number: pd.Series | None = None
) -> None:
    """Refuses a key that stands with two different values of a column.

    Args:
      table: where the rows come from.
      key: the column that names something.
      column: what each of these must have exactly one of.
      rows: bool[rows], the rows to look at.
      number: of each row, what tells those things apart where their names do not.
    """
    values = pd.factorize(table.frame[column])[0]
    if (values == values[0]).all():
        return
    place = np.flatnonzero(rows)
    things = pd.factorize(table.frame[key] if number is None else number)[0][place]
    first = np.empty(int(things.max(initial=-1)) + 1, np.int64)
    first[things[::-1]] = place[::-1]  # of what is written to one place the last stays
    bad = values[place] != values[first[things]]
    if bad.any():
        at = int(np.argmax(bad))
        row, above = int(place[at]), int(first[things[at]])
        raise DamagedData(
            f"{table.place(row)}: {key} {_cell(table.frame[key], row)} has {column} "
            f"{_cell(table.frame[column], row)} here and {_cell(table.frame[column], above)} "
            "above; expected one value"
        )


def _cell(column: pd.Series, row: int) -> str:
    return quote(str(column.iat[row]))


def _text(value: object) -> str:
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    return str(value).strip()


def _parse_csv(name: str, data: bytes) -> RawTable:
    header, rows, lines = parse_csv(name, data)
    frame = pd.DataFrame(rows, columns=header, dtype=object)
    return RawTable(name, frame, np.array(lines, dtype=np.int64), "line")


def _parse_parquet(name: str, data: bytes, columns: Sequence[str]) -> RawTable:
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        _check_size(name, file.metadata, columns)
        every = file.schema_arrow.names
        check_header(name, every)
        kept = [column for column in every if column in columns]
        for column in kept:
            kind = file.schema_arrow.field(column).type
            if pa.types.is_nested(kind):
                raise DamagedData(
                    f"{name}: expected a text or a number in each cell of column {column}, found "
                    f"{kind!s:.60}"
                )
        # Dictionaries stay packed: one long text in each of many rows is held once.
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=kept)
        table = file.read(columns=kept, use_threads=False)
        cells = {column: _cells(name, table.column(column)) for column in kept}
    except MemoryError:  # which Arrow's own is, too
        raise
    except (pa.ArrowException, OSError) as error:
        raise DamagedData(
            f"{name}: expected a Parquet file, found a damaged one; write it again"
        ) from error
    mark = (table.schema.metadata or {}).get(b"sts.format", b"").decode(errors="replace")
    rows = table.num_rows
    del table, file
    pa.default_memory_pool().release_unused()  # which Arrow would keep, for tables to come
    frame = pd.DataFrame(cells, columns=kept, index=range(rows))
    return of_texts(name, frame)._replace(mark=mark)


def _check_size(name: str, metadata: pq.FileMetaData, columns: Sequence[str]) -> None:
    """Refuses before anything is unpacked: a small file can say that it holds any number."""
    rows: Counter[str] = Counter()
    size = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for part in map(group.column, range(group.num_columns)):
            column = part.path_in_schema.partition(".")[0]
            if column in columns:
                rows[column] += part.num_values
                size += part.total_uncompressed_size
    most = max([metadata.num_rows, *rows.values()])
    if most > MAX_ROWS:
        raise DamagedData(f"{name}: expected at most {MAX_ROWS} rows, found {most}")
    if size > MAX_BYTES:
        raise DamagedData(f"{name}: expected at most {MAX_BYTES} bytes unpacked, found {size}")


def _cells(name: str, column: pa.ChunkedArray) -> pd.Categorical:
    """Returns the text of each cell; each text that stands in many is made once."""
    codes, words = [np.empty(0, np.int64)], [""]
    for chunk in column.chunks:
        packed = chunk
        if not pa.types.is_dictionary(chunk.type):
            try:
                packed = chunk.dictionary_encode()
            except pa.ArrowNotImplementedError:  # what is no single value has no code
                codes.append(np.arange(len(words), len(words) + len(chunk)))
                words += map(_text, chunk.to_pylist())
                continue
        values = packed.dictionary
        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            longest = pc.max(pc.binary_length(values)).as_py() or 0
            if longest > MOST_LETTERS:
                raise DamagedData(
                    f"{name}: expected cells of at most {MOST_LETTERS} bytes, found {longest}"
                )
        codes.append(to_numpy(packed.indices.cast(pa.int64()).fill_null(len(values))) + len(words))
        words += [*map(_text, values.to_pylist()), ""]
    place, kept = pd.factorize(np.array(words, object))
    return coded(place[np.concatenate(codes)], kept)
