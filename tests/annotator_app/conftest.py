"""Continuations that annotators judge."""

from pathlib import Path

import pytest

from sts.continuations.run import run
from sts.suites import store as suites
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
    scenarios = ring.scenarios(60)
    suites.freeze(workspace, "rings", scenarios)
    run(workspace, scenarios, (ring.RINGER,), count=1, seed=0, workers=1, progress=quiet)
    return folder
