"""A digest before the footer of a Parquet file of ours, which is looked at before the footer is.

Of a footer in which a bit is flipped, Arrow may end the process: what it finds wrong with the sizes
that are told of a column it throws where Python cannot catch it (`ColumnChunkMetaData`). Every
reader of Parquet passes over what stands between the last column and the footer.
"""

from __future__ import annotations

import hashlib
from typing import BinaryIO

from sts.errors import DamagedData

_MARK = b"sts.footer.sha256:"
_SIZE = len(_MARK) + hashlib.sha256().digest_size
_TAIL = 2**16
"""Bytes at the end in which the mark is looked for, or more where the footer says so."""
_END = 8
"""Bytes behind a footer: its length and the name of the format."""


def marked(raw: bytes) -> bytes:
    """Return the bytes of a Parquet file with a digest of its footer before that."""
    start = len(raw) - _length(raw)
    return raw[:start] + _MARK + hashlib.sha256(raw[start:]).digest() + raw[start:]


def check(name: str, file: BinaryIO, what: str) -> None:
    """Hold the footer of an open file, which is to be `what`, to its digest, where it has one.

    Raises:
      DamagedData: it is not what was written.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - _END))
    tail = min(size, max(_TAIL, _length(file.read(_END)) + _SIZE))
    file.seek(size - tail)
    _, mark, rest = file.read(tail).rpartition(_MARK)
    file.seek(0)
    digest = hashlib.sha256().digest_size
    if mark and hashlib.sha256(rest[digest:]).digest() != rest[:digest]:
        raise DamagedData(f"{name}: expected {what}: its footer is not as it was written")


def _length(raw: bytes) -> int:
    """Return how many bytes a footer has, with what is behind it."""
    return int.from_bytes(raw[-_END:-4], "little") + _END
