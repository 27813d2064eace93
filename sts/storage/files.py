"""Writing so that nothing half-written is ever read, and hashing what was written.

Whatever writes raises `OSError` where the disk is full, read-only or not ours.
"""

from __future__ import annotations

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
"""What the names of files and folders that are not whole end with."""
_CHUNK_BYTES = 2**20
_FILE_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def regular_bytes(path: Path, limit: int | None = None) -> bytes:
    """Return what the file `path` holds; never wait, as reading a pipe or a device would.

    Raises:
      DamagedData: it is a folder, a pipe, a socket or a device, or larger than `limit`.
      OSError: there is none, or it may not be read.
      Unavailable: the disk fails to deliver it, which may pass.
    """
    with regular(path, limit) as file:
        data = file.read(os.fstat(file.fileno()).st_size + 1)  # room is made for what is asked
        while more := file.read(_CHUNK_BYTES):  # it said that it was smaller
            data += more
            if limit is not None and len(data) > limit:
                break
    if limit is not None and len(data) > limit:
        raise _too_large_error(path, limit, f"more than {limit}")
    return data


@contextlib.contextmanager
def regular(path: Path, limit: int | None = None) -> Iterator[BinaryIO]:
    """Yield the file `path`, open for reading, as `regular_bytes` would read it."""
    check_inside(path)
    _check_regular(path, path.stat(), limit)  # before opening, which may act on a device
    try:
        with open(path, "rb", opener=_open_nonblocking) as file:
            _check_regular(path, os.fstat(file.fileno()), limit)  # of what was opened
            yield file
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        raise Unavailable(f"{path} could not be read; check the disk and try again") from error


_CONFINED_TO: ContextVar[Path | None] = ContextVar("_FOLDER", default=None)


@contextlib.contextmanager
def without_links(folder: Path) -> Iterator[None]:
    """Refuse in a block to follow a link in `folder` that leads out of it."""
    before = _CONFINED_TO.set(Path(os.path.abspath(folder)))
    try:
        yield
    finally:
        _CONFINED_TO.reset(before)


def is_outside_link(path: Path) -> bool:
    """Return True in a block of `without_links` if a path in its folder leads out of that."""
    folder = _CONFINED_TO.get()
    if folder is None or not Path(os.path.abspath(path)).is_relative_to(folder):
        return False
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def check_inside(path: Path) -> None:
    """Raise DamagedData in a block of `without_links` if a path leads out of its folder."""
    if is_outside_link(path):
        raise DamagedData(f"{path} leads to {os.path.realpath(path)} and is not followed")


def _open_nonblocking(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _check_regular(path: Path, info: os.stat_result, limit: int | None) -> None:
    if not stat.S_ISREG(info.st_mode):
        found = _FILE_KINDS.get(stat.S_IFMT(info.st_mode), "something else")
        raise DamagedData(f"{path}: expected a file, found {found}")
    if limit is not None and info.st_size > limit:
        raise _too_large_error(path, limit, str(info.st_size))


def _too_large_error(path: Path, limit: int, found: str) -> DamagedData:
    return DamagedData(f"{path}: expected a file of at most {limit} bytes, found {found}")


def write_atomically(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write `data` to `path` by temporary file, fsync and rename; make the folders above it.

    The file has permissions `mode` from the moment that it can be seen. After an error `path` is as
    it was; what is there and is no file stays, and raises DamagedData.
    """
    check_place(path)
    _write_and_place(path, data, mode, os.replace)


def check_place(path: Path) -> None:
    """Raise DamagedData if a folder, a pipe or a device is at `path`, which a rename replaces."""
    with contextlib.suppress(FileNotFoundError):
        _check_regular(path, path.stat(), None)


def put_new(path: Path, data: bytes) -> bool:
    """Write `data` to `path` as `write_atomically` does where nothing stands; return whether.

    Of several writers one succeeds, and its file stays as it is.
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
        if target.exists():  # a file system without links, where two may meet here
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        os.replace(source, target)


def _write_and_place(path: Path, data: bytes, mode: int, put: Callable[[str, Path], None]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name}.", suffix=_PARTIAL_SUFFIX
    )
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
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a folder to be filled, which is `path` once the block has ended; never a part of it.

    Raises:
      FileExistsError: there is something at `path`; it stays as it is.
      Unavailable: another program is filling it.
    """
    with beside(path) as part:
        yield part
        if path.exists():  # an empty folder, too, which a rename would replace
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        part.chmod(0o755)
        os.rename(part, path)  # fails where `path` has come to hold anything meanwhile


@contextlib.contextmanager
def beside(path: Path) -> Iterator[Path]:
    """Yield an empty folder beside `path`, which nobody else fills or reads meanwhile.

    What is to be at `path` is made in it, or is the folder itself, and put there by one rename. The
    folder is then removed, and with it what a killed writer has left of another try.

    Raises:
      Unavailable: another program is making what is to be at `path`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}{_PARTIAL_SUFFIX}")
    handle = _make_locked_folder(part, path)
    try:
        for left in part.iterdir():
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)
        os.close(handle)


def _make_locked_folder(part: Path, path: Path) -> int:
    """Make a folder and return it, open and locked; a killed holder's lock ends with it."""
    while True:
        part.mkdir(0o700, exist_ok=True)
        handle = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), part.stat()):
                return handle
        except BlockingIOError:
            os.close(handle)
            raise Unavailable(f"another program is writing {path}; wait for it to end") from None
        except FileNotFoundError:  # its maker has ended just now
            pass
        os.close(handle)


def link_new(source: Path, target: Path) -> None:
    """Put a file where nothing is, else raise FileExistsError; synchronise the folder."""
    _link(str(source), target)
    synchronise(target.parent)


def synchronise(folder: Path) -> None:
    """Wait until the names in a folder have reached the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Wait until no other process or thread holds the lock on the file `path`, then holds it.

    Nothing is written; a killed holder's lock ends with it. A file that was replaced while its lock
    was waited for is locked anew, so that whoever finds the new one waits too.
    """
    while True:
        with path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                yield
                return


def content_hash(*parts: bytes) -> str:
    """Return the SHA-256 hex digest of `parts`, each entering with its length."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def parsed_json(text: str, kind: type) -> Any:
    """Return the JSON value in `text`; ValueError if it is not JSON, not finite or no `kind`."""
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


def canonical_json(value: Any) -> bytes:
    """Return `value` as JSON with sorted keys and no spaces: equal values give equal bytes."""
    return _CANONICAL.encode(value).encode()
