"""Tables of text whose rows can be named, as read from a file or a data frame."""

import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa

from sts.errors import DamagedData
from sts.names import quote
from sts.storage.csv_tables import check_header
from sts_analysis.inputs.mapping import AS_WRITTEN, ColumnMapping, find_columns
from sts_analysis.inputs.words import format_value, sort_words

MOST_OTHER_CELLS = 50_000_000
"""Cells of a table above which the columns that it does not use are not read."""
_ROWS_AT_ONCE = 2**16


class InputFile(msgspec.Struct, frozen=True):
    """A table that was read.

    Attributes:
      name: of the file, without its folder; "table" or "scores" for a data frame.
      rows: without the header.
      sha256: of its bytes; of a data frame, of `to_csv(index=False)`.
    """

    name: str
    rows: int
    sha256: str


class Column(NamedTuple):
    """The cells of a column: of each row, which of the distinct values it is; -1 where missing."""

    codes: np.ndarray
    values: Any

    def keep(self, rows: np.ndarray) -> "Column":
        """Return some rows, with the values that these have."""
        codes = self.codes[rows]
        used = np.unique(codes[codes >= 0])
        place = np.full(len(self.values) + 1, -1)  # the last is of missing cells
        place[used] = np.arange(len(used))
        return Column(place[codes], self.values.take(used))

    def list_words(self) -> list[str]:
        """Return the values as texts."""
        return [*map(format_value, np.asarray(self.values, object))]


Cells = tuple[dict[int, pd.Series], np.ndarray]
"""Columns by their places in the header, and int64[rows], the number of each row."""


class Source(NamedTuple):
    """A table of any format, before it is known which of its columns are needed."""

    name: str  # what errors call it, such as the file's name
    header: Sequence[str]  # the names of all columns
    rows: int  # the number of rows, or more if some may be empty
    # reads columns, given the places of those that are used, and of others, which it may leave
    # out
    read: Callable[[Sequence[int], Sequence[int]], Cells]
    unit: str  # what the number of a row counts, "line" or "row"
    form: str  # how the table was written, such as "UTF-8, separated by commas"
    mark: str = ""  # what a Parquet file of ours says of its format, "" for any other


class RawTable(NamedTuple):
    """A table as it was found, before its columns mean anything."""

    name: str  # what errors call it, such as the file's name
    # of each column texts, or categories of texts in alphabetical order, "" where a cell is
    # missing; or float64, NaN where it is missing
    frame: pd.DataFrame
    lines: np.ndarray  # int64[rows], what errors call each row
    unit: str  # "line" (of the file, the header is line 1) or "row" (the first row is 1)
    header: Sequence[str]  # the names of all columns as found
    # the name in the header, by the name of each column of the frame as it was read
    columns: Mapping[str, str] = MappingProxyType({})
    # columns that are not used, by their names as found, if they were asked for and are few
    # enough to be read
    unused_columns: Mapping[str, Column] = MappingProxyType({})
    form: str = ""  # how it was written, such as "UTF-8, separated by commas"
    mark: str = ""  # what a Parquet file of ours says of its format, "" for any other
    folder: Path | None = None  # of its file; None for a table in memory
    # what identifies its file or data frame, if it was read by `files.read_table`
    inputs: tuple[InputFile, ...] = ()

    def name_row(self, row: int) -> str:
        """Name a row, counted from 0, as its author would find it."""
        return f"{self.name}, {self.unit} {self.lines[row]}"

    def keep(self, rows: np.ndarray) -> "RawTable":
        """Return the table of some rows: bool[rows], or the numbers of rows from 0."""
        unused = {name: column.keep(rows) for name, column in self.unused_columns.items()}
        frame = self.frame[rows] if rows.dtype == bool else self.frame.iloc[rows]
        return self._replace(
            frame=frame.reset_index(drop=True), lines=self.lines[rows], unused_columns=unused
        )


def select_columns(
    source: Source,
    columns: Sequence[str] | None = None,
    mapping: ColumnMapping = AS_WRITTEN,
    numeric: Collection[str] = (),
    *,
    with_others: bool = False,
) -> RawTable:
    """Read the columns of a table that have a meaning.

    Args:
      source: the table.
      columns: what a table of its kind may have; None for all that it has.
      mapping: how a user has described it.
      numeric: columns that become float64 if the table holds them as numbers.
      with_others: also read the columns that are not used, unless they are very many cells.

    Raises:
      ArgumentError: the table has no column that `mapping` names.
      DamagedData: it has two columns of one name, or a text that is not Unicode.
    """
    name, header = source.name, source.header
    found = find_columns(name, header, header if columns is None else columns, mapping)
    check_header(name, header, found.values())
    places = {ours: header.index(theirs) for ours, theirs in found.items()}
    used_places, other_places = sorted({*places.values()}), {}
    if with_others and source.rows * len(header) <= MOST_OTHER_CELLS:
        unused = {*filter(None, header)}.difference(found.values())
        other_places = {theirs: header.index(theirs) for theirs in header if theirs in unused}
    read, lines = source.read(used_places, [*other_places.values()])
    table = RawTable(name, pd.DataFrame(), lines, source.unit, header, found)
    cells = {
        column: read[place].to_numpy(np.float64, na_value=np.nan)
        if column in numeric and pd.api.types.is_any_real_numeric_dtype(read[place])
        else _format_cells(table, header[place], read[place])
        for column, place in places.items()
    }
    encoded = {theirs: _encode(read[n]) for theirs, n in other_places.items() if n in read}
    return table._replace(
        frame=pd.DataFrame(cells, columns=[*places], index=range(len(lines))),
        unused_columns={theirs: column for theirs, column in encoded.items() if column is not None},
        form=source.form,
        mark=source.mark,
    )


def open_frame(
    name: str,
    frame: pd.DataFrame,
    lines: Sequence[int] | None = None,
    unit: str = "row",
    form: str = "a data frame",
) -> Source:
    """Open a data frame as a table; `lines` has the number of each row, None to count from 1."""
    numbers = np.arange(1, len(frame) + 1) if lines is None else np.array(lines, np.int64)

    def read(used_places: Sequence[int], other_places: Sequence[int]) -> Cells:
        return {n: frame.iloc[:, n] for n in (*used_places, *other_places)}, numbers

    return Source(name, [*map(str, frame.columns)], len(frame), read, unit, form)


def from_frame(name: str, frame: pd.DataFrame) -> RawTable:
    """Treat a data frame like a file: every cell becomes text again; see `select_columns`."""
    return select_columns(open_frame(name, frame))


def from_arrow(column: pa.Array | pa.ChunkedArray) -> pd.Series:
    """Return a column of Arrow, without a copy."""
    return pd.Series(pd.arrays.ArrowExtensionArray(column))


def describe_frame(name: str, frame: pd.DataFrame) -> InputFile:
    """Return what identifies a data frame: the digest is that of the CSV file which pandas writes.

    It is of `frame.to_csv(index=False)` in UTF-8, with line feeds.
    """
    digest = hashlib.sha256()
    for start in range(0, max(len(frame), 1), _ROWS_AT_ONCE):
        part = frame.iloc[start : start + _ROWS_AT_ONCE]
        text = part.to_csv(index=False, header=start == 0, lineterminator="\n")
        digest.update(text.encode(errors="surrogatepass"))
    return InputFile(name, len(frame), digest.hexdigest())


def from_texts(name: str, frame: pd.DataFrame) -> RawTable:
    """Treat a frame whose every cell is text, and whose index counts from 0, like a file."""
    return RawTable(name, frame, np.arange(1, len(frame) + 1), "row", list(frame.columns))


def _encode(column: pd.Series) -> Column | None:
    """Return a column with each distinct value once; None if values such as lists have no hash."""
    try:
        return Column(*pd.factorize(column))
    except (TypeError, pa.ArrowNotImplementedError):
        return None


def _format_cells(table: RawTable, name: str, column: pd.Series) -> pd.Categorical:
    """Return the text of each cell; convert each distinct value once."""
    encoded = _encode(column) or Column(np.arange(len(column)), column)
    words = encoded.list_words()
    try:
        return sort_words(encoded.codes, pa.array(words, pa.large_string()))
    except UnicodeEncodeError:
        (bad, *_) = (n for n, word in enumerate(words) if re.search("[\ud800-\udfff]", word))
        raise DamagedData(
            f"{table.name_row(int(np.argmax(encoded.codes == bad)))}: {name}: expected text in "
            f"Unicode, found {quote(words[bad])}"
        ) from None
