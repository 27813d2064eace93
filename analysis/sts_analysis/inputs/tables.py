"""Tables of text whose rows can be named, and checks of their cells."""

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
import pyarrow.compute as pc

from sts.errors import ArgumentError, DamagedData
from sts.names import MAX_NAME_CHARS, clean_name, quote
from sts.spellings import MAX_EXACT, is_rounded
from sts.storage.arrow import to_numpy
from sts.storage.csv_tables import check_header
from sts_analysis.inputs.mapping import AS_WRITTEN, ColumnMapping, find_columns

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
    """A table of any format, before it is known which of its columns are needed.

    Attributes:
      name: what errors call it, such as the file's name.
      header: the names of all columns.
      rows: the number of rows, or more if some may be empty.
      read: reads columns, given the places of those that are used, and of others, which it may
        leave out.
      unit: what the number of a row counts, "line" or "row".
      form: how the table was written, such as "UTF-8, separated by commas".
      mark: what a Parquet file of ours says of its format, "" for any other.
    """

    name: str
    header: Sequence[str]
    rows: int
    read: Callable[[Sequence[int], Sequence[int]], Cells]
    unit: str
    form: str
    mark: str = ""


class RawTable(NamedTuple):
    """A table as it was found, before its columns mean anything.

    Attributes:
      name: what errors call it, such as the file's name.
      frame: of each column texts, or categories of texts in alphabetical order, "" where a cell is
        missing; or float64, NaN where it is missing.
      lines: int64[rows], what errors call each row.
      unit: "line" (of the file, the header is line 1) or "row" (the first row is 1).
      header: the names of all columns as found.
      columns: the name in the header, by the name of each column of the frame as it was read.
      unused_columns: columns that are not used, by their names as found, if they were asked for
        and are few enough to be read.
      form: how it was written, such as "UTF-8, separated by commas".
      mark: what a Parquet file of ours says of its format, "" for any other.
      folder: of its file; None for a table in memory.
      inputs: what identifies its file or data frame, if it was read by `files.read_table`.
    """

    name: str
    frame: pd.DataFrame
    lines: np.ndarray
    unit: str
    header: Sequence[str]
    columns: Mapping[str, str] = MappingProxyType({})
    unused_columns: Mapping[str, Column] = MappingProxyType({})
    form: str = ""
    mark: str = ""
    folder: Path | None = None
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


def refuse_rows(
    table: RawTable, bad: np.ndarray, expected: str, column: str | None = None, remedy: str = ""
) -> None:
    """Reject the table if any row is bad, naming the first such row.

    Args:
      table: where the rows come from.
      bad: bool[rows].
      expected: what should have stood there.
      column: whose cell to quote, if one cell is to blame.
      remedy: what to do, at the end of the error.

    Raises:
      DamagedData: some row is bad.
    """
    if not bad.any():
        return
    row = int(np.argmax(bad))
    cell = "" if column is None else f", found {_cell(table.frame[column], row)}"
    name = "" if column is None else f"{column}: "
    raise DamagedData(f"{table.name_row(row)}: {name}expected {expected}{cell}{remedy}")


def require_words(table: RawTable, column: str, allowed: Sequence[str]) -> None:
    """Reject a column that holds anything but the allowed words."""
    bad = ~table.frame[column].isin(allowed).to_numpy()
    named = [word or "nothing" for word in allowed]
    refuse_rows(table, bad, f"one of {', '.join(named)}", column)


def clean_cells(table: RawTable, column: str, clean: Callable[[str], str] = clean_name) -> None:
    """Clean the texts of a column, by default as names; an empty cell stays.

    Args:
      table: where the column is replaced.
      column: its name.
      clean: returns the clean text, or raises ArgumentError for an invalid one.

    Raises:
      DamagedData: a text is invalid; names the first such row.
    """
    cells = table.frame[column]
    if clean is clean_name and is_coded(cells) and _are_plain(list(cells.cat.categories)):
        return
    errors: dict[str, ArgumentError] = {}

    def clean_text(text: str) -> str:
        try:
            return clean(text) if text else text
        except ArgumentError as error:
            errors[text] = error
            return ""

    table.frame[column] = map_words(cells, clean_text)
    if errors:
        row = int(np.argmax(cells.isin(errors).to_numpy()))
        raise DamagedData(f"{table.name_row(row)}: {column}: {errors[str(cells.iat[row])]}")


def refuse_rounded(table: RawTable, column: str) -> None:
    """Reject identifiers that a floating-point number has rounded, so that several became one."""
    cells = table.frame[column]
    names = _codes(cells)[1]
    if not re.search(r"[eE]\+|\.0", "\n".join(names)):  # quicker than a look at each of millions
        return
    bad = cells.isin([name for name in names if is_rounded(name)]).to_numpy()
    remedy = "; floating-point numbers from 2^53 on are rounded: read the column as text"
    refuse_rows(table, bad, "an identifier that is a text or a whole number", column, remedy)


def is_coded(column: pd.Series) -> bool:
    """Return True if a column is of categories."""
    return isinstance(column.dtype, pd.CategoricalDtype)


def _are_plain(names: Sequence[str]) -> bool:
    """Return True if names without outer spaces are so plain that `clean_name` returns them."""
    joined = "".join(names)
    longest = max(map(len, names), default=0)
    return joined.isascii() and joined.isprintable() and longest <= MAX_NAME_CHARS


def map_words(column: pd.Series, make: Callable[[str], str] = str) -> pd.Series:
    """Return what `make` makes of each cell; it is asked once a text.

    As categories in alphabetical order, so that cells are compared, counted and sorted by number.
    """
    codes, words = _codes(column)
    made = pa.array([*map(make, words)], pa.large_string())
    return pd.Series(sort_words(codes, made), column.index)


def replace_words(column: pd.Series, words: Mapping[str, str]) -> pd.Series:
    """Return a column, as `map_words` does, with other words for some of its texts."""
    return map_words(column, lambda word: words.get(word, word))


def is_empty(column: pd.Series) -> np.ndarray:
    """Return bool[rows], whether a cell of a raw table is missing."""
    return np.asarray(column.isna() if column.dtype == np.float64 else column == "")


def _codes(column: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """Return int[rows] and the texts that these count."""
    if is_coded(column):
        return column.cat.codes.to_numpy(), column.cat.categories
    codes, words = pd.factorize(column)
    return codes, pd.Index(words)


def sort_words(codes: np.ndarray, words: pa.Array) -> pd.Categorical:
    """Return cells as categories in alphabetical order, those that occur.

    Args:
      codes: int[rows], which of the words a cell is, or -1 for the empty text.
      words: of which some may be the same.
    """
    texts = pa.concat_arrays([words, pa.array([""], words.type)]).dictionary_encode()
    codes = to_numpy(texts.indices)[codes]
    used = np.zeros(len(texts.dictionary), bool)
    used[codes] = True
    order = to_numpy(pc.sort_indices(texts.dictionary))
    order = order[used[order]]
    place = np.zeros(len(used), np.int64)
    place[order] = np.arange(len(order))
    return make_categories(place[codes], texts.dictionary.take(pa.array(order)).to_pylist())


def make_categories(codes: np.ndarray, words: Sequence[str] | np.ndarray) -> pd.Categorical:
    """Return cells that are categories: of each, which of the words it is."""
    categories: Any = pd.Index(np.array(words, object), dtype=object)
    return pd.Categorical.from_codes(codes, categories)


def parse_numbers(
    table: RawTable,
    column: str,
    expected: str,
    *,
    optional: bool,
    integer: bool = False,
    least: float = -np.inf,
) -> np.ndarray:
    """Turn a column into float64[rows], NaN where it is empty.

    Raises:
      DamagedData: a cell is no finite number, not whole, below the least number, or empty although
        it may not be.
    """
    cells = table.frame[column]
    if cells.dtype == np.float64:
        values = cells.to_numpy()
    else:
        codes, words = _codes(cells)  # most stand in many rows
        each = pd.to_numeric(pd.Series(words, dtype=object), errors="coerce")
        values = np.asarray(each, dtype=np.float64)[codes]
    empty = is_empty(cells)
    bad = (~np.isfinite(values) & ~empty) | (values < least)
    if integer:
        bad |= np.isfinite(values) & (values != np.round(values))
    if not optional:
        bad |= empty
    refuse_rows(table, bad, expected, column)
    return values


def require_one_value(
    table: RawTable, key: str, column: str, rows: np.ndarray, number: pd.Series | None = None
) -> None:
    """Reject a key that stands with two different values of a column.

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
            f"{table.name_row(row)}: {key} {_cell(table.frame[key], row)} has {column} "
            f"{_cell(table.frame[column], row)} here and {_cell(table.frame[column], above)} "
            "above; expected one value"
        )


def number_groups(frame: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Return int64[rows], which combination of texts each row has, in the order of categories."""
    number = np.zeros(len(frame), np.int64)
    for column in columns:
        codes, words = _codes(frame[column])
        number = np.unique(number * len(words) + codes, return_inverse=True)[1]
    return number


def _cell(column: pd.Series, row: int) -> str:
    return quote(format_value(column.iat[row]))


def format_value(value: Any) -> str:
    """Return a value as the text of a cell; whole numbers without a point, "" for none."""
    if isinstance(value, str):  # as most are
        return value.strip()
    if pd.isna(value) is True:  # of a list it is an array
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value) if abs(value) < MAX_EXACT else float(value))
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    return str(value).strip()


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
