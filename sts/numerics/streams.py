"""Streams by name: each is one integer, of which `sts.numerics.draws` draws.

No kernel stands here, so that to name a stream does not load the compiler.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def stream(*parts: str | int | bytes) -> np.uint64:
    """Return the stream named by `parts`; other parts, or the same in another order, name another.

    This is the one place where streams come from: each part enters with its type and length.
    """
    return np.uint64(streams((), [parts])[0])


def streams(
    first: Iterable[str | int | bytes], rest: Iterable[Iterable[str | int | bytes]]
) -> NDArray[np.uint64]:
    """Return uint64[B]: the stream that `first` and each of `rest` name together, as `stream`."""
    begun, out = hashlib.blake2b(b"".join(map(_encode_part, first)), digest_size=8), bytearray()
    for parts in rest:
        digest = begun.copy()
        digest.update(b"".join(map(_encode_part, parts)))
        out += digest.digest()
    return np.frombuffer(bytes(out), "<u8").astype(np.uint64, copy=False)


def crossed(
    first: Iterable[str | int | bytes],
    second: Iterable[str | int | bytes],
    rest: Iterable[Iterable[str | int | bytes]],
    pairs: Iterable[tuple[int, int]],
) -> NDArray[np.uint64]:
    """Return uint64[B]: of each (i, j) the stream that `first`, second[i] and rest[j] name.

    It is that of `stream`, and what many of them have in common is hashed once.
    """
    begun = hashlib.blake2b(b"".join(map(_encode_part, first)), digest_size=8)
    middles = []
    for part in second:
        middles.append(begun.copy())
        middles[-1].update(_encode_part(part))
    ends, out = [b"".join(map(_encode_part, parts)) for parts in rest], bytearray()
    for i, j in pairs:
        digest = middles[i].copy()
        digest.update(ends[j])
        out += digest.digest()
    return np.frombuffer(bytes(out), "<u8").astype(np.uint64, copy=False)


def _encode_part(part: str | int | bytes) -> bytes:
    raw = part if isinstance(part, bytes) else str(part).encode()
    return f"{type(part).__name__}:{len(raw)}:".encode() + raw
