"""Parquet files of ours: named, versioned and written atomically."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sts.errors import DamagedData, NewerFormat, StsError
from sts.storage.files import write_atomically

MOST = 2**29
"""Values that a column of a file may hold: enough for any study, and little enough to be read."""


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
    """Writes a Parquet file that says what it is; `columns` maps the names of `schema`."""
    fields = pa.schema(list(schema.items()), metadata={"sts.format": f"{kind}/{version}"})
    arrays = [pa.array(columns[name], item) for name, item in schema.items()]
    table = pa.Table.from_arrays(arrays, schema=fields)
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    write_atomically(path, sink.getvalue())


def read(path: Path, kind: str, version: int, schema: dict[str, Any]) -> pa.Table:
    """Returns the columns of `schema` in a file that `write` made.

    Raises:
      DamagedData: no Parquet file, or not of this kind, or of an earlier version, or a column is
        missing, of another type, with a gap, or larger than a file of ours can be.
      NewerFormat: a later version of the format.
      FileNotFoundError: there is none.
    """
    raw = path.read_bytes()
    try:
        file = pq.ParquetFile(pa.BufferReader(raw))
        found = file.schema_arrow
        mark = (found.metadata or {}).get(b"sts.format", b"").decode(errors="replace")
        name, _, number = mark.rpartition("/")
        if name != kind or not number.isdigit():
            other = mark or "another"
            raise DamagedData(f"{path}: expected a Parquet file of {kind}, found {other}")
        if int(number) > version:
            raise NewerFormat(
                f"{path}: {kind} format {number}; this version reads up to {version}: update sts"
            )
        if int(number) < version:
            raise DamagedData(
                f"{path}: {kind} format {number}; this version reads {version}: move the file "
                "away and make it again"
            )
        for column, wanted in schema.items():
            if column not in found.names:
                raise DamagedData(f"{path}: column {column} is missing")
            if found.field(column).type != wanted:
                raise DamagedData(f"{path}: column {column} is not {wanted}")
        _check_sizes(path, file.metadata)
        table = file.read(columns=list(schema), use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise DamagedData(f"{path}: expected a Parquet file of {kind}: {error}") from None
    for column in schema:
        if any(_gaps(chunk) for chunk in table.column(column).chunks):
            raise DamagedData(f"{path}: column {column} has a gap")
    return table


def _check_sizes(path: Path, metadata: pq.FileMetaData) -> None:
    """Refuses before anything is unpacked: a small file can say that it holds any number."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    for i in range(metadata.num_columns):
        parts = [group.column(i) for group in groups]
        size = max(sum(p.num_values for p in parts), sum(p.total_uncompressed_size for p in parts))
        if size > 4 * MOST:
            raise DamagedData(f"{path}: a column of {size} bytes or values is no file of ours")


def _gaps(chunk: pa.Array) -> bool:
    inner = pa.types.is_list(chunk.type) and chunk.flatten().null_count
    return bool(chunk.null_count or inner)
