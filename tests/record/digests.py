"""Digests that depend on values alone, and figures rounded alike on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

NAMESPACE = UUID("6d1f0c1e-5b7a-4d0e-9d7c-2f6a0d8c5b11")
"""In which the record's clients name their events."""
_DIGITS = 12
"""Hexadecimal digits of a digest."""


def digest(parts: Iterable[object]) -> str:
    """Return 12 hexadecimal digits over arrays, bytes, texts and numbers in their order."""
    hashed = hashlib.sha256()
    for part in parts:
        raw = part if isinstance(part, bytes) else _raw(part)
        hashed.update(len(raw).to_bytes(8, "big") + raw)
    return hashed.hexdigest()[:_DIGITS]


def _raw(part: object) -> bytes:
    if isinstance(part, np.ndarray):
        return _array(part)
    return repr(part).encode()


def _array(array: NDArray[Any]) -> bytes:
    if array.dtype.kind not in "biuf":  # texts
        return repr(array.tolist()).encode()
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
    return f"{array.dtype.name}{array.shape}".encode() + little.tobytes()


def rounded(value: Any) -> Any:
    """Return a JSON value with every number rounded to 10 decimals."""
    if isinstance(value, dict):
        return {key: rounded(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(own) for own in value]
    return round(value, 10) + 0.0 if isinstance(value, float) else value


def draw(*names: object) -> float:
    """Return a number in [0, 1) that depends on names alone."""
    raw = hashlib.sha256(repr(names).encode()).digest()
    return int.from_bytes(raw[:6], "big") / 2**48
