"""Atomic replacement of a folder: readers see either the old or the new content."""

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
    owned: Collection[str],
    folders: Mapping[str, Path] = MappingProxyType({}),
) -> None:
    """Replace the content of `folder` with `files`, atomically.

    If the system can exchange two folders in one step (Linux), `folder` always exists. Elsewhere
    the old folder is renamed first; if the program is killed before the second rename, the next
    call restores it. A call also removes temporary folders of killed ones. Concurrent calls wait.

    Args:
      folder: missing, empty, or replaceable, which the caller has to check.
      files: content by relative path, with "/".
      owned: relative paths that earlier calls may have written, with a trailing "/" for whole
        folders; anything else in the old folder is moved to the new one.
      folders: folders to move into it, by name; on the same disk.

    Raises:
      ArgumentError: `folder` contains the current directory.
      OSError: the disk is full or read-only, or permission is denied; `folder` is unchanged.
    """
    folder = folder.resolve()
    if Path.cwd().is_relative_to(folder):
        raise ArgumentError(
            f"cannot write to {folder}: it contains the current directory; choose another folder"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with lock_folder(folder.parent):
        _remove_leftovers(folder, owned)
        replacement = Path(tempfile.mkdtemp(".part", _prefix(folder), folder.parent))
        try:
            for name, data in files.items():
                _write(replacement / name, data)
            for name, source in folders.items():
                os.rename(source, replacement / name)
            if folder.exists():
                shutil.copymode(folder, replacement)
            else:
                replacement.chmod(0o755)
            _swap_in(replacement, folder)
        finally:
            _remove_leftovers(folder, owned)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _prefix(folder: Path) -> str:
    return f".{folder.name}."


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock `folder` in a context, waiting for others; the lock ends with its process."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some network file systems cannot lock folders
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _swap_in(replacement: Path, folder: Path) -> None:
    """Swap the new folder with `folder`; the old content remains next to it."""
    if not folder.exists() or not any(folder.iterdir()):
        os.rename(replacement, folder)
    elif not _exchange_folders(replacement, folder):
        os.rename(folder, replacement.with_suffix(".old"))
        os.rename(replacement, folder)


def _exchange_folders(new: Path, old: Path) -> bool:
    """Exchange two folders in one step; return False if that is not supported."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    here = _CURRENT_DIRECTORY
    if rename(here, os.fsencode(new), here, os.fsencode(old), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(old))


def _remove_leftovers(folder: Path, owned: Collection[str]) -> None:
    """Remove temporary folders of this or a killed call; restore `folder` if it is missing."""
    siblings = [p for p in folder.parent.iterdir() if p.name.startswith(_prefix(folder))]
    leftovers = sorted(p for p in siblings if p.suffix in (".part", ".old") and p.is_dir())
    for path in leftovers:
        if path.suffix == ".old" and not folder.exists():
            os.rename(path, folder)
    for path in leftovers:
        if path.exists():
            _carry_over(path, folder, owned)
            shutil.rmtree(path)


def _carry_over(old: Path, folder: Path, owned: Collection[str]) -> None:
    """Move everything but `owned` paths from `old` into `folder`."""
    owned_folders = tuple(path for path in owned if path.endswith("/"))
    parents = {path.rstrip("/") for path in owned_folders}
    parents |= {parent.as_posix() for name in owned for parent in PurePosixPath(name).parents}
    for path in sorted(old.rglob("*")):
        name = path.relative_to(old).as_posix()
        is_other = name not in owned and name not in parents and not name.startswith(owned_folders)
        if is_other and os.path.lexists(path):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            while os.path.lexists(target):
                target = target.with_name(f"{target.name}~")
            os.rename(path, target)
