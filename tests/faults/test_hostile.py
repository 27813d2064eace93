"""Every command refuses bad input with a one-line error and stores nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sts import registry
from sts.cli.parser import Parser
from tests.faults.commands import leaves
from tests.faults.hostile import (
    Row,
    check_refused,
    contents,
    furnished,
    import_heavy,
    outcome,
    rows,
)
from tests.faults.trials import BrokenPromise

FEWEST = 12
QUICK = ("annotators add", "draft rate", "suite verify", "power")
RUNS_ON = ("sts demo", "sts suite build")
"""Commands that run longer than a test may."""
FIRST = {leaf.prog.split()[1]: leaf.prog for leaf in reversed(leaves()) if leaf.prog not in RUNS_ON}
"""The first action of each command."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return furnished(tmp_path_factory.mktemp("hostile"))


def test_every_command_and_action_has_a_dozen_bad_inputs() -> None:
    every = {leaf.prog: {(row.words, *row.environment) for row in rows(leaf)} for leaf in leaves()}
    assert {prog.split()[1] for prog in every} == {*registry.list_entry_points("sts.commands")}
    assert {prog: len(own) for prog, own in every.items() if len(own) < FEWEST} == {}


def test_bad_input_prints_one_line_error_and_stores_nothing(folder: Path) -> None:
    every = [row for leaf in leaves() for row in rows(leaf) if row.command in QUICK]
    rng = np.random.default_rng(15)
    for number in rng.choice(len(every), 10, replace=False):
        check_refused(every[number], folder)


@pytest.mark.slow
@pytest.mark.parametrize("leaf", leaves(), ids=lambda leaf: leaf.prog)
def test_every_bad_input_prints_one_line_error_and_stores_nothing(
    folder: Path, leaf: Parser
) -> None:
    import_heavy()
    broken = []
    for row in rows(leaf):
        try:
            check_refused(row, folder)
        except BrokenPromise as error:
            broken.append(str(error))
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize(
    ("leaf", "stride"),
    [
        pytest.param(leaf, stride, marks=mark, id=f"{leaf.prog}-{stride}")
        for leaf in leaves()
        if leaf.prog not in RUNS_ON
        for stride, mark in ((4, pytest.mark.landing), (1, pytest.mark.slow))
        if stride == 1 or leaf.prog in FIRST.values()
    ],
)
def test_refused_command_leaves_an_empty_folder_empty(
    leaf: Parser, stride: int, tmp_path: Path
) -> None:
    """Before a change lands, by each fourth bad parameter."""
    import_heavy()
    every = list(rows(leaf))
    usual = min((row.words for row in every), key=len)
    first = {row.what: row for row in reversed(every)}  # one for each bad parameter
    missing = Row(leaf.prog.removeprefix("sts "), "the workspace is missing", usual)
    left = []
    for number, row in enumerate([missing, *first.values()][::stride]):
        empty = tmp_path / str(number)
        empty.mkdir()
        found = outcome(row, empty)
        if found.code != 0 and contents(empty):
            left.append(f"{row} left {sorted(contents(empty))}: {found.errors}")
    assert not left, "\n".join(left)
