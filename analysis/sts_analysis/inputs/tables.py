"""Read foreign tables, CSV or Parquet, into rows of text whose places can be named.

Nothing in a file is ever executed: CSV is parsed as text and Parquet by Arrow, without its
pickled pandas metadata.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sts.errors import ArgumentError, DamagedData
from sts.names import MAX_NAME_CHARS, clean_name, quote
from sts.spellings import MAX_EXACT, is_rounded
from sts.storage.arrow import to_numpy
from sts.storage.csv_tables import MAX_BYTES, MAX_ROWS, check_header, parse_cell, parse_csv
from sts.storage.files import read_bytes
from sts.storage.memory import limit_memory
from sts_analysis.inputs.mapping import AS_WRITTEN, find_columns
from sts_analysis.inputs.plain_csv import Select, read_plain_csv

TABLE_FORMATS = (".csv", ".parquet")
CsvCells = tuple[list[str], dict[str, pd.Categorical], np.ndarray]
"""The header of a CSV table, columns by their names in it, and the line of each row."""
_ROWS_AT_ONCE = 2**16
MOST_LETTERS = 2**17
"""Bytes of a cell; as many as Python's CSV reader takes."""


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


class RawTable(NamedTuple):
    """A table as it was found, before its columns mean anything.

    Attributes:
      name: what errors call it, such as the file's name.
      frame: of each column texts, or categories of texts in alphabetical order, "" where a cell is
        missing; or float64, NaN where it is missing.
      lines: int64[rows], what errors call each row.
      unit: "line" (of the file, the header is line 1) or "row" (the first row is 1).
      header: the names of all columns as found, of which the frame may have a part.
      mark: what a Parquet file of ours says of its format, "" for any other.
      folder: of its file; None for a table in memory.
      inputs: what identifies its file; empty for a table in memory.
    """

    name: str
    frame: pd.DataFrame
    lines: np.ndarray
    unit: str
    header: Sequence[str]
    mark: str = ""
    folder: Path | None = None
    inputs: tuple[InputFile, ...] = ()

    def place(self, row: int) -> str:
        """Name a row, counted from 0, as its author would find it."""
        return f"{self.name}, {self.unit} {self.lines[row]}"


def read_table(
    path: Path,
    columns: Sequence[str],
    mapping: Mapping[str, str] = AS_WRITTEN.columns,
    numeric: Collection[str] = (),
) -> RawTable:
    """Read one CSV or Parquet file as text.

    Args:
      path: ends in .csv (UTF-8, comma-separated, one header line) or .parquet.
      columns: what a table of its kind may have; others are not read.
      mapping: names of these columns in the file; see `ColumnMapping.columns`.
      numeric: columns that become float64 if the file holds them as numbers.

    Raises:
      ArgumentError: the file does not exist or ends in something else, or has no column that
        `mapping` names.
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
            table = _parse_csv(path.name, data, columns, mapping)
        elif data:
            table = _parse_parquet(path.name, data, columns, mapping, numeric)
        else:
            raise DamagedData(f"{path.name}: expected a table, found an empty file")
    found = InputFile(path.name, len(table.lines), hashlib.sha256(data).hexdigest())
    return table._replace(folder=path.parent, inputs=(found,))


def from_frame(
    name: str,
    frame: pd.DataFrame,
    columns: Sequence[str] | None = None,
    mapping: Mapping[str, str] = AS_WRITTEN.columns,
    numeric: Collection[str] = (),
) -> RawTable:
    """Treat a frame made elsewhere like a file: every cell becomes text again.

    Args:
      name: of the table, for errors.
      frame: with a value in each cell.
      columns: as for `read_table`; None for all of the frame.
      mapping: as for `read_table`.
      numeric: as for `read_table`.

    Raises:
      ArgumentError: the frame has no column that `mapping` names.
      DamagedData: it has two columns of one name.
    """
    header = [str(column) for column in frame.columns]
    check_header(name, header)
    found = find_columns(name, header, header if columns is None else columns, mapping)
    series = {column: frame.iloc[:, header.index(place)] for column, place in found.items()}
    cells = {
        column: values.to_numpy(np.float64, na_value=np.nan)
        if column in numeric and pd.api.types.is_any_real_numeric_dtype(values)
        else _cells_of_series(name, values)
        for column, values in series.items()
    }
    return of_texts(name, pd.DataFrame(cells, index=range(len(frame))))._replace(header=header)


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


def of_texts(name: str, frame: pd.DataFrame) -> RawTable:
    """Treat a frame whose every cell is text, and whose index counts from 0, like a file."""
    return RawTable(name, frame, np.arange(1, len(frame) + 1), "row", list(frame.columns))


def refuse(
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
    raise DamagedData(f"{table.place(row)}: {name}expected {expected}{cell}{remedy}")


def one_of(table: RawTable, column: str, allowed: Sequence[str]) -> None:
    """Reject a column that holds anything but the allowed words."""
    bad = ~table.frame[column].isin(allowed).to_numpy()
    named = [word or "nothing" for word in allowed]
    refuse(table, bad, f"one of {', '.join(named)}", column)


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
    if clean is clean_name and _is_coded(cells) and _are_plain(list(cells.cat.categories)):
        return
    errors: dict[str, ArgumentError] = {}

    def clean_text(text: str) -> str:
        try:
            return clean(text) if text else text
        except ArgumentError as error:
            errors[text] = error
            return ""

    table.frame[column] = by_word(cells, clean_text)
    if errors:
        row = int(np.argmax(cells.isin(errors).to_numpy()))
        raise DamagedData(f"{table.place(row)}: {column}: {errors[str(cells.iat[row])]}")


def refuse_rounded(table: RawTable, column: str) -> None:
    """Reject identifiers that a floating-point number has rounded, so that several became one."""
    cells = table.frame[column]
    names = _codes(cells)[1]
    if not re.search(r"[eE]\+|\.0", "\n".join(names)):  # quicker than a look at each of millions
        return
    bad = cells.isin([name for name in names if is_rounded(name)]).to_numpy()
    remedy = "; floating-point numbers from 2^53 on are rounded: read the column as text"
    refuse(table, bad, "an identifier that is a text or a whole number", column, remedy)


def _is_coded(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype)


def _are_plain(names: Sequence[str]) -> bool:
    """Return True if names without outer spaces are so plain that `clean_name` returns them."""
    joined = "".join(names)
    longest = max(map(len, names), default=0)
    return joined.isascii() and joined.isprintable() and longest <= MAX_NAME_CHARS


def by_word(column: pd.Series, make: Callable[[str], str] = str) -> pd.Series:
    """Return what `make` makes of each cell; it is asked once a text.

    As categories in alphabetical order, so that cells are compared, counted and sorted by number.
    """
    codes, words = _codes(column)
    made = pa.array([*map(make, words)], pa.large_string())
    return pd.Series(_sorted(codes, made), column.index)


def is_empty(column: pd.Series) -> np.ndarray:
    """Return bool[rows], whether a cell of a raw table is missing."""
    return np.asarray(column.isna() if column.dtype == np.float64 else column == "")


def _codes(column: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """Return int[rows] and the texts that these count."""
    if _is_coded(column):
        return column.cat.codes.to_numpy(), column.cat.categories
    codes, words = pd.factorize(column)
    return codes, pd.Index(words)


def _sorted(codes: np.ndarray, words: pa.Array) -> pd.Categorical:
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
    return coded(place[codes], texts.dictionary.take(pa.array(order)).to_pylist())


def coded(codes: np.ndarray, words: Sequence[str] | np.ndarray) -> pd.Categorical:
    """Return cells that are categories: of each, which of the words it is."""
    categories: Any = pd.Index(np.array(words, object), dtype=object)
    return pd.Categorical.from_codes(codes, categories)


def numbers(
    table: RawTable, column: str, expected: str, *, optional: bool, whole: bool = False
) -> np.ndarray:
    """Turn a column into float64[rows], NaN where it is empty.

    Raises:
      DamagedData: a cell is no finite number, not whole, or empty although it may not be.
    """
    cells = table.frame[column]
    if cells.dtype == np.float64:
        values = cells.to_numpy()
    else:
        codes, words = _codes(cells)  # most stand in many rows
        each = pd.to_numeric(pd.Series(words, dtype=object), errors="coerce")
        values = np.asarray(each, dtype=np.float64)[codes]
    empty = is_empty(cells)
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
            f"{table.place(row)}: {key} {_cell(table.frame[key], row)} has {column} "
            f"{_cell(table.frame[column], row)} here and {_cell(table.frame[column], above)} "
            "above; expected one value"
        )


def _cell(column: pd.Series, row: int) -> str:
    return quote(_text(column.iat[row]))


def _text(value: object) -> str:
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value) if abs(value) < MAX_EXACT else float(value))
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    return str(value).strip()


def _parse_csv(
    name: str, data: bytes, columns: Sequence[str], mapping: Mapping[str, str]
) -> RawTable:
    def select(header: Sequence[str]) -> dict[str, str]:
        return find_columns(name, header, columns, mapping)

    header, cells, lines = _parse_plain_csv(name, data, select) or _parse_any_csv(
        name, data, select
    )
    frame = pd.DataFrame({column: cells[place] for column, place in select(header).items()})
    return RawTable(name, frame, lines, "line", header)


def _parse_plain_csv(name: str, data: bytes, select: Select) -> CsvCells | None:
    """Read a table without line breaks within cells; return None for another, or a faulty one."""
    plain = read_plain_csv(name, data, select, MAX_ROWS)
    if plain is None:
        return None
    header, table = plain
    try:
        cells = {place: _cells(name, table[place], is_csv=True) for place in table.column_names}
    except DamagedData:  # a long cell, whose line is not known here
        return None
    blank = np.logical_and.reduce([is_empty(pd.Series(column)) for column in cells.values()])
    if blank.any():  # rows may be empty, which depends on columns that were not read
        return None
    return header, cells, np.arange(2, table.num_rows + 2)


def _parse_any_csv(name: str, data: bytes, select: Select) -> CsvCells:
    header, rows, lines = parse_csv(name, data)
    places = {place: header.index(place) for place in select(header).values()}
    cells = {
        place: _cells_of_series(name, pd.Series([row[n] for row in rows], dtype=object))
        for place, n in places.items()
    }
    return header, cells, np.array(lines, dtype=np.int64)


def _parse_parquet(
    name: str,
    data: bytes,
    columns: Sequence[str],
    mapping: Mapping[str, str],
    numeric: Collection[str],
) -> RawTable:
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        header = file.schema_arrow.names
        check_header(name, header)
        found = find_columns(name, header, columns, mapping)
        kept = list(dict.fromkeys(found.values()))
        _check_size(name, file.metadata, kept)
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
        cells: dict[str, Any] = {
            column: table.column(place).cast(pa.float64(), safe=False).to_numpy()
            if column in numeric and _is_number(table.schema.field(place).type)
            else _cells(name, table.column(place))
            for column, place in found.items()
        }
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
    frame = pd.DataFrame(cells, columns=[*found], index=range(rows))
    return of_texts(name, frame)._replace(header=header, mark=mark)


def _check_size(name: str, metadata: pq.FileMetaData, columns: Sequence[str]) -> None:
    """Reject before anything is unpacked: a small file can say that it holds any number."""
    rows: Counter[str] = Counter()
    size = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for part in map(group.column, range(group.num_columns)):
            place = part.path_in_schema
            if place in columns or place.partition(".")[0] in columns:
                rows[place] += part.num_values
                size += part.total_uncompressed_size
    most = max([metadata.num_rows, *rows.values()])
    if most > MAX_ROWS:
        raise DamagedData(f"{name}: expected at most {MAX_ROWS} rows, found {most}")
    if size > MAX_BYTES:
        raise DamagedData(f"{name}: expected at most {MAX_BYTES} bytes unpacked, found {size}")


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _cells_of_series(name: str, column: pd.Series) -> pd.Categorical:
    """Return the text of each cell; convert each distinct value once."""
    try:
        codes, values = pd.factorize(column)
    except TypeError:  # such as lists
        codes, values = np.arange(len(column)), pd.Index(column)
    words = [*map(_text, values)]
    try:
        return _sorted(codes, pa.array(words, pa.large_string()))
    except UnicodeEncodeError:
        (bad, *_) = (n for n, word in enumerate(words) if re.search("[\ud800-\udfff]", word))
        raise DamagedData(
            f"{name}, row {np.argmax(codes == bad) + 1}: {column.name}: expected text in Unicode, "
            f"found {quote(words[bad])}"
        ) from None


def _cells(name: str, column: pa.ChunkedArray, *, is_csv: bool = False) -> pd.Categorical:
    """Return the text of each cell; convert each distinct value once."""
    packed = column.combine_chunks()
    try:
        if not pa.types.is_dictionary(packed.type):
            packed = packed.dictionary_encode()
        codes, values = to_numpy(packed.indices.cast(pa.int64()).fill_null(-1)), packed.dictionary
    except pa.ArrowNotImplementedError:  # what is no single value has no code
        codes, values = np.arange(len(packed)), packed
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        longest = pc.max(pc.binary_length(values)).as_py() or 0
        if longest > MOST_LETTERS:
            raise DamagedData(
                f"{name}: expected cells of at most {MOST_LETTERS} bytes, found {longest}"
            )
        words = pc.utf8_trim_whitespace(values).cast(pa.large_string())
        if is_csv and pc.any(pc.starts_with(words, "'")).as_py():
            words = pa.array([*map(parse_cell, words.to_pylist())], pa.large_string())
    else:
        words = pa.array([*map(_text, values.to_pylist())], pa.large_string())
    return _sorted(codes, words)
