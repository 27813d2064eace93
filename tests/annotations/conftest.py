"""One store, on SQLite and on a PostgreSQL cluster of the tests' own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sts.annotations.store import Store
from sts.storage.workspace import Workspace
from tests.annotations.examples import Clock

ABOVE_THE_DATABASE = {
    *("test_assignment", "test_events", "test_quality"),
    *("test_reviewed", "test_rubrics", "test_verification"),
}
"""What these files show is on SQLite in the quick tier, and on PostgreSQL in the slow one."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.stem in ABOVE_THE_DATABASE and item.get_closest_marker("postgresql"):
            item.add_marker(pytest.mark.slow)


def _programs() -> Path | None:
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(versions, key=lambda path: int(path.parts[-3]), default=None)
    found = newest or shutil.which("initdb")
    return None if found is None else Path(found).parent


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Callable[[], str]]:
    """Starts a private cluster; each call empties its database and returns the URL."""
    programs = _programs()
    if programs is None:
        if os.environ.get("STS_REQUIRE_POSTGRESQL") == "1":
            pytest.fail("STS_REQUIRE_POSTGRESQL=1, and PostgreSQL's initdb is not installed")
        pytest.skip("PostgreSQL's programs are not installed")
    # PostgreSQL refuses root, and a socket's path may not be long: a short folder of its own.
    folder = Path(tempfile.mkdtemp(prefix="sts-pg-", dir="/tmp"))
    owner: dict[str, Any] = {}
    if os.geteuid() == 0:
        someone = pwd.getpwnam("postgres")
        os.chown(folder, someone.pw_uid, someone.pw_gid)
        owner = {"user": someone.pw_uid, "group": someone.pw_gid, "extra_groups": []}

    def call(program: str, *arguments: str) -> None:
        subprocess.run(
            [str(programs / program), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            timeout=600,
            **owner,
        )

    data = folder / "data"
    call("initdb", "-D", str(data), "-U", "sts", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
    settings = f"-k {folder} -c listen_addresses= -c fsync=off -c max_connections=60"
    call(
        "pg_ctl",
        "start",
        "-D",
        str(data),
        "-w",
        "-t",
        "300",
        "-l",
        str(folder / "log"),
        "-o",
        settings,
    )

    url = f"postgresql://sts@/postgres?host={folder}"

    def emptied() -> str:
        with psycopg.connect(url, autocommit=True, options="-c lock_timeout=300s") as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        return url

    try:
        yield emptied
    finally:
        call("pg_ctl", "stop", "-D", str(data), "-w", "-m", "immediate")
        shutil.rmtree(folder)


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
