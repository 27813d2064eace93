"""Fixtures that tests of drafts and of mining share."""

import shutil
from pathlib import Path

import pytest

from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from sts.trajectories.trajectory import Trajectory
from tests.scenarios.curating import Curation, recordings, run_commands


@pytest.fixture(scope="session")
def trajectories() -> list[Trajectory]:
    return recordings()


@pytest.fixture(scope="session")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with recordings and a draft of six candidates, for tests to copy."""
    root = tmp_path_factory.mktemp("mined") / "w"
    store.save(Workspace.open(root), recordings())
    run_commands(root, "mine own --category shadow-evil --category where-is-good --per-category 3")
    return root


@pytest.fixture
def curator(mined: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Curation:
    return Curation(Path(shutil.copytree(mined, tmp_path / "w")), capsys)


@pytest.fixture
def bare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Curation:
    """A workspace of recordings alone."""
    store.save(Workspace.open(tmp_path / "w"), recordings())
    return Curation(tmp_path / "w", capsys)
