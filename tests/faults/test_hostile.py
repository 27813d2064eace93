"""Every command refuses what is bad for it, in one line; and what is no such refusal is found."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from sts import registry
from sts.cli.main import main
from sts.cli.parser import Parser
from tests.faults import hostile
from tests.faults.hostile import HEAVY, Row, contents, furnished, leaves, refused, rows
from tests.faults.trials import BrokenPromise

FEWEST = 12
QUICK = ("annotators add", "draft opinion", "suite verify", "power")
ROW = Row("suite show", "suite", ("suite", "show", "nowhere"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return furnished(tmp_path_factory.mktemp("hostile"))


def test_every_command_and_every_action_of_one_has_a_dozen_bad_inputs() -> None:
    every = {leaf.prog: {(row.words, *row.environment) for row in rows(leaf)} for leaf in leaves()}
    assert {prog.split()[1] for prog in every} == {*registry.named("sts.commands")}
    assert {prog: len(own) for prog, own in every.items() if len(own) < FEWEST} == {}


def test_a_few_of_them_are_refused(folder: Path) -> None:
    every = [row for leaf in leaves() for row in rows(leaf) if row.command in QUICK]
    rng = np.random.default_rng(15)
    for number in rng.choice(len(every), 10, replace=False):
        refused(every[number], folder)


@pytest.mark.slow
@pytest.mark.parametrize("leaf", leaves(), ids=lambda leaf: leaf.prog)
def test_every_bad_input_is_refused_in_one_line_and_keeps_nothing(
    folder: Path, leaf: Parser
) -> None:
    for name in HEAVY:
        import_module(name)
    broken = []
    for row in rows(leaf):
        try:
            refused(row, folder)
        except BrokenPromise as error:
            broken.append(str(error))
    assert not broken, "\n".join(broken)


def says_two_lines(words: list[str]) -> int:
    print("sts: one\nsts: two", file=sys.stderr)
    return 1


def ends_in_a_traceback(words: list[str]) -> int:
    raise KeyError(words[0])


def leaves_a_file(words: list[str]) -> int:
    Path("workspace/left").touch()
    return main(words)


def removes_a_file(words: list[str]) -> int:
    Path("workspace/left").unlink()
    return main(words)


def says_that_all_is_well(words: list[str]) -> int:
    main(words)
    return 0


def says_nothing(words: list[str]) -> int:
    return 1


def turns_the_direction_of_writing(words: list[str]) -> int:
    print("sts: \u202e", file=sys.stderr)
    return 1


def takes_memory(words: list[str]) -> int:
    held = np.ones(2**24)  # 128 MB
    return main(words) if held.all() else 0


def waits(words: list[str]) -> int:
    time.sleep(60)
    return main(words)


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        (says_two_lines, "expected one line, found 2"),
        (ends_in_a_traceback, "found 70"),
        (leaves_a_file, "workspace/left changed"),
        (removes_a_file, "workspace/left changed"),
        (says_that_all_is_well, "expected exit code 1 or 2, found 0"),
        (says_nothing, "expected one line, found 0"),
        (turns_the_direction_of_writing, "expected a line that can be read"),
        (takes_memory, "it took"),
        (waits, "it was not refused in"),
    ],
)
def test_a_fault_that_is_put_in_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, fault: Callable[[list[str]], int], found: str
) -> None:
    monkeypatch.setattr(hostile, "SECONDS", 0.3 if fault is waits else hostile.SECONDS)
    refused(ROW, folder)
    monkeypatch.setattr(hostile, "MEGABYTES", 60 if fault is takes_memory else hostile.MEGABYTES)
    with pytest.raises(BrokenPromise, match=found) as broken:
        refused(ROW, folder, fault)
    assert str(ROW) in str(broken.value)


def test_memory_that_was_freed_before_is_counted_when_it_is_taken(folder: Path) -> None:
    np.ones(2**22 - 1000)  # from here on as large a piece is taken from what was freed
    freed = [np.ones(2**21) for _ in range(20)]
    last = np.ones(2**20)  # behind which nothing is given back
    del freed
    assert hostile.outcome(ROW, folder, takes_memory).megabytes > 120
    assert last.all()


def test_a_file_that_is_kept_is_told_from_one_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    before = contents(tmp_path)
    (tmp_path / "a").write_text("2")
    assert contents(tmp_path) != before
