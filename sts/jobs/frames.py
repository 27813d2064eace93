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
from typing import Any

import numpy as np

if sys.platform == "linux":
    import fcntl

DTYPE_KINDS = "biufcSUmM"
"""The supported kinds of dtypes."""
_COLLECTIONS: Any = {"list": list, "tuple": tuple, "set": set}
_SCALARS = (type(None), bool, int, float, str)


class DecodeError(ValueError):
    """Bytes that are not an encoded value."""


def encode(value: Any, reduce: Callable[[Any], tuple[str, Any]] | None = None) -> bytes:
    """Encode a value; raise `TypeError` if it contains an unsupported object.

    `reduce` returns a name and a plain value for an object of any other type.
    """
    raw: list[bytes] = []
    text = json.dumps(_encode_value(value, raw, reduce), separators=(",", ":")).encode()
    return b"".join([len(text).to_bytes(8, "little"), text, *raw])


def decode(data: bytes, build: Callable[[str, Any], Any] | None = None) -> Any:
    """Decode a value that `encode` wrote, with writeable arrays; raise DecodeError if invalid.

    `build` restores an object from the name and value that `reduce` returned.
    """
    try:
        start = 8 + int.from_bytes(data[:8], "little")
        reader = _Reader(memoryview(data)[start:], build)
        value = reader.read(json.loads(data[8:start]))
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError) as error:
        raise DecodeError("expected a plain value, found other bytes") from error
    if reader.left:
        raise DecodeError(f"expected a plain value, found {reader.left} more bytes")
    return value


def _encode_value(
    value: Any, raw: list[bytes], reduce: Callable[[Any], tuple[str, Any]] | None
) -> Any:
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind in (list, tuple, set):
        items = sorted(value, key=repr) if kind is set else value  # equal sets encode equally
        return [kind.__name__, *(_encode_value(item, raw, reduce) for item in items)]
    if kind is dict:
        pairs = ([k, v] for k, v in value.items())
        return ["dict", *([_encode_value(part, raw, reduce) for part in pair] for pair in pairs)]
    if kind is bytes:
        raw.append(value)
        return ["bytes", len(value)]
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        inside = [_encode_value(item, raw, reduce) for item in value.ravel().tolist()]
        return ["objects", list(value.shape), inside]
    if isinstance(value, (np.ndarray, np.generic)):
        return _encode_array(value, raw)
    if reduce is None:
        raise TypeError(f"expected a plain value, found {kind.__name__}")
    name, inside = reduce(value)
    return ["object", name, _encode_value(inside, raw, reduce)]


def _encode_array(value: Any, raw: list[bytes]) -> Any:
    array = np.asarray(value)
    if array.dtype.kind == "T":  # StringDType, which older versions of NumPy lack
        array = np.array(array.tolist(), "U" if array.size else "U1").reshape(array.shape)
    if array.dtype.kind not in DTYPE_KINDS:
        raise TypeError(f"expected an array of numbers or texts, found {array.dtype}")
    raw.append(array.tobytes())
    name = "array" if isinstance(value, np.ndarray) else "scalar"
    return [name, array.dtype.str, list(array.shape)]


class _Reader:
    """Decoder of a header and the bytes that follow it."""

    def __init__(self, body: memoryview, build: Callable[[str, Any], Any] | None) -> None:
        self._body, self._build = body, build

    @property
    def left(self) -> int:
        return len(self._body)

    def read(self, header: Any) -> Any:
        if type(header) is not list:
            return header
        kind, *rest = header
        if kind in _COLLECTIONS:
            return _COLLECTIONS[kind](self.read(item) for item in rest)
        if kind == "dict":
            return {self.read(key): self.read(value) for key, value in rest}
        if kind == "bytes":
            return bytes(self._take(*rest))
        if kind in ("array", "scalar"):
            return self._array(kind, *rest)
        if kind == "objects":
            shape, inside = rest
            array: Any = np.empty(len(inside), object)
            array[:] = [self.read(item) for item in inside]
            return array.reshape(shape)
        if kind != "object" or self._build is None:
            raise ValueError(kind)
        name, inside = rest
        return self._build(name, self.read(inside))

    def _take(self, size: int) -> memoryview:
        if not 0 <= size <= len(self._body):
            raise ValueError(size)
        part, self._body = self._body[:size], self._body[size:]
        return part

    def _array(self, kind: str, name: str, shape: list[int]) -> Any:
        if name[1:2] not in DTYPE_KINDS or (dtype := np.dtype(name)).kind not in DTYPE_KINDS:
            raise ValueError(name)
        count = 1
        for size in shape:
            if type(size) is not int or size < 0:
                raise ValueError(shape)
            count *= size
        raw = self._take(count * dtype.itemsize)
        array: Any = np.ndarray(tuple(shape), dtype, bytes(raw)).copy()
        return array if kind == "array" else array[()]


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
