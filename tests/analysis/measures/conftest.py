"""A command that must be refused, for the tests of all measures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sts.cli.main import main


@pytest.fixture
def refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    """A function that runs `sts measure` with bad words, and returns its error of one line."""
    monkeypatch.chdir(tmp_path)

    def run(words: str) -> str:
        assert main(["measure", *words.split()]) == 2
        error = capsys.readouterr().err.strip()
        assert "\n" not in error
        return error

    return run
