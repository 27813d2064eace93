"""Named random streams: integers that seed the random numbers of `sts.numerics.draws`.

This module has no kernels, so that it can be used without loading numba.
"""

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def stream(*keys: str | int | bytes) -> np.uint64:
    """Return the stream named by `keys`, a hash of their types, lengths, values and order."""
    return np.uint64(streams((), [keys])[0])


def streams(
    prefix: Iterable[str | int | bytes], suffixes: Iterable[Iterable[str | int | bytes]]
) -> NDArray[np.uint64]:
    """Return the streams named by `prefix` and each of `suffixes`, uint64[B]; see `stream`."""
    hasher, raw = hashlib.blake2b(b"".join(map(_encode_key, prefix)), digest_size=8), bytearray()
    for keys in suffixes:
        digest = hasher.copy()
        digest.update(b"".join(map(_encode_key, keys)))
        raw += digest.digest()
    return np.frombuffer(bytes(raw), "<u8").astype(np.uint64, copy=False)


def cross_streams(
    prefix: Iterable[str | int | bytes],
    middles: Iterable[str | int | bytes],
    suffixes: Iterable[Iterable[str | int | bytes]],
    pairs: Iterable[tuple[int, int]],
) -> NDArray[np.uint64]:
    """Return streams named by `prefix`, middles[i] and suffixes[j] for pairs (i, j), uint64[B].

    The results are those of `stream`; common prefixes are hashed only once.
    """
    hasher = hashlib.blake2b(b"".join(map(_encode_key, prefix)), digest_size=8)
    hashers = []
    for key in middles:
        hashers.append(hasher.copy())
        hashers[-1].update(_encode_key(key))
    endings, raw = [b"".join(map(_encode_key, keys)) for keys in suffixes], bytearray()
    for i, j in pairs:
        digest = hashers[i].copy()
        digest.update(endings[j])
        raw += digest.digest()
    return np.frombuffer(bytes(raw), "<u8").astype(np.uint64, copy=False)


def _encode_key(key: str | int | bytes) -> bytes:
    if type(key) is int:  # most keys, so without a second text
        digits = str(key)
        return f"int:{len(digits)}:{digits}".encode()
    raw = key if isinstance(key, bytes) else str(key).encode()
    return f"{type(key).__name__}:{len(raw)}:".encode() + raw
