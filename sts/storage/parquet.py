"""Parquet files of ours: named, versioned and written atomically."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sts.errors import DamagedData, NewerFormat, StsError
from sts.names import shown
from sts.storage.files import regular_bytes, write_atomically

MOST = 2**29
"""Values that a column of arrays may hold: enough for any study, and little enough to be read."""
ROWS = 2**20
"""Rows of a file."""
ITEMS = 2**24
"""Values of any other column: each becomes an object of its own."""
BYTES = 2**31
"""Bytes of a column, and of its texts when each stands for itself."""
_LARGEST = 2**32
_NUMBERS = (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.float32(), pa.float64())
_ARRAYS = tuple(map(pa.list_, _NUMBERS))


def lists(arrays: Sequence[NDArray[Any]], item: pa.DataType) -> pa.ListArray:
    """Returns one list a row, each an array flattened row by row.

    Raises:
      StsError: they hold more than a column may.
    """
    offsets = np.concatenate(([0], np.cumsum([a.size for a in arrays], dtype=np.int64)))
    if offsets[-1] > MOST:
        raise StsError(f"expected at most {MOST} values in a column, found {offsets[-1]}")
    flat = np.concatenate([a.ravel() for a in arrays]) if arrays else np.empty(0)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(flat, item))


def unlist(table: pa.Table, name: str) -> list[NDArray[Any]]:
    """Returns each row's list of column `name` as a flat array."""
    column = table.column(name).combine_chunks()
    values = column.flatten().to_numpy(zero_copy_only=False)
    ends = np.cumsum(column.value_lengths().to_numpy(zero_copy_only=False))
    return np.split(values, ends[:-1]) if len(ends) else []


def write(path: Path, kind: str, version: int, schema: dict[str, Any], columns: Any) -> None:
    """Writes a Parquet file that says what it is; `columns` maps the names of `schema`.

    Raises:
      DamagedData: a value does not fit its column, as a number that is too large.
      StsError: there are more rows than are read.
    """
    fields = pa.schema(list(schema.items()), metadata={"sts.format": f"{kind}/{version}"})
    arrays = [_array(path, name, item, columns[name]) for name, item in schema.items()]
    table = pa.Table.from_arrays(arrays, schema=fields)
    if table.num_rows > ROWS:
        raise StsError(f"{path}: expected at most {ROWS} rows in a file, found {table.num_rows}")
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    write_atomically(path, sink.getvalue())


def _array(path: Path, name: str, item: pa.DataType, values: Any) -> pa.Array:
    try:
        return pa.array(values, item)
    except (pa.ArrowException, OverflowError, UnicodeError) as error:
        raise DamagedData(f"{path}: column {name} cannot hold what is no {item}: {error}") from None


def read(path: Path, kind: str, version: int, schema: dict[str, Any]) -> pa.Table:
    """Returns the columns of `schema` in a file that `write` made.

    Raises:
      DamagedData: no Parquet file, or not of this kind, or of an earlier version, or a column is
        missing, of another type, with a gap, or larger than a file of ours can be.
      NewerFormat: a later version of the format.
      FileNotFoundError: there is none.
    """
    with _opened(path, f"a Parquet file of {kind}") as file:
        fields = file.fields
        mark = (fields.metadata or {}).get(b"sts.format", b"").decode(errors="replace")
        name, _, number = mark.rpartition("/")
        if name != kind or not number.isdecimal():
            other = shown(mark) if mark else "another"
            raise DamagedData(f"{path}: expected a Parquet file of {kind}, found {other}")
        if len(number) > 9 or int(number) > version:
            raise NewerFormat(
                f"{path}: {kind} format {number[:9]}; this version reads up to {version}: "
                "update sts"
            )
        if int(number) < version:
            raise DamagedData(
                f"{path}: {kind} format {number}; this version reads {version}: move the file "
                "away and make it again"
            )
        for column, item in schema.items():
            if column not in fields.names:
                raise DamagedData(f"{path}: column {column} is missing")
            if fields.field(column).type != item:
                raise DamagedData(f"{path}: column {column} is not {item}")
        table = _unpacked(path, file, list(schema))
    for column in schema:
        if any(_gaps(chunk) for chunk in table.column(column).chunks):
            raise DamagedData(f"{path}: column {column} has a gap")
    return table


def read_plain(path: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the rows of a Parquet file that says nothing of itself; a gap is None.

    Raises:
      DamagedData: no Parquet file, or a column is missing, or too much is in it.
      FileNotFoundError: there is none.
    """
    with _opened(path, "a Parquet file") as file:
        for column in columns:
            if column not in file.fields.names:
                raise DamagedData(f"{path}: column {column} is missing")
        rows: list[dict[str, Any]] = _unpacked(path, file, columns).to_pylist()
    return rows


class _Opened(NamedTuple):
    """A Parquet file in memory, and what it says of itself."""

    raw: bytes
    fields: pa.Schema
    metadata: pq.FileMetaData


@contextmanager
def _opened(path: Path, what: str) -> Iterator[_Opened]:
    raw = regular_bytes(path, _LARGEST)
    try:
        file = pq.ParquetFile(pa.BufferReader(raw))
        yield _Opened(raw, file.schema_arrow, file.metadata)
    except (pa.ArrowException, OSError) as error:
        raise DamagedData(f"{path}: expected {what}: {error}") from None


def _unpacked(path: Path, file: _Opened, columns: Sequence[str]) -> pa.Table:
    """Returns columns of a file that is neither larger than its metadata may say, nor unpacks so.

    A text that stands in many rows stands in the file once. It is read as it stands there, so that
    what the rows come to is known before they are made.
    """
    types = {name: file.fields.field(name).type for name in columns}
    _check_sizes(path, file.metadata, types)
    leaves = [file.metadata.schema.column(i) for i in range(file.metadata.num_columns)]
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    source = pa.BufferReader(file.raw)
    packed = pq.ParquetFile(source, metadata=file.metadata, read_dictionary=texts)
    table = packed.read(columns=list(columns), use_threads=False)
    for name in columns:
        if sum(map(_text_bytes, table.column(name).chunks)) > BYTES:
            raise DamagedData(f"{path}: the texts of column {name} come to more than {BYTES} bytes")
    return table.cast(pa.schema(list(types.items()), table.schema.metadata))


def _text_bytes(chunk: pa.Array) -> int:
    """Returns how many bytes texts take that stand in a dictionary, each counted where it is."""
    values = chunk.flatten() if pa.types.is_list(chunk.type) else chunk
    if not pa.types.is_dictionary(values.type):
        return 0
    lengths = pc.binary_length(values.dictionary).take(values.indices)
    return int(pc.sum(lengths).as_py() or 0)


def _check_sizes(path: Path, metadata: pq.FileMetaData, columns: Mapping[str, pa.DataType]) -> None:
    """Refuses before anything is unpacked: a small file can say that it holds any number."""
    if metadata.num_rows > ROWS:
        raise DamagedData(f"{path}: expected at most {ROWS} rows, found {metadata.num_rows}")
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    for i in range(metadata.num_columns):
        name = metadata.schema.column(i).path.partition(".")[0]
        if name not in columns:
            continue
        parts = [group.column(i) for group in groups]
        count, size = (
            sum(p.num_values for p in parts),
            sum(p.total_uncompressed_size for p in parts),
        )
        most = MOST + ROWS if columns[name] in _ARRAYS else ITEMS
        if count > most or size > BYTES:
            raise DamagedData(
                f"{path}: column {name} has {count} values of {size} bytes; no file of ours is so "
                f"large"
            )


def _gaps(chunk: pa.Array) -> bool:
    inner = pa.types.is_list(chunk.type) and chunk.flatten().null_count
    return bool(chunk.null_count or inner)
