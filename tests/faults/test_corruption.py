"""Flips in a file of each kind; and that a reader which does not look is found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults import commands, corruption
from tests.faults.trials import BrokenPromise, drawn

SCORES = "w/scores/*.parquet"


@pytest.mark.slow
@pytest.mark.parametrize("kind", corruption.KINDS)
def test_no_flipped_bit_is_another_value(kind: str, tmp_path: Path) -> None:
    folder, random = commands.copy(tmp_path / "f"), drawn(1, kind, 0)
    size = 8 * corruption.a_file(kind).stat().st_size
    places = random.choice(size, corruption.LATER, replace=False)
    assert "noticed" in {corruption.flip(kind, int(place), folder) for place in places}


def test_a_reader_that_does_not_look_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corruption, "findings", lambda kind, folder: [])
    folder = commands.copy(tmp_path / "f")
    with pytest.raises(BrokenPromise, match="bit . of byte .* is flipped"):
        for place in range(8 * 40, 8 * 400, 8):
            corruption.flip(SCORES, place, folder)


def test_a_reader_that_ends_its_process_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corruption, "findings", lambda kind, folder: os.kill(os.getpid(), 9))
    with pytest.raises(BrokenPromise, match="ends with -9"):
        corruption.flip(SCORES, 80, commands.copy(tmp_path / "f"))
