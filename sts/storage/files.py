"""Writing so that nothing half-written is ever read, and hashing what was written."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def write_atomically(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Writes `data` to `path` by temporary file, fsync and rename; makes the folders above it.

    The file has permissions `mode` from the moment that it can be seen.

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
        Path(name).chmod(mode)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Waits until no other process or thread holds the lock on the file `path`, then holds it.

    Nothing is written; a killed holder's lock ends with it.
    """
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def content_hash(*parts: bytes) -> str:
    """Returns the SHA-256 hex digest of `parts`, each entering with its length."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def parsed_json(text: str, kind: type) -> Any:
    """Returns the JSON value in `text`, which must be a `kind`.

    Raises:
      ValueError: it is not JSON, nested too deeply, not finite, or of another type.
    """
    try:
        value = json.loads(text, parse_constant=_refused)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    if not isinstance(value, kind):
        raise ValueError(f"expected a JSON {kind.__name__}, found {type(value).__name__}")
    return value


def _refused(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def canonical_json(value: Any) -> bytes:
    """Returns `value` as JSON with sorted keys and no spaces: equal values give equal bytes.

    Raises:
      ValueError: a float is not finite.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()
