"""What a process does to files, one thing at a time, so that it can be stopped at any of them.

These are what Python does: files that are opened to be written, each write of their buffers, names
that are given and taken, and each statement and commit that changes the annotation database. What
SQLite does inside a commit is left to its authors' tests.
"""

from __future__ import annotations

import builtins
import errno
import io
import itertools
import os
import signal
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy.engine.default import DefaultDialect

from sts.storage import folders
from tests.faults.processes import fork, wait

WAYS = ("killed", "no space", "I/O error")
Meet = Callable[[str, Callable[[], object]], None]
"""Is called with what is about to be done and how to do half of it; may end the process."""
_LOST = ("unlink", "rmdir", "remove", "chmod")
"""Calls that a full or broken disk does not refuse: only a kill comes before them."""
_CHANGES = ("INSERT", "UPDATE", "DELETE", "CREATE")
_SAID = {errno.ENOSPC: "database or disk is full", errno.EIO: "disk I/O error"}


class Failed(OSError):
    """What a disk reports; SQLite reports it in other words."""


def failing(last: int, way: str) -> Meet:
    """Return what has a process fail at the `last` thing that it does to a file, from 1.

    A full disk stays full; an error of input or output happens once.
    """
    seen = 0

    def meet(what: str, half: Callable[[], object]) -> None:
        nonlocal seen
        if way != "killed" and what.partition(" ")[0] in _LOST:
            return
        seen += 1
        if seen == last and way == "killed":
            half()
            os.kill(os.getpid(), signal.SIGKILL)
        if seen == last or (seen > last and way == "no space"):
            half()
            code = errno.ENOSPC if way == "no space" else errno.EIO
            raise Failed(code, os.strerror(code), what.partition(" ")[2] or None)

    return meet


def dying(last: int) -> None:
    """Have this process killed at its `last` call, from 1, that keeps a file or gives it a name."""
    kept = ("fsync", "link", "replace")
    meet = failing(last, "killed")

    def met(what: str, half: Callable[[], object]) -> None:
        if what.partition(" ")[0] in kept:
            meet(what, lambda: None)

    watch(Path("/"), met)


def kill_at_each_write(
    do: Callable[[str], object],
    prepare: Callable[[str], object] = lambda name: None,
    arm: Callable[[int], None] = dying,
    stride: int = 1,
) -> Iterator[tuple[str, bool]]:
    """Call `do` with "1", "2" ... in processes that are killed at their first, second ... write.

    `prepare` is called before with the same name, and `arm` in the process with the number of the
    write. Only every `stride`th write is tried. Yield each name and whether its process was
    killed; the last one was not.
    """
    for moment in itertools.count(1, stride):
        name = str(moment)
        prepare(name)

        def work() -> int:
            arm(moment)  # noqa: B023
            do(name)  # noqa: B023
            return 0

        with tempfile.NamedTemporaryFile("r") as errors:
            ended = wait(fork(work, Path(os.devnull), Path(errors.name)))
            assert ended and ended.code in (0, -signal.SIGKILL), errors.read()
        yield name, ended.code != 0
        if ended.code == 0:
            return


def watch(below: Path, meet: Meet) -> None:
    """Have `meet` called before each thing that this process does to files below a folder."""
    root = os.path.realpath(below)

    def inside(where: Any) -> str | None:
        """Return how a file is called below the folder; None for any other."""
        try:
            if isinstance(where, int):
                kind = stat.S_IFMT(os.fstat(where).st_mode)
                known = kind in (stat.S_IFREG, stat.S_IFDIR)
                path = os.readlink(f"/proc/self/fd/{where}") if known else ""
            else:
                path = os.path.abspath(os.fsdecode(where))
        except (OSError, TypeError):
            return None
        own = path.startswith(f"{root.rstrip('/')}/")
        return os.path.relpath(path, root) if own else None

    def intercept_call(owner: Any, name: str, place: int) -> None:
        """Meet a function whose argument at `place` is its file."""
        real = getattr(owner, name)

        def call(*given: Any, **named: Any) -> Any:
            known = "dir_fd" in named or "src_dir_fd" in named
            at = inside(given[place]) if not known else str(given[place])
            if at is not None and not (name == "mkdir" and os.path.isdir(given[0])):
                meet(f"{name.strip('_')} {at}", lambda: None)
            return real(*given, **named)

        setattr(owner, name, call)

    def intercept_open(real: Callable[..., int]) -> Callable[..., int]:
        def call(path: Any, flags: int, *given: Any, **named: Any) -> int:
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if writes and (at := inside(path)) is not None:
                meet(f"open {at}", lambda: None)
            return real(path, flags, *given, **named)

        return call

    def intercept_write(real: Callable[..., int]) -> Callable[..., int]:
        def call(handle: int, data: Any) -> int:
            if (at := inside(handle)) is not None:
                meet(f"write {at}", lambda: real(handle, bytes(data)[: len(data) // 2]))
            return real(handle, data)

        return call

    class Raw(io.FileIO):
        """A file, each write to which is met."""

        def write(self, data: Any) -> int:
            raw = bytes(data)
            at = inside(self.fileno())
            if at is not None:
                meet(f"write {at}", lambda: super(Raw, self).write(raw[: len(raw) // 2]))
            return super().write(data)

    real_open = io.open

    def file(where: Any, mode: str = "r", buffering: int = -1, *given: Any, **named: Any) -> Any:
        if not set(mode) & set("wax+") or (at := inside(where)) is None:
            return real_open(where, mode, buffering, *given, **named)
        if not isinstance(where, int):
            meet(f"open {at}", lambda: None)
        of_file = {key: named.pop(key) for key in ("closefd", "opener") if key in named}
        raw = Raw(where, mode.replace("b", "").replace("t", ""), **of_file)
        if buffering == 0:
            return raw
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, *given, **named)

    def stated(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(dialect: Any, cursor: Any, *given: Any, **named: Any) -> Any:
            what = str(given[0]).split(maxsplit=1)[0] if given else "COMMIT"
            if what in (*_CHANGES, "COMMIT") and dialect.name == "sqlite":
                try:
                    meet(f"{what.lower()} annotations.sqlite3", lambda: None)
                except Failed as error:
                    raise sqlite3.OperationalError(_SAID[error.errno or 0]) from None
            return real(dialect, cursor, *given, **named)

        return call

    for name in ("fsync", "unlink", "rmdir", "remove", "mkdir", "chmod"):
        intercept_call(os, name, 0)
    for name in ("link", "replace", "rename"):
        intercept_call(os, name, 1)
    intercept_call(folders, "_exchange_folders", 1)
    changed: list[tuple[Any, str, Any]] = [(io, "open", file), (builtins, "open", file)]
    changed += [(os, "open", intercept_open(os.open)), (os, "write", intercept_write(os.write))]
    for owner, name, instead in changed:
        setattr(owner, name, instead)
    for name in ("do_execute", "do_executemany", "do_commit"):
        setattr(DefaultDialect, name, stated(getattr(DefaultDialect, name)))
