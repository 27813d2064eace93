"""Every writing command, stopped at each thing it does to a file."""

from __future__ import annotations

import pytest

from tests.faults import commands, pipeline
from tests.faults.writes import WAYS

MANY = 50
"""Of commands that write so often, whose files are written alike, 9 places are tried here."""


def test_every_command_reads_or_is_tried_or_has_a_reason_not_to_be() -> None:
    every = [commands.READING, commands.writing().keys(), commands.APART.keys()]
    names = [leaf.prog.removeprefix("sts ") for leaf in commands.leaves()]
    assert sorted(name for kind in every for name in kind) == sorted(names)


@pytest.mark.slow
@pytest.mark.parametrize("name", commands.writing())
@pytest.mark.parametrize("way", WAYS)
def test_command_that_fails_at_any_write_leaves_no_wrong_data(name: str, way: str) -> None:
    count = len(pipeline.undisturbed(name).steps)
    assert count
    stride = 1 if count < MANY else count // 8
    assert pipeline.try_each(name, way, stride)["typed again"] == len(range(0, count, stride))
