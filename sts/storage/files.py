"""Safe reading, atomic writing, locking and hashing of files.

Functions that write raise `OSError` if the disk is full or read-only, or permission is denied.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

from sts.errors import DamagedData, Unavailable

_PARTIAL_SUFFIX = ".part"
"""Suffix of incomplete files and folders."""
_CHUNK_BYTES = 2**20
_FILE_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_bytes(path: Path, limit: int | None = None) -> bytes:
    """Read a regular file; never block on a pipe or a device.

    Raises:
      DamagedData: it is a folder, a pipe, a socket or a device, or larger than `limit` bytes.
      OSError: it does not exist, or permission is denied.
      Unavailable: a disk error, which may be temporary.
    """
    with open_regular(path, limit) as file:
        data = file.read(os.fstat(file.fileno()).st_size + 1)  # allocates as much as requested
        while more := file.read(_CHUNK_BYTES):  # the file has grown
            data += more
            if limit is not None and len(data) > limit:
                break
    if limit is not None and len(data) > limit:
        raise _too_large_error(path, limit, f"more than {limit}")
    return data


@contextlib.contextmanager
def open_regular(path: Path, limit: int | None = None) -> Iterator[BinaryIO]:
    """Open a regular file for reading; errors as for `read_bytes`."""
    check_inside(path)
    _check_regular(path, path.stat(), limit)  # opening a device may have side effects
    try:
        with open(path, "rb", opener=_open_nonblocking) as file:
            _check_regular(path, os.fstat(file.fileno()), limit)  # it may have been replaced
            yield file
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        raise Unavailable(f"cannot read {path}; check the disk and try again") from error


_CONFINED_TO: ContextVar[Path | None] = ContextVar("_FOLDER", default=None)


@contextlib.contextmanager
def confine_links(folder: Path) -> Iterator[None]:
    """Open a context in which links that lead out of `folder` are not followed."""
    before = _CONFINED_TO.set(Path(os.path.abspath(folder)))
    try:
        yield
    finally:
        _CONFINED_TO.reset(before)


def is_outside_link(path: Path) -> bool:
    """Return True if a path in the folder of `confine_links` links to a place outside it."""
    folder = _CONFINED_TO.get()
    if folder is None or not Path(os.path.abspath(path)).is_relative_to(folder):
        return False
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def check_inside(path: Path) -> None:
    """Raise DamagedData if a path in the folder of `confine_links` links to a place outside it."""
    if is_outside_link(path):
        raise DamagedData(
            f"{path} is a link to {os.path.realpath(path)}, outside the folder; replace it with a "
            "copy"
        )


def _open_nonblocking(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _check_regular(path: Path, info: os.stat_result, limit: int | None) -> None:
    if not stat.S_ISREG(info.st_mode):
        kind = _FILE_KINDS.get(stat.S_IFMT(info.st_mode), "something else")
        raise DamagedData(f"{path}: expected a file, found {kind}")
    if limit is not None and info.st_size > limit:
        raise _too_large_error(path, limit, str(info.st_size))


def _too_large_error(path: Path, limit: int, found: str) -> DamagedData:
    return DamagedData(f"{path}: expected a file of at most {limit} bytes, found {found}")


def write_atomically(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write a file by temporary file, fsync and rename; create missing parent folders.

    The file has permissions `mode` as soon as it exists. On an error, `path` is unchanged.

    Raises:
      DamagedData: `path` exists and is not a regular file.
    """
    check_place(path)
    _write_and_place(path, data, mode, os.replace)


def check_place(path: Path) -> None:
    """Raise DamagedData if `path` is a folder, a pipe or a device, which a rename would replace."""
    with contextlib.suppress(FileNotFoundError):
        _check_regular(path, path.stat(), None)


def write_new(path: Path, data: bytes) -> bool:
    """Write a file as `write_atomically`, unless it exists; return True if it was written.

    Of several concurrent writers exactly one succeeds.
    """
    with contextlib.suppress(FileExistsError):
        _write_and_place(path, data, 0o644, _link)
        return True
    return False


def _link(source: str, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
            raise
        if target.exists():  # without links, there is a race between two writers
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        os.replace(source, target)


def _write_and_place(path: Path, data: bytes, mode: int, put: Callable[[str, Path], None]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(_PARTIAL_SUFFIX, f".{path.name}.", path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        put(name, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


@contextlib.contextmanager
def create_folder(path: Path) -> Iterator[Path]:
    """Open a context that yields a temporary folder, which is renamed to `path` at the end.

    Raises:
      FileExistsError: `path` exists; it is not changed.
      Unavailable: another program is writing it.
    """
    with open_part_folder(path) as partial:
        yield partial
        if path.exists():  # a rename would replace an empty folder
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        partial.chmod(0o755)
        os.rename(partial, path)  # fails if `path` is no longer empty


@contextlib.contextmanager
def open_part_folder(path: Path) -> Iterator[Path]:
    """Open a context that yields an empty locked folder next to `path`.

    Create the content of `path` in it, or as it, and rename it to `path`. The folder is removed at
    the end, including leftovers of killed writers.

    Raises:
      Unavailable: another program is writing `path`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}{_PARTIAL_SUFFIX}")
    handle = _make_locked_folder(partial, path)
    try:
        for entry in partial.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        os.close(handle)


def _make_locked_folder(partial: Path, path: Path) -> int:
    """Create a folder, open and lock it, and return its descriptor; closing it unlocks."""
    while True:
        partial.mkdir(0o700, exist_ok=True)
        handle = os.open(partial, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), partial.stat()):
                return handle
        except BlockingIOError:
            os.close(handle)
            raise Unavailable(f"another program is writing {path}; wait for it to end") from None
        except FileNotFoundError:  # its previous owner has just removed it
            pass
        os.close(handle)


def link_new(source: Path, target: Path) -> None:
    """Link a file to a new name, which must not exist, and wait until that is on disk."""
    _link(str(source), target)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the entries of a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Lock the file `path` in a context, waiting for other processes and threads.

    Nothing is written, and the lock ends with its process. If the file is replaced while it waits,
    the new file is locked.
    """
    while True:
        with path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                yield
                return


def content_hash(*fields: bytes) -> str:
    """Return the hexadecimal SHA-256 of `fields`, each prefixed with its length."""
    framed = [piece for field in fields for piece in (len(field).to_bytes(8, "little"), field)]
    return hashlib.sha256(b"".join(framed)).hexdigest()


def parse_versioned_json(text: str, kind: type) -> Any:
    """Parse JSON; raise ValueError if it is invalid, not finite, or not of type `kind`."""
    try:
        value = json.loads(text, parse_constant=_reject_constant)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    if not isinstance(value, kind):
        raise ValueError(f"expected a JSON {kind.__name__}, found {type(value).__name__}")
    return value


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical_json(value: object) -> bytes:
    """Encode a value as JSON with sorted keys and no spaces, so that equal values hash equally."""
    return _CANONICAL.encode(value).encode()
