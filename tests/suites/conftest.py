"""Fixtures that the tests of suites share."""

from pathlib import Path

import pytest

from sts.storage.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.open(str(tmp_path / "w")).create()
