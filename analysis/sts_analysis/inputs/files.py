"""Reading of ratings and scores tables: CSV, Parquet, Excel and data frames, into rows of text.

Nothing in a file is ever executed: CSV is parsed as text and Parquet by Arrow, without its
pickled pandas metadata.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sts.errors import ArgumentError, DamagedData
from sts.storage.csv_tables import CSV_SUFFIXES, MAX_BYTES, MAX_ROWS
from sts.storage.files import read_bytes
from sts.storage.memory import limit_memory
from sts_analysis.inputs import tables
from sts_analysis.inputs.csv_files import MAX_CELL_BYTES, open_csv
from sts_analysis.inputs.excel import EXCEL_SUFFIX, open_workbook
from sts_analysis.inputs.mapping import AS_WRITTEN, ColumnMapping
from sts_analysis.inputs.tables import Cells, InputFile, RawTable, Source

TABLE_FORMATS = (*CSV_SUFFIXES, ".parquet", EXCEL_SUFFIX)


def read_table(
    path_or_frame: Path | pd.DataFrame,
    columns: Sequence[str],
    mapping: ColumnMapping = AS_WRITTEN,
    numeric: Collection[str] = (),
    *,
    name: str = "table",
    with_others: bool = False,
) -> RawTable:
    """Read a file or a data frame as text; see `tables.select_columns`.

    Args:
      path_or_frame: a data frame, or the path of a file that ends in one of `TABLE_FORMATS`; text
        has one header line.
      columns: what a table of its kind may have.
      mapping: how a user has described it.
      numeric: columns that become float64 if it holds them as numbers.
      name: of a data frame, for errors.
      with_others: also read the columns that are not used, unless they are very many cells.

    Raises:
      ArgumentError: the file does not exist or ends in something else, or has no column that
        `mapping` names.
      DamagedData: it is no regular file, or is empty, binary, truncated, ragged or too large.
      MissingExtra: it is of Excel, which needs the extra `excel`.
    """
    if isinstance(path_or_frame, pd.DataFrame):
        source = tables.open_frame(name, path_or_frame)
        table = tables.select_columns(source, columns, mapping, numeric, with_others=with_others)
        return table._replace(inputs=(tables.describe_frame(name, path_or_frame),))
    suffix = path_or_frame.suffix.lower()
    if suffix not in TABLE_FORMATS:
        found = repr(path_or_frame.suffix) if suffix else "no extension"
        *most, last = TABLE_FORMATS
        error = f"expected a {', '.join(most)} or {last} table, found {found}; convert it"
        raise ArgumentError(f"{path_or_frame}: {error}")
    try:
        data = read_bytes(path_or_frame, MAX_BYTES)
    except FileNotFoundError:
        raise ArgumentError(f"no table at {path_or_frame}; check the path") from None
    if not data:
        raise DamagedData(f"{path_or_frame.name}: expected a table, found an empty file")
    with limit_memory(path_or_frame.name):
        by_suffix = {".parquet": _open_parquet, EXCEL_SUFFIX: open_workbook}
        source = by_suffix.get(suffix, open_csv)(path_or_frame.name, data)
        table = tables.select_columns(source, columns, mapping, numeric, with_others=with_others)
    # Arrow would keep memory for tables to come.
    pa.default_memory_pool().release_unused()
    found_file = InputFile(path_or_frame.name, len(table.lines), hashlib.sha256(data).hexdigest())
    return table._replace(folder=path_or_frame.parent, inputs=(found_file,))


def _open_parquet(name: str, data: bytes) -> Source:
    with _refuse_damage(name):
        file = pq.ParquetFile(pa.BufferReader(data))
        schema, metadata = file.schema_arrow, file.metadata

    def read(used_places: Sequence[int], other_places: Sequence[int]) -> Cells:
        rows, size = _measure(metadata, [schema.names[n] for n in used_places])
        if rows > MAX_ROWS:
            raise DamagedData(f"{name}: expected at most {MAX_ROWS} rows, found {rows}")
        if size > MAX_BYTES:
            raise DamagedData(f"{name}: expected at most {MAX_BYTES} bytes unpacked, found {size}")
        if size + _measure(metadata, [schema.names[n] for n in other_places])[1] > MAX_BYTES:
            other_places = ()
        for column in map(schema.field, used_places):
            if pa.types.is_nested(column.type):
                raise DamagedData(
                    f"{name}: expected a text or a number in each cell of column {column.name}, "
                    f"found {column.type!s:.60}"
                )
        other_places = [n for n in other_places if not pa.types.is_nested(schema.field(n).type)]
        places = {schema.names[n]: n for n in (*other_places, *used_places)}
        places = {column: n for column, n in places.items() if schema.names.count(column) == 1}
        with _refuse_damage(name):
            # Dictionaries stay packed: one long text in each of many rows is held once.
            file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=[*places])
            table = file.read(columns=[*places], use_threads=False)
        for n in used_places:
            _check_lengths(name, table[schema.names[n]])
        columns = {n: tables.from_arrow(table[column]) for column, n in places.items()}
        return columns, np.arange(1, table.num_rows + 1)

    mark = (schema.metadata or {}).get(b"sts.format", b"").decode(errors="replace")
    return Source(name, schema.names, metadata.num_rows, read, "row", "Parquet", mark)


@contextmanager
def _refuse_damage(name: str) -> Iterator[None]:
    try:
        yield
    except MemoryError:  # which Arrow's own is, too
        raise
    except (pa.ArrowException, OSError) as error:
        raise DamagedData(
            f"{name}: expected a Parquet file, found a damaged one; write it again"
        ) from error


def _measure(file: pq.FileMetaData, columns: Sequence[str]) -> tuple[int, int]:
    """Return how many rows and unpacked bytes columns have; a small file can say any number."""
    values: Counter[str] = Counter()
    size = 0
    for group in map(file.row_group, range(file.num_row_groups)):
        for part in map(group.column, range(group.num_columns)):
            place = part.path_in_schema
            if place in columns or place.partition(".")[0] in columns:
                values[place] += part.num_values
                size += part.total_uncompressed_size
    return max([file.num_rows, *values.values()]), size


def _check_lengths(name: str, column: pa.ChunkedArray) -> None:
    """Refuse a text that is longer than the reader of CSV takes."""
    for part in column.chunks:
        if pa.types.is_dictionary(part.type):
            longest = pc.max(pc.binary_length(part.dictionary)).as_py() or 0
            if longest > MAX_CELL_BYTES:
                raise DamagedData(
                    f"{name}: expected cells of at most {MAX_CELL_BYTES} bytes, found {longest}"
                )
