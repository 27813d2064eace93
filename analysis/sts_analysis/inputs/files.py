"""Reading of tables from files: CSV, Parquet and Excel, into rows of text.

Nothing in a file is ever executed: CSV is parsed as text and Parquet by Arrow, without its
pickled pandas metadata.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sts.errors import ArgumentError, DamagedData
from sts.storage.arrow import to_numpy
from sts.storage.csv_dialect import Dialect, decode_table
from sts.storage.csv_tables import (
    CSV_SUFFIXES,
    MAX_BYTES,
    MAX_ROWS,
    check_header,
    parse_cell,
    parse_csv,
)
from sts.storage.files import read_bytes
from sts.storage.memory import limit_memory
from sts_analysis.inputs import excel
from sts_analysis.inputs.mapping import AS_WRITTEN, ColumnMapping, find_columns
from sts_analysis.inputs.plain_csv import read_plain_csv
from sts_analysis.inputs.tables import (
    MOST_OTHER_CELLS,
    InputFile,
    OtherColumn,
    RawTable,
    code_series,
    format_value,
    is_empty,
    list_other_places,
    of_texts,
    sort_words,
)

TABLE_FORMATS = (*CSV_SUFFIXES, ".parquet", excel.SUFFIX)
MOST_LETTERS = 2**17
"""Bytes of a cell; as many as Python's CSV reader takes."""


class TextCells(NamedTuple):
    """The cells that were read of a table of text.

    Attributes:
      header: the names of all columns.
      cells: columns by their places in it.
      others: columns that are not used, by their places.
      lines: int64[rows], the line of each row.
    """

    header: list[str]
    cells: dict[int, pd.Categorical]
    others: dict[int, OtherColumn]
    lines: np.ndarray


class Wanted(NamedTuple):
    """The columns to read of a file; see `read_table`."""

    name: str
    columns: Sequence[str]
    mapping: ColumnMapping
    with_others: bool = False

    def find(self, header: Sequence[str]) -> dict[str, str]:
        """Return the columns that a file has, as `find_columns` does."""
        return find_columns(self.name, header, self.columns, self.mapping)

    def list_used(self, header: Sequence[str]) -> list[int]:
        """Return the places of the columns that are used."""
        return sorted({header.index(theirs) for theirs in self.find(header).values()})

    def list_others(self, header: Sequence[str], rows: int) -> list[int]:
        """Return the places of further columns to read of a file of so many rows."""
        if not self.with_others or rows * len(header) > MOST_OTHER_CELLS:
            return []
        return list_other_places(header, self.find(header))


def read_table(
    path: Path,
    columns: Sequence[str],
    mapping: ColumnMapping = AS_WRITTEN,
    numeric: Collection[str] = (),
    *,
    with_others: bool = False,
) -> RawTable:
    """Read one file as text.

    Args:
      path: ends in one of `TABLE_FORMATS`; text has one header line.
      columns: what a table of its kind may have.
      mapping: how a user has described the file.
      numeric: columns that become float64 if the file holds them as numbers.
      with_others: also read the columns that are not used, unless they are very many cells.

    Raises:
      ArgumentError: the file does not exist or ends in something else, or has no column that
        `mapping` names.
      DamagedData: it is no regular file, or is empty, binary, truncated, ragged or too large.
      MissingExtra: it is of Excel, which needs the extra `excel`.
    """
    suffix = path.suffix.lower()
    if suffix not in TABLE_FORMATS:
        found = repr(path.suffix) if suffix else "no extension"
        *most, last = TABLE_FORMATS
        expected = f"{', '.join(most)} or {last}"
        raise ArgumentError(f"{path}: expected a {expected} table, found {found}; convert it")
    try:
        data = read_bytes(path, MAX_BYTES)
    except FileNotFoundError:
        raise ArgumentError(f"no table at {path}; check the path") from None
    wanted = Wanted(path.name, columns, mapping, with_others)
    with limit_memory(path.name):
        if not data:
            raise DamagedData(f"{path.name}: expected a table, found an empty file")
        if suffix in CSV_SUFFIXES:
            table = _parse_csv(wanted, data)
        elif suffix == excel.SUFFIX:
            header, rows, lines, sheet = excel.parse_workbook(path.name, data)
            table = _make_table(wanted, _select_cells(wanted, header, rows, lines))
            table = table._replace(unit="row", form=sheet)
        else:
            table = _parse_parquet(wanted, data, numeric)
    found_file = InputFile(path.name, len(table.lines), hashlib.sha256(data).hexdigest())
    return table._replace(folder=path.parent, inputs=(found_file,))


def _parse_csv(wanted: Wanted, data: bytes) -> RawTable:
    text, dialect = decode_table(wanted.name, data)
    cells = _parse_plain_csv(wanted, text, dialect) or _parse_any_csv(wanted, text, dialect)
    return _make_table(wanted, cells)._replace(form=str(dialect))


def _make_table(wanted: Wanted, read: TextCells) -> RawTable:
    header = read.header
    found = wanted.find(header)
    check_header(wanted.name, header, found.values())
    frame = pd.DataFrame({ours: read.cells[header.index(theirs)] for ours, theirs in found.items()})
    others = {header[place]: column for place, column in read.others.items()}
    return RawTable(wanted.name, frame, read.lines, "line", header, others=others)


def _parse_plain_csv(wanted: Wanted, text: bytes, dialect: Dialect) -> TextCells | None:
    """Read a table without line breaks within cells; return None for another, or a faulty one."""
    rows = text.count(b"\n")

    def select(header: Sequence[str]) -> list[int]:
        used = wanted.list_used(header)
        return used and used + wanted.list_others(header, rows)

    plain = read_plain_csv(wanted.name, text, dialect, select, MAX_ROWS)
    if plain is None:
        return None
    header, table = plain
    used = wanted.list_used(header)
    try:
        cells = {n: _cells(wanted.name, table[str(n)], is_csv=True) for n in used}
    except DamagedData:  # a long cell, whose line is not known here
        return None
    others = {int(n): _code_column(table[n]) for n in table.column_names if int(n) not in cells}
    blank = np.logical_and.reduce([is_empty(pd.Series(column)) for column in cells.values()])
    if blank.any():  # rows may be empty, which depends on columns that were not read
        return None
    return TextCells(header, cells, others, np.arange(2, table.num_rows + 2))


def _parse_any_csv(wanted: Wanted, text: bytes, dialect: Dialect) -> TextCells:
    return _select_cells(wanted, *parse_csv(wanted.name, text, dialect))


def _select_cells(
    wanted: Wanted, header: list[str], rows: list[list[str]], lines: Sequence[int]
) -> TextCells:
    """Return the wanted columns of rows of text."""
    cells = {
        n: code_series(wanted.name, pd.Series([row[n] for row in rows], dtype=object))
        for n in wanted.list_used(header)
    }
    others = {
        n: OtherColumn(*pd.factorize(np.array([row[n] for row in rows], object)))
        for n in wanted.list_others(header, len(rows))
    }
    return TextCells(header, cells, others, np.array(lines, dtype=np.int64))


def _code_column(column: pa.ChunkedArray) -> OtherColumn:
    packed = column.combine_chunks()
    if not pa.types.is_dictionary(packed.type):
        packed = packed.dictionary_encode()
    codes = to_numpy(packed.indices.cast(pa.int64()).fill_null(-1))
    return OtherColumn(codes, packed.dictionary)


def _parse_parquet(wanted: Wanted, data: bytes, numeric: Collection[str]) -> RawTable:
    name = wanted.name
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        header = file.schema_arrow.names
        found = wanted.find(header)
        check_header(name, header, found.values())
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
        others = {
            header[n]: _code_column(file.read(columns=[header[n]], use_threads=False)[header[n]])
            for n in wanted.list_others(header, table.num_rows)
            if header.count(header[n]) == 1 and not _is_unhashable(file.schema_arrow.field(n).type)
        }
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
    texts = of_texts(name, frame)
    return texts._replace(header=header, mark=mark, others=others, form="Parquet")


def _is_unhashable(kind: pa.DataType) -> bool:
    """Return True for a type of Parquet columns whose values have no codes."""
    return bool(pa.types.is_nested(kind) or pa.types.is_null(kind))


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
        words = pa.array([*map(format_value, values.to_pylist())], pa.large_string())
    return sort_words(codes, words)
