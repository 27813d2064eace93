"""Conversion of columns between Arrow and NumPy."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sts.errors import DamagedData, StsError

MAX_LIST_VALUES = 2**29
"""Maximum number of values in a column of lists, so that it fits into memory."""
MAX_BYTES = 2**31 - 1
"""Maximum size of a column, and of its texts without a dictionary."""


def to_list_column(arrays: Sequence[NDArray[Any]], value_type: pa.DataType) -> pa.ListArray:
    """Convert arrays to a list column, in row-major order, of `MAX_LIST_VALUES` values at most."""
    offsets = np.concatenate(([0], np.cumsum([a.size for a in arrays], dtype=np.int64)))
    if offsets[-1] > MAX_LIST_VALUES:
        raise StsError(
            f"expected at most {MAX_LIST_VALUES} values in a column, found {offsets[-1]}"
        )
    flat = np.concatenate([a.ravel() for a in arrays]) if arrays else np.empty(0)
    values = flat.astype(value_type.to_pandas_dtype(), copy=False)
    return pa.ListArray.from_arrays(from_numpy(offsets.astype(np.int32)), from_numpy(values))


def split_list_column(table: pa.Table, name: str) -> list[NDArray[Any]]:
    """Split a list column into a flat array per row."""
    column = table.column(name).combine_chunks()
    ends = np.cumsum(to_numpy(column.value_lengths())).tolist()
    flat = to_numpy(column.flatten())
    return [flat[start:end] for start, end in itertools.pairwise([0, *ends])]


def to_numpy(array: pa.Array) -> NDArray[Any]:
    """Convert a column without nulls to NumPy, without a copy; fixed-size bytes become rows.

    Arrow's own conversions import pandas, which is slow.
    """
    kind, width = array.type, 1
    if pa.types.is_fixed_size_binary(kind):
        kind, width = pa.uint8(), kind.byte_width
    flat = np.frombuffer(array.buffers()[1] or b"", kind.to_pandas_dtype())
    rows = flat[array.offset * width : (array.offset + len(array)) * width]
    return rows if width == 1 else rows.reshape(-1, width)


def longest_text(texts: pa.Array) -> int:
    """Return the length of the longest of texts, or of bytes; 0 without any."""
    ends = np.frombuffer(texts.buffers()[1] or b"", np.int32)
    return int(np.diff(ends[texts.offset : texts.offset + len(texts) + 1]).max(initial=0))


def from_numpy(values: NDArray[Any], valid: NDArray[np.bool_] | None = None) -> pa.Array:
    """Convert numbers or booleans to Arrow; rows of bytes, uint8[N, width], to fixed-size bytes.

    `valid` is True for values that are not null; None if none is.
    """
    values = np.ascontiguousarray(values)
    gaps = None if valid is None else _pack_bits(valid)
    if values.ndim == 2:
        return _from_buffers(pa.binary(values.shape[1]), len(values), values, gaps=gaps)
    if values.dtype == np.bool_:
        return _from_buffers(pa.bool_(), len(values), _pack_bits(values), gaps=gaps)
    return _from_buffers(pa.from_numpy_dtype(values.dtype), len(values), values, gaps=gaps)


def _pack_bits(values: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.packbits(values, bitorder="little")


def encode_dictionary(codes: NDArray[np.integer[Any]], texts: Sequence[str]) -> pa.DictionaryArray:
    """Return a dictionary-encoded text column with the codes of its rows and its dictionary."""
    return pa.DictionaryArray.from_arrays(from_numpy(codes.astype(np.int32)), from_texts(texts))


def to_hex_texts(values: NDArray[np.uint8]) -> pa.Array:
    """Convert rows of bytes, uint8[rows, width], to hexadecimal texts."""
    ends = np.arange(len(values) + 1, dtype=np.int64) * 2 * values.shape[1]
    if ends[-1] > MAX_BYTES:
        raise StsError(f"expected texts of at most {MAX_BYTES} bytes, found {ends[-1]}")
    raw = values.tobytes().hex().encode()
    return _from_buffers(pa.string(), len(values), ends.astype(np.int32), raw)


def from_texts(values: Sequence[str] | Sequence[bytes]) -> pa.Array:
    """Convert texts, or bytes, to Arrow; raise DamagedData if they are too long or not UTF-8."""
    try:
        raw = [value.encode() if isinstance(value, str) else value for value in values]
    except UnicodeError as error:
        raise DamagedData(f"expected texts in UTF-8: {error}") from None
    ends = np.cumsum([0, *map(len, raw)], dtype=np.int64)
    if ends[-1] > MAX_BYTES:
        raise DamagedData(f"expected texts of at most {MAX_BYTES} bytes, found {ends[-1]}")
    kind = pa.string() if all(isinstance(value, str) for value in values) else pa.binary()
    return _from_buffers(kind, len(raw), ends.astype(np.int32), b"".join(raw))


def _from_buffers(kind: pa.DataType, length: int, *buffers: Any, gaps: Any = None) -> pa.Array:
    validity = None if gaps is None else pa.py_buffer(gaps)
    return pa.Array.from_buffers(kind, length, [validity, *map(pa.py_buffer, buffers)])
