"""One store, on SQLite and on a PostgreSQL cluster of the tests' own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sts.annotations.store import Store
from sts.storage.workspace import Workspace
from tests.annotations.examples import Clock
from tests.annotations.fakes import pretend
from tests.clusters import Cluster, programs

QUICK_ON_POSTGRESQL = {"test_claims", "test_database"}
"""Files that run on both databases in the quick tier; all others do so in the landing tier."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("postgresql") and item.path.stem not in QUICK_ON_POSTGRESQL:
            item.add_marker(pytest.mark.landing)


@pytest.fixture(autouse=True)
def _pretend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every continuation that a test enqueues is there."""
    pretend(monkeypatch)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A private cluster."""
    found = programs()
    if found is None:
        if os.environ.get("STS_REQUIRE_POSTGRESQL") == "1":
            pytest.fail("STS_REQUIRE_POSTGRESQL=1, and PostgreSQL's initdb is not installed")
        pytest.skip("PostgreSQL's programs are not installed")
    made = Cluster(found)
    yield made
    made.close()


@pytest.fixture(scope="session")
def postgresql(cluster: Cluster) -> Callable[[], str]:
    """Empty the database of the cluster and return its URL, with each call."""
    return cluster.emptied


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def workspace(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Workspace:
    """An empty workspace, whose store will be on SQLite, then on PostgreSQL."""
    monkeypatch.delenv("STS_DATABASE_URL", raising=False)
    if request.param == "postgresql":
        monkeypatch.setenv("STS_DATABASE_URL", request.getfixturevalue("postgresql")())
    return Workspace.open(str(tmp_path / "workspace"))


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still until it is moved."""
    return Clock()


@pytest.fixture
def store(workspace: Workspace, clock: Clock) -> Iterator[Store]:
    """The workspace's store, empty."""
    with Store.open(workspace, clock=clock) as opened:
        yield opened


@pytest.fixture
def sqlite_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """An empty workspace whose store will be a file."""
    monkeypatch.delenv("STS_DATABASE_URL", raising=False)
    return Workspace.open(str(tmp_path / "workspace"))
