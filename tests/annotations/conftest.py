"""A store on SQLite and on a private PostgreSQL cluster."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.cli.main import main
from sts.storage.workspace import Workspace
from tests.annotations.examples import Clock
from tests.annotations.fakes import pretend
from tests.clusters import Cluster, started_cluster
from tests.stores import add_person

QUICK_ON_POSTGRESQL = {"test_claims", "test_database"}
"""Files that run on both databases in the quick tier; others do so in the landing tier."""
RULES = {
    *("test_assignment", "test_conditions", "test_deal", "test_exclusions", "test_quality"),
    *("test_export", "test_people", "test_review_queues", "test_rounds", "test_training"),
}
"""Files about rules and tables of a study: one test of each is at landing on PostgreSQL too."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try one case of each test on PostgreSQL in the landing tier, the others in the slow one."""
    tried = set()
    for item in items:
        if not item.get_closest_marker("postgresql") or item.path.stem in QUICK_ON_POSTGRESQL:
            continue
        item.add_marker(pytest.mark.landing)
        if item.path.parent != Path(__file__).parent or item.get_closest_marker("slow"):
            continue
        case = getattr(item, "callspec", None)
        test = item.path.stem if item.path.stem in RULES else item.nodeid.partition("[")[0]
        key = test, case and case.params.get("workspace")
        if key in tried:
            item.add_marker(pytest.mark.slow)
        tried.add(key)


@pytest.fixture(autouse=True)
def _pretend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every continuation that a test enqueues exist."""
    pretend(monkeypatch)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A private cluster."""
    yield from started_cluster()


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
    """A clock that tests move by hand."""
    return Clock()


@pytest.fixture
def open_store(workspace: Workspace, clock: Clock) -> Iterator[Callable[..., AnnotationStore]]:
    """Open the workspace's store under settings of its study."""
    with ExitStack() as stack:

        def open_with(**settings: object) -> AnnotationStore:
            workspace.settings["annotation"].update(settings)
            return stack.enter_context(AnnotationStore.open(workspace, clock=clock))

        yield open_with


@pytest.fixture
def store(open_store: Callable[..., AnnotationStore]) -> AnnotationStore:
    """The workspace's store, empty."""
    return open_store()


@pytest.fixture
def started(workspace: Workspace) -> Workspace:
    """A workspace in whose study Ana takes part."""
    with AnnotationStore.open(workspace) as store:
        add_person(store, "Ana")
    return workspace


@pytest.fixture
def sts(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Type a command in a workspace; return what it prints, one line of it if it is refused."""

    def type_command(workspace: Workspace, words: str, code: int = 0) -> str:
        capsys.readouterr()
        assert main([*shlex.split(words), "--workspace", str(workspace.root)]) == code
        out, err = capsys.readouterr()
        assert code == 0 or out or (err.startswith("sts: ") and err.count("\n") == 1)
        return out + err

    return type_command


@pytest.fixture
def sqlite_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """An empty workspace whose store will be a file."""
    monkeypatch.delenv("STS_DATABASE_URL", raising=False)
    return Workspace.open(str(tmp_path / "workspace"))
