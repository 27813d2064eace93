"""Every writing command at every thing it does to a file; and that the checkers can fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults import commands, pipeline
from tests.faults.each import each
from tests.faults.pipeline import Fault
from tests.faults.trials import BrokenPromise
from tests.faults.writes import WAYS

MANY = 50
"""Of commands that write so often, whose files are written alike, 9 places are tried here."""


def test_every_command_either_reads_or_is_tried_or_says_why_not() -> None:
    every = [commands.READING, commands.writing().keys(), commands.APART.keys()]
    assert sorted(name for kind in every for name in kind) == sorted(commands.leaves())


@pytest.mark.slow
@pytest.mark.parametrize("name", commands.writing())
@pytest.mark.parametrize("way", WAYS)
def test_a_command_that_fails_at_any_write_leaves_nothing_wrong(name: str, way: str) -> None:
    count = len(pipeline.undisturbed(name).steps)
    assert count
    stride = 1 if count < MANY else count // 8
    assert each(name, way, stride)["typed again"] == len(range(0, count, stride))


def test_what_is_half_written_in_its_place_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_once(path: Path, data: bytes, *, mode: int = 0o644) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    pipeline.undisturbed("suite tag")
    monkeypatch.setattr("sts.storage.files.write_atomically", at_once)
    with pytest.raises(BrokenPromise, match="tags"):
        for last in range(1, 9):
            pipeline.try_with([Fault(last, "killed")], "suite tag", tmp_path / str(last))


def test_what_is_left_behind_by_a_command_that_could_not_write_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline.undisturbed("suite tag")
    monkeypatch.setattr("sts.storage.files.os.unlink", lambda path: None)
    with pytest.raises(BrokenPromise, match=r"\.part.* left behind"):
        pipeline.try_with([Fault(4, "no space")], "suite tag", tmp_path / "f")


def test_an_error_that_is_not_said_in_a_line_is_found_with_the_fewest_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline.undisturbed("suite tag")
    monkeypatch.setattr("sts.cli.main.explain", lambda error: os._exit(3))
    faults = [Fault(4, "killed"), Fault(4, "I/O error"), Fault(2, "killed")]
    with pytest.raises(BrokenPromise, match="expected exit code 1") as broken:
        pipeline.try_shortest(faults, "suite tag", tmp_path)
    assert str(broken.value).count("I/O error at") == 1
    assert "killed at" not in str(broken.value)


def test_what_a_second_try_does_not_mend_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = pipeline.undisturbed("suite tag")
    other = own._replace(after=own.after | {"tags/tiny.json": {}})
    monkeypatch.setattr(pipeline, "undisturbed", lambda name: other)
    with pytest.raises(BrokenPromise, match="not what an undisturbed run makes"):
        pipeline.try_with([], "suite tag", tmp_path / "f")
