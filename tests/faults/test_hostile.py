"""Every command refuses bad input in one line and keeps nothing of it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from sts import registry
from sts.cli.parser import Parser
from tests.faults.hostile import HEAVY, furnished, leaves, refused, rows
from tests.faults.trials import BrokenPromise

FEWEST = 12
QUICK = ("annotators add", "draft opinion", "suite verify", "power")


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
