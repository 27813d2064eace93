"""A digest of the footer of Parquet files, verified before Arrow reads the footer.

A damaged footer can crash the process: Arrow throws an exception in `ColumnChunkMetaData` that
Python cannot catch. The digest is stored before the footer, where Parquet readers ignore it.
"""

import hashlib
from typing import BinaryIO

from sts.errors import DamagedData

_DIGEST_MARK = b"sts.footer.sha256:"
_DIGEST_BYTES = len(_DIGEST_MARK) + hashlib.sha256().digest_size
_MIN_TAIL_BYTES = 2**16
"""Minimum size of the end of a file that is searched for the digest."""
_TRAILER_BYTES = 8
"""Bytes after the footer: its length and the magic number."""


def add_digest(raw: bytes) -> bytes:
    """Insert a digest before the footer of an encoded Parquet file."""
    start = len(raw) - _footer_length(raw)
    return raw[:start] + _DIGEST_MARK + hashlib.sha256(raw[start:]).digest() + raw[start:]


def check_digest(name: str, file: BinaryIO, what: str) -> None:
    """Raise DamagedData if the footer of an open file does not match its digest.

    A file without digest is not checked; `what` is the expected kind of file.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - _TRAILER_BYTES))
    length = _footer_length(file.read(_TRAILER_BYTES)) + _DIGEST_BYTES
    tail = min(size, max(_MIN_TAIL_BYTES, length))
    file.seek(size - tail)
    _, mark, rest = file.read(tail).rpartition(_DIGEST_MARK)
    file.seek(0)
    digest = hashlib.sha256().digest_size
    if mark and hashlib.sha256(rest[digest:]).digest() != rest[:digest]:
        raise DamagedData(f"{name}: expected {what}: the checksum of its footer does not match")


def _footer_length(raw: bytes) -> int:
    """Return the size of the footer and the bytes after it."""
    return int.from_bytes(raw[-_TRAILER_BYTES:-4], "little") + _TRAILER_BYTES
