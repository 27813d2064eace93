"""Each writing command dies at its k-th write, or is refused it: nothing wrong is ever read.

A command is killed, or the disk reports that it is full or broken, at any thing that it does to a
file (`tests.faults.writes`). Then everything is read: each thing in the workspace is what it was
before, or what the undisturbed command makes of it. The same command typed again ends with what the
undisturbed one makes, or reports in one line that all of it is there.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sts import registry
from sts.errors import StsError
from sts.storage.checks import GROUP
from sts.storage.workspace import Workspace
from tests.faults import commands
from tests.faults.commands import Outcome, Words
from tests.faults.trials import BrokenPromise, Setting, shortest
from tests.faults.values import Masked, Values, find_mismatches, values
from tests.faults.writes import WAYS, failing


class Fault(NamedTuple):
    """Where a command fails: at its `last` thing done to a file, from 1, and in which way."""

    last: int
    way: str

    def __str__(self) -> str:
        return f"{self.way} at {self.last}"


class Undisturbed(NamedTuple):
    """What a command does when nothing goes wrong.

    `words` are what is typed, `steps` what it does to files, `before` and `after` what is read with
    what differs each time `masked`, and `made` the latter unmasked.
    """

    words: Words
    steps: tuple[str, ...]
    masked: Masked
    before: Values
    after: Values
    made: Values


@cache
def undisturbed(name: str) -> Undisturbed:
    """Type a command twice and look; all that it imports is here from then on."""
    whole = commands.build_full_folder()
    words = (*name.split(), *commands.writing()[name])
    steps: tuple[str, ...] = ()
    found = []
    before = values(whole)
    for seen in (False, True):
        folder = commands.copy(whole.with_name(f"{whole.name}-typed"))
        try:
            typed = commands.filled(words, folder)
            if seen or name in commands.COLD:
                steps = commands.steps(folder, typed)
            else:
                commands.type_here(typed)
            found.append(values(folder))
        finally:
            shutil.rmtree(folder)
    masked = Masked.compare(*found)
    return Undisturbed(words, steps, masked, masked(before), masked(found[0]), found[0])


def try_with(faults: Sequence[Fault], name: str, folder: Path) -> Counter[str]:
    """Type a command with each fault in turn, and then again without any.

    Raises:
      BrokenPromise: something wrong was read, or the last try ended otherwise than it should.
    """
    own = undisturbed(name)
    counts: Counter[str] = Counter()
    history: list[object] = [f"a copy of the workspace of tests.faults.commands in {folder.name}"]
    commands.copy(folder)
    words = commands.filled(own.words, folder)
    state = own.before
    for fault in faults:
        before = parts(folder)  # which a killed one left
        outcome = commands.type_in(folder, words, failing(fault.last, fault.way))
        at = own.steps[fault.last - 1] if fault.last <= len(own.steps) else "nothing"
        history.append(f"sts {' '.join(own.words)}: {fault}, {at}: {outcome}")
        check_ended(fault, outcome, state == own.after, history)
        state = own.masked(read(folder, history))
        if wrong := find_mismatches(state, own.before, own.after):
            raise BrokenPromise(f"{wrong} is neither as before nor as after", history)
        left = parts(folder) - before
        if fault.way != "killed" and outcome.code > 0 and left:
            raise BrokenPromise(f"{sorted(left)} was left behind", history)
        counts["done all the same" if outcome.code == 0 else fault.way] += 1
    outcome = commands.type_in(folder, words)
    history.append(f"sts {' '.join(own.words)}: {outcome}")
    there = state == own.after and outcome.code in (1, 2) and len(outcome.lines) == 1
    if not there and (outcome.code or outcome.lines):
        raise BrokenPromise("typed again it does not end as it should", history)
    if wrong := find_mismatches(own.masked(read(folder, history)), own.after):
        raise BrokenPromise(f"{wrong} is not what an undisturbed run makes", history)
    counts["typed again"] += 1
    return counts


def check_ended(fault: Fault, outcome: Outcome, all_there: bool, history: Sequence[object]) -> None:
    """A killed command prints nothing; any other that fails prints one line and ends with 1.

    If an earlier try has done all of it, it may be refused for that.
    """
    if outcome.code == -9 and fault.way == "killed":
        return
    if all_there and outcome.code == 2 and len(outcome.lines) == 1:
        return
    if outcome.code not in (0, 1) or len(outcome.lines) != outcome.code:
        raise BrokenPromise("expected exit code 1 and one line, or 0 and none", history)


def read(folder: Path, history: Sequence[object]) -> Values:
    """Return the values in a folder; raise BrokenPromise if a reader finds something wrong."""
    found = findings(folder / "w")
    if (folder / "out/restored").exists():
        found += findings(folder / "out/restored")
    if found:
        raise BrokenPromise(f"what is there is not sound: {found}", history)
    return values(folder)


_FINDINGS: dict[str, list[str]] = {}
_DRAWN = re.compile(r"\.[a-z0-9_]{8}\.part$")
"""What `tempfile` draws for a name."""


def findings(root: Path) -> list[str]:
    """Return what the readers of a workspace find wrong, the same for the same bytes."""
    digest = hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        name = _DRAWN.sub(".part", path.relative_to(root).as_posix())
        digest.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    key = digest.hexdigest()
    if key not in _FINDINGS:
        workspace = Workspace.open(root)
        lines: list[str] = []
        for name in registry.list_entry_points(GROUP):
            try:
                lines += registry.load_entry_point(GROUP, "check", name)(workspace).findings
            except StsError as error:
                lines.append(str(error))
        _FINDINGS[key] = lines
    return _FINDINGS[key]


def parts(folder: Path) -> set[str]:
    """Return what is left of files that are not whole."""
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.suffix == ".part"}


def try_each(name: str, way: str, stride: int = 1) -> Counter[str]:
    """Fail a command at every `stride`-th of its writes in turn; return how often what happened."""
    counts: Counter[str] = Counter()
    for last in range(1, len(undisturbed(name).steps) + 1, stride):
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            counts += try_with([Fault(last, way)], name, Path(folder) / str(last))
    return counts


def trial(setting: Setting) -> Counter[str]:
    """Have a command fail once, twice or three times, and type it again."""
    names = sorted(commands.writing())
    name = names[setting.random.integers(len(names))]
    steps = len(undisturbed(name).steps)
    count = int(setting.random.integers(1, 4))
    draws = setting.random.integers((1, 0), (steps + 1, len(WAYS)), (count, 2))
    return try_shortest([Fault(int(last), WAYS[way]) for last, way in draws], name, setting.folder)


def try_shortest(faults: Sequence[Fault], name: str, folder: Path) -> Counter[str]:
    """Do `try_with`; if that fails, raise the fewest faults with which it does."""
    tries = 0

    def fails(some: Sequence[Fault]) -> BrokenPromise | None:
        nonlocal tries
        tries += 1
        try:
            try_with(some, name, folder / str(tries))
        except BrokenPromise as broken:
            return broken
        return None

    try:
        return try_with(faults, name, folder / "0")
    except BrokenPromise as broken:
        least = shortest(faults, lambda some: fails(some) is not None)
        raise (fails(least) or broken) from None
