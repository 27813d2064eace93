"""Named random streams: integers that seed the random numbers of `sts.numerics.draws`.

This module has no kernels, so that it can be used without loading numba.
"""

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def stream(*parts: str | int | bytes) -> np.uint64:
    """Return the stream named by `parts`, a hash of their types, lengths, values and order."""
    return np.uint64(streams((), [parts])[0])


def streams(
    first: Iterable[str | int | bytes], rest: Iterable[Iterable[str | int | bytes]]
) -> NDArray[np.uint64]:
    """Return the streams named by `first` followed by each of `rest`, uint64[B]; see `stream`."""
    prefix, out = hashlib.blake2b(b"".join(map(_encode_part, first)), digest_size=8), bytearray()
    for parts in rest:
        digest = prefix.copy()
        digest.update(b"".join(map(_encode_part, parts)))
        out += digest.digest()
    return np.frombuffer(bytes(out), "<u8").astype(np.uint64, copy=False)


def cross_streams(
    first: Iterable[str | int | bytes],
    second: Iterable[str | int | bytes],
    rest: Iterable[Iterable[str | int | bytes]],
    pairs: Iterable[tuple[int, int]],
) -> NDArray[np.uint64]:
    """Return the streams named by `first`, second[i] and rest[j] for each pair (i, j), uint64[B].

    The results are those of `stream`; common prefixes are hashed only once.
    """
    prefix = hashlib.blake2b(b"".join(map(_encode_part, first)), digest_size=8)
    middles = []
    for part in second:
        middles.append(prefix.copy())
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
