"""Output files of actions, checked for writability before any episode is played."""

import os
from pathlib import Path

from sts.errors import ArgumentError


def resolve_target(flag: str, name: str | None, suffix: str) -> Path | None:
    """Return the path given with a flag; raise ArgumentError if it cannot be written."""
    if name is None:
        return None
    path = Path(name)
    if path.suffix != suffix:
        raise ArgumentError(f"{flag}: expected a file name that ends in {suffix}, found {name!r}")
    if path.is_dir():
        raise ArgumentError(f"{flag}: expected a file, found the folder {name}")
    folder = path.parent
    if not folder.exists():
        raise ArgumentError(f"{flag} {name}: the folder {folder} does not exist; create it first")
    if not folder.is_dir():
        raise ArgumentError(f"{flag} {name}: {folder} is not a folder; choose another folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ArgumentError(f"{flag} {name}: no permission to write to the folder {folder}")
    return path


def write(path: Path, data: bytes) -> None:
    """Write a file from `resolve_target`; an OSError names the path as the user gave it."""
    from sts.storage import files  # which help does without

    try:
        files.write_atomically(path, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
