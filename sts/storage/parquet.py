"""Parquet files with a format name and version, written atomically."""

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
from sts.names import quote
from sts.storage import arrow, csv_tables, footers
from sts.storage.files import open_regular, read_bytes, write_atomically

MAX_ROWS = 2**20
"""Maximum rows of a file."""
MAX_ITEMS = 2**24
"""Maximum values of a column other than lists of numbers, whose values become Python objects."""
_MAX_FILE_BYTES = 2**32
_NUMBERS = (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.float32(), pa.float64())
_ARRAYS = tuple(map(pa.list_, _NUMBERS))


def write_table(
    path: Path, kind: str, version: int, schema: dict[str, Any], columns: Mapping[str, Any]
) -> None:
    """Write a Parquet file; arguments and errors as for `encode_table`."""
    write_atomically(path, encode_table(str(path), kind, version, schema, columns))


def encode_table(
    name: str,
    kind: str,
    version: int,
    schema: dict[str, Any],
    columns: Mapping[str, Any],
    *,
    group_rows: int | None = None,
    first_group_rows: int = 0,
    max_rows: int | None = None,
    metadata: Mapping[str, str] | None = None,
) -> bytes:
    """Encode a table as a Parquet file with its format and version.

    Args:
      name: of the file; the prefix of errors.
      kind: of the format.
      version: of the format.
      schema: the type of each column.
      columns: their values, by name.
      group_rows: rows of a row group; None for Arrow's default.
      first_group_rows: the number of first rows that get row groups of their own.
      max_rows: the maximum number; None for `MAX_ROWS`.
      metadata: further key-value metadata.

    Raises:
      DamagedData: a value does not fit its column, such as a number that is too large.
      StsError: there are too many rows.
    """
    entries = {"sts.format": f"{kind}/{version}", **(metadata or {})}
    fields = pa.schema(list(schema.items()), metadata=entries)
    arrays = [_build_array(name, key, data_type, columns[key]) for key, data_type in schema.items()]
    table = pa.Table.from_arrays(arrays, schema=fields)
    limit = MAX_ROWS if max_rows is None else max_rows
    if table.num_rows > limit:
        raise StsError(f"{name}: expected at most {limit} rows in a file, found {table.num_rows}")
    sink = io.BytesIO()
    leading = table.slice(0, first_group_rows)
    with pq.ParquetWriter(sink, fields, compression="zstd", write_page_checksum=True) as writer:
        for rows in (leading, table.slice(first_group_rows)) if first_group_rows else (table,):
            writer.write_table(rows, group_rows)
    return footers.add_digest(sink.getvalue())


def _build_array(file: str, name: str, data_type: pa.DataType, values: Any) -> pa.Array:
    if isinstance(values, pa.Array | pa.ChunkedArray) and values.type == data_type:
        return values
    try:
        return pa.array(values, data_type)
    except (pa.ArrowException, OverflowError, UnicodeError) as error:
        raise DamagedData(f"{file}: column {name}: expected {data_type}: {error}") from None


def read_table(path: Path, kind: str, version: int, schema: dict[str, Any]) -> pa.Table:
    """Read the columns of `schema` from a file that `write_table` wrote.

    Raises:
      DamagedData: it is not a Parquet file of this kind, is of an earlier version, or a column is
        missing, has another type, contains nulls or is too large.
      NewerFormat: it has a later version of the format.
      FileNotFoundError: it does not exist.
    """
    return decode_table(str(path), read_raw(path), kind, version, schema)


def read_raw(path: Path) -> bytes:
    """Read the bytes of a file of at most 4 GiB; errors as for `read_table`."""
    return read_bytes(path, _MAX_FILE_BYTES)


def read_groups(
    path: Path, kind: str, version: int, schema: dict[str, Any], *, groups: Sequence[int] | None
) -> tuple[pa.Table, list[int]]:
    """Read some row groups, None for all; return the table and the rows of every row group.

    Only the necessary part of the file is read; errors as for `read_table`.
    """
    with open_regular(path, _MAX_FILE_BYTES) as file:
        raw = pa.PythonFile(file, mode="r")
        table = decode_table(str(path), raw, kind, version, schema, groups=groups)
        with _open_parquet(str(path), raw, "a Parquet file") as inside:
            indices = range(inside.metadata.num_row_groups)
            sizes = [inside.metadata.row_group(i).num_rows for i in indices]
    pa.default_memory_pool().release_unused()  # decoding takes several times what the table takes
    return table, sizes


class GroupRange(NamedTuple):
    """The number of rows of a row group, with the minimum and maximum of a column."""

    rows: int
    minimum: Any
    maximum: Any


def read_ranges(path: Path, column: str) -> list[GroupRange]:
    """Return the range of a column in each row group, from the statistics in the file."""
    with open_regular(path, _MAX_FILE_BYTES) as file:
        with _open_parquet(str(path), pa.PythonFile(file, mode="r"), "a Parquet file") as inside:
            if column not in inside.fields.names:
                raise DamagedData(f"{path}: column {column} is missing")
            column_index = inside.metadata.schema.names.index(column)
            groups = map(inside.metadata.row_group, range(inside.metadata.num_row_groups))
            return [_group_range(path, group, column_index) for group in groups]


def _group_range(path: Path, group: Any, column_index: int) -> GroupRange:
    if not group.num_rows:
        return GroupRange(0, None, None)
    statistics = group.column(column_index).statistics
    if statistics is None or not statistics.has_min_max:
        raise DamagedData(f"{path}: a row group has no column statistics")
    return GroupRange(group.num_rows, statistics.min, statistics.max)


def decode_table(
    name: str,
    raw: bytes | pa.NativeFile,
    kind: str,
    version: int,
    schema: dict[str, Any],
    *,
    groups: Sequence[int] | None = None,
    max_rows: int | None = None,
    optional: Collection[str] = (),
) -> pa.Table:
    """Decode the columns of `schema` from a file of `encode_table`; errors as for `read_table`.

    Args:
      name: of the file; the prefix of errors.
      raw: its bytes, or an open file.
      kind: of the format.
      version: of the format.
      schema: the type of each column to read.
      groups: indices of row groups to read, missing ones being ignored; None for all.
      max_rows: the maximum number; None for `MAX_ROWS`.
      optional: columns that may contain nulls.
    """
    with _open_parquet(name, raw, f"a Parquet file of {kind}") as file:
        fields = file.fields
        stored_format = (fields.metadata or {}).get(b"sts.format", b"").decode(errors="replace")
        found_kind, _, number = stored_format.rpartition("/")
        if found_kind != kind or not number.isdecimal():
            other = quote(stored_format) if stored_format else "another"
            raise DamagedData(f"{name}: expected a Parquet file of {kind}, found {other}")
        if len(number) > 9 or int(number) > version:
            raise NewerFormat(
                f"{name}: {kind} format {number[:9]}; this version reads up to {version}: "
                "update sts"
            )
        if int(number) < version:
            raise DamagedData(
                f"{name}: {kind} format {number}; this version reads {version}: move the file "
                "away and create it again"
            )
        names = set(fields.names)
        for column, data_type in schema.items():
            if column not in names:
                raise DamagedData(f"{name}: column {column} is missing")
            if (stored := fields.field(column).type) != data_type:
                raise DamagedData(f"{name}: column {column}: expected {data_type}, found {stored}")
        table = _read_columns(name, file, list(schema), groups, max_rows)
    for column in schema:
        if column not in optional and any(map(_has_gaps, table.column(column).chunks)):
            raise DamagedData(f"{name}: column {column} has missing values")
    return table


def read_coded(
    name: str, raw: bytes, columns: Sequence[str]
) -> list[tuple[NDArray[Any], list[str]]]:
    """Read text columns as codes, with the text of each code; errors as for `read_table`."""
    with _open_parquet(name, raw, "a Parquet file") as file:
        for column in columns:
            if column not in file.fields.names or file.fields.field(column).type != pa.string():
                raise DamagedData(f"{name}: expected a text column {column}, found none")
        table = _read_columns(name, file, columns, max_rows=csv_tables.MAX_ROWS, coded=True)
    arrays = [table.column(column).combine_chunks() for column in columns]
    if any(array.null_count for array in arrays):
        raise DamagedData(f"{name}: a column of {', '.join(columns)} has missing values")
    return [(arrow.to_numpy(array.indices), array.dictionary.to_pylist()) for array in arrays]


def read_metadata(name: str, raw: bytes) -> dict[str, str]:
    """Return the key-value metadata of a Parquet file; errors as for `read_table`."""
    with _open_parquet(name, raw, "a Parquet file") as file:
        entries = file.fields.metadata or {}
    return {key.decode(errors="replace"): v.decode(errors="replace") for key, v in entries.items()}


class _OpenFile(NamedTuple):
    """An open Parquet file with its schema and metadata."""

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
        if getattr(error, "errno", None) == errno.EIO:  # a disk error, not a damaged file
            raise
        raise DamagedData(f"{name}: expected {what}: {error}") from None


def _read_columns(
    name: str,
    file: _OpenFile,
    columns: Sequence[str],
    groups: Sequence[int] | None = None,
    max_rows: int | None = None,
    coded: bool = False,
) -> pa.Table:
    """Read columns of a file, with limits on its stated and its decoded size.

    Texts are read dictionary-encoded, so that their total size is known before they are expanded.
    With `coded`, they remain so.
    """
    types = {column: file.fields.field(column).type for column in columns}
    _check_sizes(name, file.metadata, types, MAX_ROWS if max_rows is None else max_rows)
    leaves = [file.metadata.schema.column(i) for i in range(file.metadata.num_columns)]
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    inside = pq.ParquetFile(
        file.raw, metadata=file.metadata, read_dictionary=texts, page_checksum_verification=True
    )
    indices = range(file.metadata.num_row_groups)
    selected = [group for group in indices if groups is None or group in groups]
    # Arrow cannot read lists of texts from several row groups, as their dictionaries differ.
    has_text_lists = any(kind == pa.list_(pa.string()) for kind in types.values())
    batches = [[group] for group in selected] if has_text_lists and selected else [selected]
    table = pa.concat_tables(
        inside.read_row_groups(batch, columns=list(columns), use_threads=False) for batch in batches
    )
    for column in columns:
        if _is_too_long(table.column(column).chunks):
            raise DamagedData(
                f"{name}: expected at most {arrow.MAX_BYTES} bytes of texts in column {column}, "
                "found more"
            )
    if coded:
        return table.unify_dictionaries()
    columns_ = {
        name: column if column.type == types[name] else column.cast(types[name])
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return pa.table(columns_, metadata=table.schema.metadata)


def _is_too_long(chunks: Sequence[pa.Array]) -> bool:
    """Return whether dictionary-encoded texts are too large after expansion."""
    texts = [chunk.flatten() if pa.types.is_list(chunk.type) else chunk for chunk in chunks]
    texts = [values for values in texts if pa.types.is_dictionary(values.type)]
    # Most columns are small even if each text were the longest, which takes no counting.
    if sum(arrow.longest_text(values.dictionary) * len(values) for values in texts) <= (
        arrow.MAX_BYTES
    ):
        return False
    import pyarrow.compute as pc  # slow to import

    lengths = (pc.binary_length(values.dictionary).take(values.indices) for values in texts)
    return sum(pc.sum(length).as_py() or 0 for length in lengths) > arrow.MAX_BYTES


def _check_sizes(
    file: str, metadata: pq.FileMetaData, columns: Mapping[str, pa.DataType], max_rows: int
) -> None:
    """Raise DamagedData if the stated sizes are too large, before anything is decompressed."""
    if metadata.num_rows > max_rows:
        raise DamagedData(f"{file}: expected at most {max_rows} rows, found {metadata.num_rows}")
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    for i in range(metadata.num_columns):
        name = metadata.schema.column(i).path.partition(".")[0]
        if name not in columns:
            continue
        chunks = [group.column(i) for group in groups]
        count = sum(chunk.num_values for chunk in chunks)
        size = sum(chunk.total_uncompressed_size for chunk in chunks)
        most = arrow.MAX_LIST_VALUES + MAX_ROWS if columns[name] in _ARRAYS else MAX_ITEMS
        if count > most or size > arrow.MAX_BYTES:
            raise DamagedData(
                f"{file}: column {name} has {count} values of {size} bytes; expected at most "
                f"{most} values and {arrow.MAX_BYTES} bytes"
            )


def _has_gaps(chunk: pa.Array) -> bool:
    inner = pa.types.is_list(chunk.type) and chunk.flatten().null_count
    return bool(chunk.null_count or inner)
