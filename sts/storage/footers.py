"""A digest before the footer of a Parquet file of ours, which is looked at before the footer is.

Of a footer in which a bit is flipped, Arrow may end the process: what it finds wrong with the sizes
that are told of a column it throws where Python cannot catch it (`ColumnChunkMetaData`). Every
reader of Parquet passes over what stands between the last column and the footer.
"""

from __future__ import annotations

import hashlib
from typing import BinaryIO

from sts.errors import DamagedData

_DIGEST_MARK = b"sts.footer.sha256:"
_DIGEST_BYTES = len(_DIGEST_MARK) + hashlib.sha256().digest_size
_MIN_TAIL_BYTES = 2**16
"""Bytes at the end in which the mark is looked for, or more where the footer says so."""
_TRAILER_BYTES = 8
"""Bytes behind a footer: its length and the name of the format."""


def add_digest(raw: bytes) -> bytes:
    """Return the bytes of a Parquet file with a digest of its footer before that."""
    start = len(raw) - _footer_length(raw)
    return raw[:start] + _DIGEST_MARK + hashlib.sha256(raw[start:]).digest() + raw[start:]


def check_digest(name: str, file: BinaryIO, what: str) -> None:
    """Hold the footer of an open file, which is to be `what`, to its digest, where it has one.

    Raises:
      DamagedData: it is not what was written.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - _TRAILER_BYTES))
    tail = min(
        size, max(_MIN_TAIL_BYTES, _footer_length(file.read(_TRAILER_BYTES)) + _DIGEST_BYTES)
    )
    file.seek(size - tail)
    _, mark, rest = file.read(tail).rpartition(_DIGEST_MARK)
    file.seek(0)
    digest = hashlib.sha256().digest_size
    if mark and hashlib.sha256(rest[digest:]).digest() != rest[:digest]:
        raise DamagedData(f"{name}: expected {what}: its footer is not as it was written")


def _footer_length(raw: bytes) -> int:
    """Return how many bytes a footer has, with what is behind it."""
    return int.from_bytes(raw[-_TRAILER_BYTES:-4], "little") + _TRAILER_BYTES
