"""The claims of the record, in folders of the test run; and a private PostgreSQL cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clusters import Cluster, started_cluster
from tests.record.claims import Claims


@pytest.fixture(scope="package")
def claims(tmp_path_factory: pytest.TempPathFactory) -> Claims:
    """Claims that share what agents have played."""
    return Claims(tmp_path_factory.mktemp("record"))


@pytest.fixture(scope="package")
def cluster() -> Iterator[Cluster]:
    """A private cluster of PostgreSQL."""
    yield from started_cluster()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def study_folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder whose workspace keeps its study on SQLite, then on PostgreSQL."""
    monkeypatch.delenv("STS_DATABASE_URL", raising=False)
    if request.param == "postgresql":
        monkeypatch.setenv("STS_DATABASE_URL", request.getfixturevalue("cluster").emptied())
    return tmp_path / "study"
