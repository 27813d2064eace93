"""Parquet files of ours: named, versioned and written atomically."""

from __future__ import annotations

import errno
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sts.errors import DamagedData, NewerFormat, StsError
from sts.names import shown
from sts.storage import arrow, footers
from sts.storage.files import regular, regular_bytes, write_atomically

MAX_ROWS = 2**20
"""Rows of a file."""
MAX_ITEMS = 2**24
"""Values of any other column: each becomes an object of its own."""
_MAX_RATINGS_ROWS = 5_000_000
"""Rows of a ratings table."""
_MAX_FILE_BYTES = 2**32
_NUMBERS = (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.float32(), pa.float64())
_ARRAYS = tuple(map(pa.list_, _NUMBERS))


def write(path: Path, kind: str, version: int, schema: dict[str, Any], columns: Any) -> None:
    """Write a Parquet file that says what it is; arguments and errors as of `packed`."""
    write_atomically(path, packed(str(path), kind, version, schema, columns))


def packed(
    name: str,
    kind: str,
    version: int,
    schema: dict[str, Any],
    columns: Any,
    *,
    group: int | None = None,
    apart: int = 0,
    rows: int | None = None,
    metadata: Mapping[str, str] | None = None,
) -> bytes:
    """Return the bytes of a Parquet file that says what it is.

    Args:
      name: of the file; what an error begins with.
      kind: of the format.
      version: its.
      schema: the type of each column.
      columns: their values, by the names of `schema`.
      group: rows of a row group; None leaves that to Arrow.
      apart: so many rows at first are in row groups of their own.
      rows: that it may have; None for `MAX_ROWS`.
      metadata: what it says of itself besides.

    Raises:
      DamagedData: a value does not fit its column, as a number that is too large.
      StsError: there are more rows than are read.
    """
    told = {"sts.format": f"{kind}/{version}", **(metadata or {})}
    fields = pa.schema(list(schema.items()), metadata=told)
    arrays = [_build_array(name, one, item, columns[one]) for one, item in schema.items()]
    table = pa.Table.from_arrays(arrays, schema=fields)
    most = MAX_ROWS if rows is None else rows
    if table.num_rows > most:
        raise StsError(f"{name}: expected at most {most} rows in a file, found {table.num_rows}")
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, fields, compression="zstd", write_page_checksum=True) as writer:
        for part in (table.slice(0, apart), table.slice(apart)) if apart else (table,):
            writer.write_table(part, group)
    return footers.add_digest(sink.getvalue())


def _build_array(file: str, name: str, item: pa.DataType, values: Any) -> pa.Array:
    if isinstance(values, pa.Array | pa.ChunkedArray) and values.type == item:
        return values
    try:
        return pa.array(values, item)
    except (pa.ArrowException, OverflowError, UnicodeError) as error:
        raise DamagedData(f"{file}: column {name} cannot hold what is no {item}: {error}") from None


def read(path: Path, kind: str, version: int, schema: dict[str, Any]) -> pa.Table:
    """Return the columns of `schema` in a file that `write` made.

    Raises:
      DamagedData: no Parquet file, or not of this kind, or of an earlier version, or a column is
        missing, of another type, with a gap, or larger than a file of ours can be.
      NewerFormat: a later version of the format.
      FileNotFoundError: there is none.
    """
    return unpacked(str(path), raw_bytes(path), kind, version, schema)


def raw_bytes(path: Path) -> bytes:
    """Return what a file holds that is not too large to be one of ours; errors as of `read`."""
    return regular_bytes(path, _MAX_FILE_BYTES)


def sought(
    path: Path, kind: str, version: int, schema: dict[str, Any], *, groups: Sequence[int] | None
) -> tuple[pa.Table, list[int]]:
    """Return what `read` does, of some row groups, and how many rows each group of the file has.

    No more of the file is read than that takes; None reads all groups.
    """
    with regular(path, _MAX_FILE_BYTES) as file:
        raw = pa.PythonFile(file, mode="r")
        table = unpacked(str(path), raw, kind, version, schema, groups=groups)
        with _open_parquet(str(path), raw, "a Parquet file") as inside:
            every = range(inside.metadata.num_row_groups)
            return table, [inside.metadata.row_group(one).num_rows for one in every]


class GroupRange(NamedTuple):
    """A row group: how many rows it has, and the least and the greatest value of a column."""

    rows: int
    least: Any
    most: Any


def spans(path: Path, column: str) -> list[GroupRange]:
    """Return what a Parquet file says of each of its row groups, none of which is read.

    Raises:
      DamagedData: it is no Parquet file, or says nothing of that column.
    """
    with regular(path, _MAX_FILE_BYTES) as file:
        with _open_parquet(str(path), pa.PythonFile(file, mode="r"), "a Parquet file") as inside:
            if column not in inside.fields.names:
                raise DamagedData(f"{path}: column {column} is missing")
            place = inside.metadata.schema.names.index(column)
            groups = map(inside.metadata.row_group, range(inside.metadata.num_row_groups))
            return [_group_range(path, group, place) for group in groups]


def _group_range(path: Path, group: Any, place: int) -> GroupRange:
    if not group.num_rows:
        return GroupRange(0, None, None)
    told = group.column(place).statistics
    if told is None or not told.has_min_max:
        raise DamagedData(f"{path}: a row group does not say what is in it")
    return GroupRange(group.num_rows, told.min, told.max)


def unpacked(
    name: str,
    raw: bytes | pa.NativeFile,
    kind: str,
    version: int,
    schema: dict[str, Any],
    *,
    groups: Sequence[int] | None = None,
    rows: int | None = None,
    optional: Collection[str] = (),
) -> pa.Table:
    """Return the columns of `schema` in the bytes that `packed` made; errors as of `read`.

    Args:
      name: of the file; what an error begins with.
      raw: its bytes, or where they are.
      kind: of the format.
      version: its.
      schema: the type of each column that is read.
      groups: the row groups that are read, of those that there are; None reads all.
      rows: that it may have; None for `MAX_ROWS`.
      optional: columns that may have gaps.
    """
    with _open_parquet(name, raw, f"a Parquet file of {kind}") as file:
        fields = file.fields
        mark = (fields.metadata or {}).get(b"sts.format", b"").decode(errors="replace")
        found, _, number = mark.rpartition("/")
        if found != kind or not number.isdecimal():
            other = shown(mark) if mark else "another"
            raise DamagedData(f"{name}: expected a Parquet file of {kind}, found {other}")
        if len(number) > 9 or int(number) > version:
            raise NewerFormat(
                f"{name}: {kind} format {number[:9]}; this version reads up to {version}: "
                "update sts"
            )
        if int(number) < version:
            raise DamagedData(
                f"{name}: {kind} format {number}; this version reads {version}: move the file "
                "away and make it again"
            )
        for column, item in schema.items():
            if column not in fields.names:
                raise DamagedData(f"{name}: column {column} is missing")
            if fields.field(column).type != item:
                raise DamagedData(f"{name}: column {column} is not {item}")
        table = _read_columns(name, file, list(schema), groups, rows)
    for column in schema:
        if column not in optional and any(map(_has_gaps, table.column(column).chunks)):
            raise DamagedData(f"{name}: column {column} has a gap")
    return table


def read_coded(
    name: str, raw: bytes, columns: Sequence[str]
) -> list[tuple[NDArray[Any], list[str]]]:
    """Return columns of texts without a gap: of each row a code, and the text of each code.

    Raises:
      DamagedData: no Parquet file, or a column is missing, or no texts, or too much is in it.
    """
    with _open_parquet(name, raw, "a Parquet file") as file:
        for column in columns:
            if column not in file.fields.names or file.fields.field(column).type != pa.string():
                raise DamagedData(f"{name}: expected texts in a column {column}, found none")
        table = _read_columns(name, file, columns, rows=_MAX_RATINGS_ROWS, coded=True)
    each = [table.column(column).combine_chunks() for column in columns]
    if any(one.null_count for one in each):
        raise DamagedData(f"{name}: a column of {', '.join(columns)} has a gap")
    return [(arrow.as_numpy(one.indices), one.dictionary.to_pylist()) for one in each]


def metadata(name: str, raw: bytes) -> dict[str, str]:
    """Return what a Parquet file says of itself; errors as of `read`."""
    with _open_parquet(name, raw, "a Parquet file") as file:
        told = file.fields.metadata or {}
    return {key.decode(errors="replace"): v.decode(errors="replace") for key, v in told.items()}


class _OpenFile(NamedTuple):
    """An open Parquet file, and what it says of itself."""

    raw: pa.NativeFile
    fields: pa.Schema
    metadata: pq.FileMetaData


@contextmanager
def _open_parquet(name: str, raw: bytes | pa.NativeFile, what: str) -> Iterator[_OpenFile]:
    try:
        source = pa.BufferReader(raw) if isinstance(raw, bytes) else raw
        footers.check_digest(name, source, what)
        file = pq.ParquetFile(source)
        yield _OpenFile(source, file.schema_arrow, file.metadata)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if getattr(error, "errno", None) == errno.EIO:  # the disk's, and no word about the file
            raise
        raise DamagedData(f"{name}: expected {what}: {error}") from None


def _read_columns(
    name: str,
    file: _OpenFile,
    columns: Sequence[str],
    groups: Sequence[int] | None = None,
    rows: int | None = None,
    coded: bool = False,
) -> pa.Table:
    """Return columns of a file that is neither larger than its metadata may say, nor unpacks so.

    A text that stands in many rows stands in the file once. It is read as it stands there, so that
    what the rows come to is known before they are made; and stays so where it is to be `coded`.
    """
    types = {column: file.fields.field(column).type for column in columns}
    _check_sizes(name, file.metadata, types, MAX_ROWS if rows is None else rows)
    leaves = [file.metadata.schema.column(i) for i in range(file.metadata.num_columns)]
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    inside = pq.ParquetFile(
        file.raw, metadata=file.metadata, read_dictionary=texts, page_checksum_verification=True
    )
    every = range(file.metadata.num_row_groups)
    chosen = [group for group in every if groups is None or group in groups]
    # Arrow reads no lists of texts whose dictionaries differ, as those of two row groups do.
    listed = any(kind == pa.list_(pa.string()) for kind in types.values())
    each = [[group] for group in chosen] if listed and chosen else [chosen]
    table = pa.concat_tables(
        inside.read_row_groups(some, columns=list(columns), use_threads=False) for some in each
    )
    for column in columns:
        if sum(map(_text_bytes, table.column(column).chunks)) > arrow.MAX_BYTES:
            raise DamagedData(
                f"{name}: the texts of column {column} come to more than {arrow.MAX_BYTES} bytes"
            )
    if coded:
        return table.unify_dictionaries()
    return table.cast(pa.schema(list(types.items()), table.schema.metadata))


def _text_bytes(chunk: pa.Array) -> int:
    """Return how many bytes texts take that stand in a dictionary, each counted where it is."""
    values = chunk.flatten() if pa.types.is_list(chunk.type) else chunk
    if not pa.types.is_dictionary(values.type):
        return 0
    import pyarrow.compute as pc  # as long to import as pyarrow itself

    lengths = pc.binary_length(values.dictionary).take(values.indices)
    return int(pc.sum(lengths).as_py() or 0)


def _check_sizes(
    file: str, metadata: pq.FileMetaData, columns: Mapping[str, pa.DataType], rows: int
) -> None:
    """Refuses before anything is unpacked: a small file can say that it holds any number."""
    if metadata.num_rows > rows:
        raise DamagedData(f"{file}: expected at most {rows} rows, found {metadata.num_rows}")
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
        most = arrow.MOST + MAX_ROWS if columns[name] in _ARRAYS else MAX_ITEMS
        if count > most or size > arrow.MAX_BYTES:
            raise DamagedData(
                f"{file}: column {name} has {count} values of {size} bytes; no file of ours is so "
                f"large"
            )


def _has_gaps(chunk: pa.Array) -> bool:
    inner = pa.types.is_list(chunk.type) and chunk.flatten().null_count
    return bool(chunk.null_count or inner)
