"""A bit is flipped in a file of each kind: its reader says so in a line, or reads what was there.

The flip and the readers are in a process of their own, so that one that ends its process is seen.
"""

from __future__ import annotations

import os
import shutil
import traceback
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from sts import registry
from sts.errors import StsError
from sts.storage import archive
from sts.storage.checks import GROUP
from sts.storage.workspace import Workspace
from tests.faults import commands
from tests.faults.trials import BrokenPromise, Setting
from tests.faults.values import of_file

ARCHIVE = "archive"
KINDS = {
    "w/trajectories/*.parquet": "trajectories",
    "w/suites/tiny/1/scenarios.parquet": "suites",
    "w/suites/tiny/1/suite.json": "suites",
    "w/drafts/grown/*/candidates/*.parquet": "drafts",
    "w/drafts/grown/*/edited/*.parquet": "drafts",
    "w/drafts/grown/*/profiles/*.json": "profiles",
    "w/drafts/grown/*/profiles/*.parquet": "profiles",
    "w/continuations/*/*.parquet": "continuations",
    "w/continuations/index.parquet": "continuations",
    "w/labels/*/*/*.parquet": "labels",
    "w/labels/*.parquet": "labels",
    "w/scores/*.parquet": "scores",
    "in/backup": ARCHIVE,
}
"""Files whose content has a hash, by where they are, and the check that reads them."""
LATER = 200
"""Flips of each kind."""


class Flip(NamedTuple):
    """A bit that is another than it was."""

    kind: str
    place: int

    def __str__(self) -> str:
        return f"bit {self.place % 8} of byte {self.place // 8} of {self.kind} is flipped"


@cache
def a_file(kind: str) -> Path:
    """Return the file of a kind in the whole workspace."""
    return sorted(commands.whole().glob(kind))[0]


@cache
def sound(kind: str) -> Any:
    """Return what the file of a kind says when nothing has happened to it."""
    return of_file(a_file(kind))


def findings(kind: str, folder: Path) -> list[str]:
    """Return what the reader of a kind finds wrong in a folder."""
    if KINDS[kind] == ARCHIVE:
        (folder / "unpacked").mkdir()
        try:
            archive.unpack(folder / "in/backup", folder / "unpacked")
        except StsError as error:
            return [str(error)]
        return []
    check: Callable[[Workspace], Any] = registry.load(GROUP, "check", KINDS[kind])
    return list(check(Workspace.open(folder / "w")).findings)


def flip(kind: str, place: int, folder: Path) -> str:
    """Flips a bit and reads; returns "noticed" or "the same".

    Raises:
      BrokenPromise: another value is read, or the reader ends otherwise than it should.
    """
    own = a_file(kind)
    target = folder / own.relative_to(commands.whole())
    sound(kind)
    raw = bytearray(own.read_bytes())
    raw[place // 8] ^= 1 << place % 8
    target.write_bytes(raw)
    try:
        code = in_a_process(lambda: _read(kind, folder, target), folder / ".said")
        said = (folder / ".said").read_text(errors="replace")
    finally:
        shutil.copyfile(own, target)
        shutil.rmtree(folder / "unpacked", ignore_errors=True)
    words = {0: "noticed", 1: "the same"}
    if code not in words:
        raise BrokenPromise(f"it ends with {code}: {said[-2000:]}", [Flip(kind, place)])
    return words[code]


def _read(kind: str, folder: Path, target: Path) -> int:
    lines = findings(kind, folder)
    if any("\n" in line for line in lines):
        raise AssertionError(f"more than a line: {lines}")
    if lines:
        return 0
    if of_file(target) != sound(kind):
        raise AssertionError("another value is read")
    return 1


def in_a_process(work: Callable[[], int], words: Path) -> int:
    """Return what a function returns in a forked process; 99 or a negative number if it fails."""
    process = os.fork()
    if not process:
        code = 99
        try:
            os.dup2(os.open(words, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            code = work()
        except BaseException as error:
            os.write(2, "".join(traceback.format_exception(error)).encode())
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def trial(setting: Setting) -> Counter[str]:
    """Flips a bit of a file of each kind."""
    folder = commands.copy(setting.folder / "f")
    found = Counter[str]()
    for kind in KINDS:
        size = a_file(kind).stat().st_size
        found[flip(kind, int(setting.random.integers(8 * size)), folder)] += 1
    return found
