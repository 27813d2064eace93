"""Workspaces and stores of the app's tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.continuations.run import run
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from tests.annotator_app import ring
from tests.annotator_app.serving import AGENTS, empty_workspace, quiet
from tests.examples import small


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which two agents have continued a small suite, each scenario once."""
    folder = tmp_path_factory.mktemp("recorded")
    workspace = empty_workspace(folder)
    scenarios = small(workspace).scenarios
    run(workspace, scenarios, AGENTS, count=1, seed=0, workers=1, progress=quiet)
    return folder


@pytest.fixture(scope="session")
def ringing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of a domain that renders pixels, in which one agent has continued a suite."""
    folder = tmp_path_factory.mktemp("ringing")
    workspace = empty_workspace(folder)
    scenarios = ring.scenarios(8)
    suites.freeze_scenarios(workspace, "rings", scenarios)
    run(workspace, scenarios, (ring.RINGER,), count=1, seed=0, workers=1, progress=quiet)
    return folder


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """An empty workspace on SQLite."""
    monkeypatch.delenv("STS_DATABASE_URL", raising=False)
    return Workspace.open(str(tmp_path)).create()


@pytest.fixture
def store(workspace: Workspace) -> Iterator[AnnotationStore]:
    """The annotation store of the empty workspace."""
    with AnnotationStore.open(workspace) as opened:
        yield opened


@pytest.fixture
def main_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the main module, which `AppTest` replaces and every spawned process imports."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
