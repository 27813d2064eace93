"""Writing so that nothing half-written is ever read, and hashing what was written."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write_atomically(path: Path, data: bytes) -> None:
    """Writes `data` to `path` by temporary file, fsync and rename; makes the folders above it.

    Raises:
      OSError: the disk is full, read-only or not ours; `path` is then as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def content_hash(*parts: bytes) -> str:
    """Returns the SHA-256 hex digest of `parts`, each entering with its length."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def canonical_json(value: Any) -> bytes:
    """Returns `value` as JSON with sorted keys and no spaces: equal values give equal bytes.

    Raises:
      ValueError: a float is not finite.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()
