"""What tests of drafts begin with."""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.storage.workspace import Workspace
from sts.trajectories import store as trajectories
from tests.scenarios.curating import RECORDED, Curation


@pytest.fixture(scope="session")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with recordings and a draft of six candidates, for tests to copy."""
    root = tmp_path_factory.mktemp("mined") / "w"
    trajectories.save(Workspace.open(root), RECORDED)
    asked = ("--category", "shadow-evil", "--category", "where-is-good", "--per-category", "3")
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["mine", "own", *asked, "--workspace", str(root)]) == 0
    return root


@pytest.fixture
def own(mined: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Curation:
    return Curation(Path(shutil.copytree(mined, tmp_path / "w")), capsys)
