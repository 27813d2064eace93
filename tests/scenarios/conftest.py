"""What tests of drafts begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from sts.trajectories import store as trajectories
from tests.scenarios.curating import RECORDED, Curation


@pytest.fixture
def own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Curation:
    made = Curation(tmp_path / "w", capsys)
    trajectories.save(made.workspace, RECORDED)
    made("mine", "own", "--category", "walk", "--category", "where-is-good", "--per-category", "3")
    return made
