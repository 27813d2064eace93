"""Replacing a folder of files as a whole: a reader finds all of the old one or all of the new."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from sts.errors import ArgumentError

_EXCHANGE = 2  # RENAME_EXCHANGE of linux/fs.h
_CURRENT_DIRECTORY = -100  # AT_FDCWD of fcntl.h
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def replace_folder(
    folder: Path,
    files: Mapping[str, bytes],
    own: Collection[str],
    folders: Mapping[str, Path] = MappingProxyType({}),
) -> None:
    """Make `folder` hold `files`, all of them at once.

    Where the system can exchange two folders in one step (Linux), `folder` is at every moment the
    old one or the new one. Elsewhere the old one is renamed first: for that moment there is none,
    and if the program is killed just then the next call puts it back. What a killed one left
    beside is removed by the next. Two at once come one after the other.

    Args:
      folder: absent, empty, or one whose content may be replaced; the caller has looked.
      files: what to write, by its path inside, with "/".
      own: paths of what earlier calls may have written, with "/" at the end for all below it;
        everything else that the old folder holds goes on into the new one.
      folders: what is moved into it, by its name inside; on the same disk.

    Raises:
      ArgumentError: the program runs inside `folder`.
      OSError: the disk is full, read-only or not ours; `folder` is then as it was.
    """
    folder = folder.resolve()
    if Path.cwd().is_relative_to(folder):
        raise ArgumentError(f"{folder} holds the current folder; name another, or work elsewhere")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with alone(folder.parent):
        _remove_leftovers(folder, own)
        beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=_prefix(folder), suffix=".part"))
        try:
            for name, data in files.items():
                _write(beside / name, data)
            for name, made in folders.items():
                os.rename(made, beside / name)
            if folder.exists():
                shutil.copymode(folder, beside)
            else:
                beside.chmod(0o755)
            _swap_in(beside, folder)
        finally:
            _remove_leftovers(folder, own)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _prefix(folder: Path) -> str:
    return f".{folder.name}."


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait for whoever replaces something in `folder`, and keeps others waiting.

    A killed holder's lock ends with it.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some network disks lock no folders
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _swap_in(beside: Path, folder: Path) -> None:
    """Put `beside` in the place of `folder`; what was there is left beside."""
    if not folder.exists() or not any(folder.iterdir()):
        os.rename(beside, folder)
    elif not _exchange_folders(beside, folder):
        os.rename(folder, beside.with_suffix(".old"))
        os.rename(beside, folder)


def _exchange_folders(one: Path, other: Path) -> bool:
    """Exchanges two folders in one step; returns False where the system or the disk cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if (
        rename(
            _CURRENT_DIRECTORY, os.fsencode(one), _CURRENT_DIRECTORY, os.fsencode(other), _EXCHANGE
        )
        == 0
    ):
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(other))


def _remove_leftovers(folder: Path, own: Collection[str]) -> None:
    """Remove what is left beside `folder`, by this call or by a killed one."""
    beside = [p for p in folder.parent.iterdir() if p.name.startswith(_prefix(folder))]
    left = sorted(p for p in beside if p.suffix in (".part", ".old") and p.is_dir())
    for path in left:
        if path.suffix == ".old" and not folder.exists():
            os.rename(path, folder)
    for path in left:
        if path.exists():
            _carry_over(path, folder, own)
            shutil.rmtree(path)


def _carry_over(old: Path, folder: Path, own: Collection[str]) -> None:
    """Move what is not `own` from `old` into `folder`."""
    below = tuple(one for one in own if one.endswith("/"))
    above = {one.rstrip("/") for one in below}
    above |= {parent.as_posix() for name in own for parent in PurePosixPath(name).parents}
    for path in sorted(old.rglob("*")):
        name = path.relative_to(old).as_posix()
        kept = name not in own and name not in above and not name.startswith(below)
        if kept and os.path.lexists(path):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            while os.path.lexists(target):
                target = target.with_name(f"{target.name}~")
            os.rename(path, target)
