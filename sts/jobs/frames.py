"""Safe encoding of plain values for pipes between processes.

A value is None, a bool, an int, a float, a text, bytes, an array or NumPy scalar of numbers or
texts, an array of values, or a list, tuple, set or dict of values. It is encoded as a header in
JSON, followed by the bytes of arrays and byte strings in order. Decoding executes no code. External
interpreters run this file too, so it needs only NumPy and Python 3.8.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

if sys.platform == "linux":
    import fcntl

DTYPE_KINDS = "biufcSUmM"
"""The supported kinds of dtypes."""
_COLLECTIONS: Any = {"list": list, "tuple": tuple, "set": set}
_SCALARS = (type(None), bool, int, float, str)
MAX_CACHED_HEADER_BYTES = 4096
"""Size up to which parsed headers are cached: those of one agent's steps are mostly the same."""
_to_json = json.JSONEncoder(separators=(",", ":")).encode


class DecodeError(ValueError):
    """Bytes that are not an encoded value."""


def encode(value: Any, reduce: Callable[[Any], tuple[str, Any]] | None = None) -> bytes:
    """Encode a value; raise `TypeError` if it contains an unsupported object.

    `reduce` returns a name and a plain value for an object of any other type.
    """
    raw: list[bytes] = []
    text = _encode_value(value, raw, reduce).encode()
    return b"".join([len(text).to_bytes(8, "little"), text, *raw])


def decode(data: bytes, build: Callable[[str, Any], Any] | None = None) -> Any:
    """Decode a value that `encode` wrote, with writeable arrays; raise DecodeError if invalid.

    `build` restores an object from the name and value that `reduce` returned.
    """
    try:
        start = 8 + int.from_bytes(data[:8], "little")
        parse = _parse_header if start <= MAX_CACHED_HEADER_BYTES else json.loads
        reader = _Reader(data, start, build)
        value = reader.read(parse(data[8:start]))
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError) as error:
        raise DecodeError("expected a plain value, found other bytes") from error
    if reader.left:
        raise DecodeError(f"expected a plain value, found {reader.left} more bytes")
    return value


def _encode_value(
    value: Any, raw: list[bytes], reduce: Callable[[Any], tuple[str, Any]] | None
) -> str:
    """Return the header of a value, and append the bytes that follow it to `raw`."""
    kind = type(value)
    if kind is np.ndarray and value.dtype.kind in DTYPE_KINDS:
        raw.append(value.tobytes())
        return _encode_array_header("array", value.dtype, value.shape)
    if kind in _SCALARS:
        return _to_json(value)
    if kind in (list, tuple, set):
        items = sorted(value, key=repr) if kind is set else value  # equal sets encode equally
        return _join(f'"{kind.__name__}"', *[_encode_value(item, raw, reduce) for item in items])
    if kind is dict:
        pairs = [
            _join(_encode_value(k, raw, reduce), _encode_value(v, raw, reduce))
            for k, v in value.items()
        ]
        return _join('"dict"', *pairs)
    if kind is bytes:
        raw.append(value)
        return _join('"bytes"', str(len(value)))
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        inside = [_encode_value(item, raw, reduce) for item in value.ravel().tolist()]
        return _join('"objects"', _to_json(list(value.shape)), _join(*inside))
    if isinstance(value, (np.ndarray, np.generic)):
        return _encode_array(value, raw)
    if reduce is None:
        raise TypeError(f"expected a plain value, found {kind.__name__}")
    name, inside = reduce(value)
    return _join('"object"', _to_json(name), _encode_value(inside, raw, reduce))


def _join(*headers: str) -> str:
    return f"[{','.join(headers)}]"


def _encode_array(value: Any, raw: list[bytes]) -> str:
    array = np.asarray(value)
    if array.dtype.kind == "T":  # StringDType, which older versions of NumPy lack
        array = np.array(array.tolist(), "U" if array.size else "U1").reshape(array.shape)
    if array.dtype.kind not in DTYPE_KINDS:
        raise TypeError(f"expected an array of numbers or texts, found {array.dtype}")
    raw.append(array.tobytes())
    name = "array" if isinstance(value, np.ndarray) else "scalar"
    return _encode_array_header(name, array.dtype, array.shape)


@lru_cache(maxsize=4096)
def _encode_array_header(name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
    return _to_json([name, dtype.str, list(shape)])


@lru_cache(maxsize=256)
def _parse_header(text: bytes) -> Any:
    return json.loads(text)


class _Reader:
    """Decoder of a header and the bytes that follow it."""

    def __init__(self, data: bytes, start: int, build: Callable[[str, Any], Any] | None) -> None:
        self._data, self._at, self._build = data, start, build

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def read(self, header: Any) -> Any:
        if type(header) is not list:
            return header
        kind, *rest = header
        if kind in ("array", "scalar"):
            return self._read_array(kind, *rest)
        if kind in _COLLECTIONS:
            return _COLLECTIONS[kind](self.read(item) for item in rest)
        if kind == "dict":
            return {self.read(key): self.read(value) for key, value in rest}
        if kind == "bytes":
            (size,) = rest
            start = self._take(size)
            return bytes(self._data[start : start + size])
        if kind == "objects":
            shape, inside = rest
            array: Any = np.empty(len(inside), object)
            array[:] = [self.read(item) for item in inside]
            return array.reshape(shape)
        if kind != "object" or self._build is None:
            raise ValueError(kind)
        name, inside = rest
        return self._build(name, self.read(inside))

    def _take(self, size: int) -> int:
        """Skip the next `size` bytes and return where they start."""
        if not 0 <= size <= self.left:
            raise ValueError(size)
        start, self._at = self._at, self._at + size
        return start

    def _read_array(self, kind: str, name: str, shape: list[int]) -> Any:
        dtype, size = _read_layout(name, *shape)
        array: Any = np.ndarray(tuple(shape), dtype, self._data, self._take(size)).copy()
        return array if kind == "array" else array[()]


@lru_cache(maxsize=4096, typed=True)
def _read_layout(name: str, *shape: int) -> tuple[np.dtype[Any], int]:
    """Return the dtype and the number of bytes of an array; raise ValueError if invalid."""
    if name[1:2] not in DTYPE_KINDS or (dtype := np.dtype(name)).kind not in DTYPE_KINDS:
        raise ValueError(name)
    count = 1
    for size in shape:
        if type(size) is not int or size < 0:
            raise ValueError(shape)
        count *= size
    return dtype, count * dtype.itemsize


def end_with_parent(pipe: int) -> None:
    """Kill this process and its descendants when the other end of a pipe is closed.

    The process must lead a process group. A thread waits for the end of the pipe; on Linux also the
    kernel sends a signal, since compiled code may block all threads.
    """

    def end() -> None:
        poll = select.poll()
        poll.register(pipe, 0)
        poll.poll()
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=end, daemon=True).start()
    if sys.platform == "linux":
        fcntl.fcntl(pipe, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(pipe, fcntl.F_SETFL, os.O_ASYNC)
