"""The files that actions write: whether they can be written is said before anything is played."""

from __future__ import annotations

import os
from pathlib import Path

from sts.errors import ArgumentError
from sts.storage import files


def target(flag: str, name: str | None, suffix: str) -> Path | None:
    """Return the file that a flag names; raise ArgumentError if it cannot be written."""
    if name is None:
        return None
    path = Path(name)
    if path.suffix != suffix:
        raise ArgumentError(f"expected {flag} with a name that ends in {suffix}, found {name!r}")
    if path.is_dir():
        raise ArgumentError(f"expected {flag} with a file, found the folder {name}")
    folder = path.parent
    if not folder.exists():
        raise ArgumentError(f"{flag} {name}: the folder {folder} does not exist; make it first")
    if not folder.is_dir():
        raise ArgumentError(f"{flag} {name}: {folder} is not a folder; choose another place")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ArgumentError(f"{flag} {name}: nothing can be written in {folder}")
    return path


def write(path: Path, data: bytes) -> None:
    """Write a file that `target` returned; an OSError names it as its user did."""
    try:
        files.write_atomically(path, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
