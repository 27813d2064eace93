"""Commands that are refused in an empty folder leave it empty."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from sts.cli.parser import Parser
from tests.faults.hostile import HEAVY, Row, contents, leaves, outcome, rows

RUNS_ON = ("sts demo",)
"""It does what is asked of it until the time of a test is over."""


def refusable(leaf: Parser) -> list[Row]:
    """Return a line with nothing wrong but that nothing is there, and one per bad parameter."""
    every = list(rows(leaf))
    command = leaf.prog.removeprefix("sts ")
    usual = min((row.words for row in every), key=len)
    first = {row.what: row for row in reversed(every)}
    return [Row(command, "nothing is there", usual), *first.values()]


@pytest.mark.parametrize(
    "leaf", [one for one in leaves() if one.prog not in RUNS_ON], ids=lambda leaf: leaf.prog
)
def test_refused_command_leaves_an_empty_folder_empty(leaf: Parser, tmp_path: Path) -> None:
    for name in HEAVY:
        import_module(name)
    left = []
    for number, row in enumerate(refusable(leaf)):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = outcome(row, folder)
        if found.code != 0 and contents(folder):
            left.append(f"{row} left {sorted(contents(folder))}: {found.errors}")
    assert not left, "\n".join(left)
