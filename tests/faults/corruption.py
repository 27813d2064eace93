"""A bit is flipped in a file of each kind: its reader reports it, or reads what was there.

The flip and the readers are in a process of their own, so that one that ends its process is seen.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from sts import registry
from sts.errors import StsError
from sts.storage import archive
from sts.storage.checks import GROUP
from sts.storage.workspace import Workspace
from tests.faults import commands
from tests.faults.processes import fork, wait
from tests.faults.trials import BrokenPromise, Setting
from tests.faults.values import value_of

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
    "w/live/sessions/*.jsonl": "live",
    "in/backup": ARCHIVE,
}
"""Files whose content has a hash, by where they are, and the check that reads them."""
OUTCOMES = ("noticed", "the same")


@cache
def a_file(kind: str) -> Path:
    """Return the file of a kind in the whole workspace."""
    return sorted(commands.build_full_folder().glob(kind))[0]


@cache
def sound(kind: str) -> Any:
    """Return what the file of a kind contains when nothing has happened to it."""
    return value_of(a_file(kind))


def findings(kind: str, folder: Path) -> list[str]:
    """Return what the reader of a kind finds wrong in a folder."""
    if KINDS[kind] != ARCHIVE:
        check: Any = registry.load_entry_point(GROUP, "check", KINDS[kind])
        return list(check(Workspace.open(folder / "w")).findings)
    (folder / "unpacked").mkdir()
    try:
        archive.extract_archive(folder / "in/backup", folder / "unpacked")
    except StsError as error:
        return [str(error)]
    return []


def flip(kind: str, place: int, folder: Path) -> str:
    """Flip a bit and read; return one of `OUTCOMES`, or raise BrokenPromise."""
    own = a_file(kind)
    target = folder / own.relative_to(commands.build_full_folder())
    expected = sound(kind)

    def read() -> int:
        lines = findings(kind, folder)
        assert not any("\n" in line for line in lines), f"more than a line: {lines}"
        assert lines or value_of(target) == expected, "another value is read"
        return OUTCOMES.index("noticed" if lines else "the same")

    raw = bytearray(own.read_bytes())
    raw[place // 8] ^= 1 << place % 8
    target.write_bytes(raw)
    try:
        ended = wait(fork(read, Path(os.devnull), folder / ".errors"))
        errors = (folder / ".errors").read_text(errors="replace")
    finally:
        shutil.copyfile(own, target)
        shutil.rmtree(folder / "unpacked", ignore_errors=True)
    if ended is None or ended.code not in range(len(OUTCOMES)):
        what = f"bit {place % 8} of byte {place // 8} of {kind} is flipped"
        raise BrokenPromise(f"its reader ends with {ended}: {errors[-2000:]}", [what])
    return OUTCOMES[ended.code]


def trial(setting: Setting) -> Counter[str]:
    """Flip a bit of a file of each kind."""
    folder = commands.copy(setting.folder / "f")
    return Counter(
        flip(kind, int(setting.random.integers(8 * a_file(kind).stat().st_size)), folder)
        for kind in KINDS
    )
