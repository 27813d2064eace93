"""Databases that are new, old, newer, foreign, damaged, locked, full, read-only or lost."""

import hashlib
import os
import shutil
import socket
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateIndex, CreateTable

from sts.annotations.answers import progress
from sts.annotations.database import schema, tables
from sts.annotations.database import sqlite as sqlite_files
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.database import MisreadDatabase
from sts.annotations.database.presence import DATABASE_FILE
from sts.annotations.people import people
from sts.errors import ArgumentError, NewerFormat, StoreError
from sts.storage.workspace import Workspace
from tests.annotations.examples import (
    SUITE,
    a_submission,
    add_people,
    claim,
    judge,
    names,
    some_items,
    statuses,
)
from tests.blackhole import BlackHole
from tests.stores import add_person, ask, enqueue, submit

SCHEMAS = {16: "37522971a669db64c22d2e318e9f74875dfc500b5aaa7d9708868655fdaa7448"}
"""The digest of the tables and triggers of the schema version; replace it with each version."""


only_postgresql = pytest.mark.parametrize(
    "workspace", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)


def driver_url() -> str:
    return os.environ["STS_DATABASE_URL"].replace(":", "+psycopg:", 1)


@contextmanager
def raises(error: type[Exception], words: str, *also: str) -> Iterator[None]:
    """Expect a one-line error that matches `words` and contains the texts `also`."""
    with pytest.raises(error, match=words) as caught:
        yield
    line = str(caught.value)
    assert "\n" not in line and all(one in line for one in also), line


@pytest.fixture
def sqlite_started(sqlite_workspace: Workspace) -> Workspace:
    with AnnotationStore.open(sqlite_workspace) as store:
        add_person(store, "Ana")
    return sqlite_workspace


def test_schema_change_comes_with_a_new_version() -> None:
    own_tables = schema.metadata.sorted_tables
    indexes = sorted((i for table in own_tables for i in table.indexes), key=lambda i: str(i.name))
    statements = [str(CreateTable(table).compile(dialect=sqlite.dialect())) for table in own_tables]
    statements += [str(CreateIndex(index).compile(dialect=sqlite.dialect())) for index in indexes]
    statements += [line for lines in tables.TRIGGERS.values() for line in lines]
    digest = hashlib.sha256(" ".join(" ".join(statements).split()).encode()).hexdigest()
    assert SCHEMAS[schema.VERSION] == digest, "raise schema.VERSION and add this digest"


EARLIER = text("UPDATE sts_schema SET version = 7")


@pytest.mark.parametrize(
    ("change", "error", "found"),
    [
        (EARLIER, StoreError, "has schema 7: another version of sts"),
        ("DELETE FROM sts_schema", StoreError, "has schema 0: another version of sts"),
        ("ALTER TABLE items DROP COLUMN rubric", StoreError, "has no column items.rubric: another"),
        ("DROP TABLE consents", StoreError, "has no column consents.annotator: another version"),
        ("INSERT INTO sts_schema VALUES (99, 0)", NewerFormat, "schema 99; .* schema .*: update"),
    ],
)
def test_database_of_another_version_is_refused_and_kept(started, change, error, found) -> None:
    with AnnotationStore.open(started) as store, store.database.write() as connection:
        connection.execute(text(str(change)))
    for _ in range(2):
        with raises(error, found, *["or use a new workspace"][: error is StoreError]):
            AnnotationStore.open(started)


def test_every_command_refuses_an_earlier_schema(sqlite_started, sts) -> None:
    with AnnotationStore.open(sqlite_started) as store, store.database.write() as connection:
        connection.execute(EARLIER)
    for words in ("annotators ls", "annotators add Bo", "annotations verify", "references ls"):
        said = sts(sqlite_started, words, 1)
        assert "has schema 7: another version of sts created it" in said
    assert "has schema 7" in sts(sqlite_started, "annotations rejected", 1)


def test_tables_of_another_program_are_left_alone(workspace) -> None:
    workspace.create()
    on_server = "STS_DATABASE_URL" in os.environ
    plain = create_engine(
        driver_url() if on_server else f"sqlite:///{workspace.path(DATABASE_FILE)}"
    )
    with plain.begin() as connection:
        connection.execute(text("CREATE TABLE events (note TEXT)"))
    with raises(StoreError, "another program's table 'events'"):
        AnnotationStore.open(workspace)
    with plain.begin() as connection:
        assert inspect(connection).get_table_names() == ["events"]
        connection.execute(text("ALTER TABLE events RENAME TO shopping"))
    plain.dispose()
    if on_server:  # a server's database may hold what does not collide
        assert names(workspace) == []


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (b"not a database, but long enough to look like one at least" * 20, "not an SQLite file"),
        (b"PK\x03\x04" + bytes(5000), "not an SQLite file"),
        ("folder", "is not a file; move it away"),
        ("pipe", "is not a file; move it away"),
        ("file for the workspace", "needs the folder .* cannot be created"),
    ],
)
def test_something_else_in_place_of_a_database_is_refused(sqlite_workspace, kind, words) -> None:
    file = sqlite_workspace.path(DATABASE_FILE)
    if kind == "file for the workspace":
        sqlite_workspace.root.write_text("")
    else:
        sqlite_workspace.create()
        {"folder": file.mkdir, "pipe": lambda: os.mkfifo(file)}.get(
            kind, lambda: file.write_bytes(kind)
        )()
    with raises(StoreError, words, str(file.parent if "workspace" in str(kind) else file)):
        AnnotationStore.open(sqlite_workspace)
    assert not isinstance(kind, bytes) or file.read_bytes() == kind


def test_truncated_database_is_refused(sqlite_workspace) -> None:
    with AnnotationStore.open(sqlite_workspace) as store:
        enqueue(store, some_items(300))
    file = sqlite_workspace.path(DATABASE_FILE)
    whole = file.read_bytes()
    for keep in (0.9, 0.5):
        file.write_bytes(whole[: int(len(whole) * keep)])
        with raises(StoreError, "damaged"):
            AnnotationStore.open(sqlite_workspace)


def test_database_belongs_to_one_workspace(started, tmp_path) -> None:
    other = Workspace.open(str(tmp_path / "other")).create()
    if "STS_DATABASE_URL" not in os.environ:
        shutil.copy(started.path(DATABASE_FILE), other.path(DATABASE_FILE))
    ids = started.identity(), other.identity()
    assert ids[0] != ids[1]
    with pytest.raises(StoreError, match="belongs to the workspace with the id") as error:
        AnnotationStore.open(other)
    line = str(error.value)
    assert "\n" not in line and all(id in line for id in ids)
    settings, advice = other.path("workspace.toml"), line.partition(" set ")[2].partition(" in ")[0]
    settings.write_text(settings.read_text().replace(f'id = "{ids[1]}"', advice))
    assert names(Workspace.open(str(other.root))) == ["Ana"]


def test_copied_or_moved_workspace_keeps_its_database(started, tmp_path) -> None:
    copy = Path(shutil.copytree(started.root, tmp_path / "copy"))
    moved = started.root.rename(tmp_path / "moved")
    assert [names(Workspace.open(str(root))) for root in (copy, moved)] == [["Ana"]] * 2


def test_every_use_of_a_lost_database_file_is_refused(sqlite_started) -> None:
    file = sqlite_started.path(DATABASE_FILE)
    with AnnotationStore.open(sqlite_started) as store:
        file.rename(file.with_name("away"))
        for use in (
            lambda: ask(store, people.list_people),
            lambda: submit(store, 1, []),
            lambda: enqueue(store, some_items(1)),
        ):
            with raises(StoreError, "was moved, removed or replaced", str(file)):
                use()
        file.touch()
        with raises(StoreError, "was moved, removed or replaced"):
            add_person(store, "Bo")
        file.with_name("away").rename(file)
        assert add_person(store, "Bo").name == "Bo"


@contextmanager
def unprivileged(*files: Path) -> Iterator[None]:
    """Give files, and this process if it is root's, to a user whom permissions restrict."""
    if os.geteuid() != 0:
        yield
        return
    for file in files:
        os.chown(file, 65534, -1)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("read_only", ["file", "folder"])
def test_read_only_database_is_a_one_line_error(monkeypatch, read_only) -> None:
    monkeypatch.delenv("STS_DATABASE_URL", raising=False)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # pytest's own is closed to others
        os.chmod(folder, 0o755)
        workspace = Workspace.open(f"{folder}/workspace")
        with AnnotationStore.open(workspace) as store:
            add_person(store, "Ana")
        root, file = workspace.root, workspace.path(DATABASE_FILE)
        with unprivileged(root, *root.iterdir()):
            os.chmod(*((file, 0o444) if read_only == "file" else (root, 0o555)))
            with (
                raises(StoreError, "writable", str(file)),
                AnnotationStore.open(workspace) as store,
            ):
                add_person(store, "Bo")
            os.chmod(root, 0o755)


def test_full_disk_acknowledges_nothing_and_loses_nothing(sqlite_workspace) -> None:
    with AnnotationStore.open(sqlite_workspace) as store:
        enqueue(store, some_items(30))
        (ana,) = add_people(store, "Ana")
        outbox = [a_submission(one) for one in claim(store, ana, 30)]
        submit(store, ana, outbox[:1])
        with store.database.read() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        reason = {"verdict": "cannot_judge", "step": None, "reason": "x" * 500}
        heavy = [sent | reason for sent in outbox[1:]]
        with raises(StoreError, "the disk is full; free some space"):
            submit(store, ana, heavy)
        assert len(ask(store, progress.load_recent_judgements, ana, 100)) == 1
        with store.database.read() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
        assert statuses(submit(store, ana, heavy)) == ["saved"] * 29


def test_database_locked_by_another_program_is_a_one_line_error(sqlite_started, monkeypatch):
    monkeypatch.setattr(sqlite_files, "LOCK_TIMEOUT_S", 0)
    with AnnotationStore.open(sqlite_started) as store:
        other = sqlite3.connect(sqlite_started.path(DATABASE_FILE))
        other.execute("BEGIN IMMEDIATE")
        with raises(StoreError, "was busy for .* stop the program"):
            add_person(store, "Bo")
        other.close()
        assert add_person(store, "Bo").name == "Bo"


def test_threads_share_a_store(store) -> None:
    enqueue(store, some_items(24))
    given: list[str] = []

    def work(number: int) -> None:
        given.extend(judge(store, number))

    numbers = add_people(store, *(f"annotator {i}" for i in range(4)))
    threads = [threading.Thread(target=work, args=(number,)) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(given) == len(set(given)) == 24 == ask(store, progress.load_progress, SUITE).judged


@only_postgresql
def test_connections_closed_by_the_server_are_reopened(store) -> None:
    add_person(store, "Ana")
    plain = create_engine(driver_url())
    with plain.connect() as connection:
        ended = text(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        assert connection.execute(ended).scalar_one() >= 1
    plain.dispose()
    assert [one.name for one in ask(store, people.list_people)] == ["Ana"]


@pytest.mark.parametrize(
    ("url", "error", "words"),
    [
        (
            "postgresql://me:secret@/sts?host={}",
            StoreError,
            "check that it exists and is reachable",
        ),
        *(
            (url, ArgumentError, "expected STS_DATABASE_URL like postgresql://")
            for url in ("mysql://host/name", "postgres", "x", "sqlite:///a.db", "://")
        ),
    ],
)
def test_unusable_url_is_refused_without_its_password(tmp_path, monkeypatch, url, error, words):
    monkeypatch.setenv("STS_DATABASE_URL", url.format(tmp_path))
    with pytest.raises(error, match=words) as caught:
        AnnotationStore.open(Workspace.open(str(tmp_path)))
    line = str(caught.value)
    assert "\n" not in line and "secret" not in line and ("me:***@" in line) == ("me:" in url)


def test_database_is_for_its_owner_only_under_any_umask(sqlite_workspace) -> None:
    before = os.umask(0o022)
    try:
        with AnnotationStore.open(sqlite_workspace) as store:
            add_person(store, "Ana")
            files = sorted(sqlite_workspace.root.glob(f"{DATABASE_FILE}*"))
            modes = {file.name: file.stat().st_mode & 0o777 for file in files}
    finally:
        os.umask(before)
    assert modes == {f"{DATABASE_FILE}{end}": 0o600 for end in ("", "-shm", "-wal")}


def misreading(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let SQLite's check find damage that often."""
    left, sound = [times], sqlite_files.check_integrity

    def check(connection: Connection, name: str) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise MisreadDatabase(f"annotation database {name} is damaged")
        sound(connection, name)

    monkeypatch.setattr(sqlite_files, "check_integrity", check)


def test_moving_away_is_advised_after_a_repeated_check_only(sqlite_started, monkeypatch) -> None:
    misreading(monkeypatch, 1)
    assert names(sqlite_started) == ["Ana"]
    misreading(monkeypatch, 2)
    with raises(StoreError, "two checks found; .* move it and"):
        AnnotationStore.open(sqlite_started)


@pytest.mark.parametrize("found", ["disk I/O error", "database disk image is malformed"])
def test_failed_read_asks_to_check_the_disk_and_try_again(sqlite_started, found) -> None:
    with AnnotationStore.open(sqlite_started) as store:
        with pytest.raises(StoreError, match="check the disk and try again") as error:
            with store.database.read():
                raise DBAPIError("SELECT", {}, sqlite3.DatabaseError(found))
    assert "away" not in str(error.value) and "\n" not in str(error.value)


def test_password_is_not_in_the_arguments_of_a_program() -> None:
    from sts.annotations.database.postgresql import command_line_url

    url = "postgresql+psycopg://sts:s%20cret@db.example:5433/study?sslmode=require"
    place, secret = command_line_url(make_url(url))
    assert place.startswith("postgresql://sts@db.example:5433/study?") and "cret" not in place
    assert "sslmode=require" in place and "tcp_user_timeout=30000" in place
    assert secret == {"PGPASSWORD": "s cret"}


LIMIT = 2
"""Seconds to wait for an answer in this test."""


@pytest.fixture
def proxy(postgresql: Callable[[], str]) -> Iterator[BlackHole]:
    folder = postgresql().partition("host=")[2]

    def connect() -> socket.socket:
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(Path(folder, ".s.PGSQL.5432")))
        return server

    made = BlackHole(connect)
    yield made
    made.listening.close()


@pytest.mark.landing
@pytest.mark.postgresql
def test_silent_partition_fails_in_time_and_the_pool_recovers(proxy, tmp_path, monkeypatch) -> None:
    from sts.annotations.database import postgresql

    monkeypatch.setattr(postgresql, "RESPONSE_TIMEOUT_S", LIMIT)
    monkeypatch.setattr(postgresql, "_CONNECT_TIMEOUT_S", LIMIT)
    monkeypatch.setenv("STS_DATABASE_URL", f"postgresql://sts@127.0.0.1:{proxy.port}/postgres")
    with AnnotationStore.open(Workspace.open(str(tmp_path / "workspace"))) as store:
        add_person(store, "Ana")
        proxy.delivers.clear()
        start = time.monotonic()
        with raises(StoreError, "."):
            add_person(store, "Bo")
        assert time.monotonic() - start < 10 * LIMIT
        proxy.delivers.set()
        assert [one.name for one in ask(store, people.list_people)] == ["Ana"]


@pytest.mark.landing
@pytest.mark.postgresql
def test_server_limits_statements_and_idle_transactions(postgresql, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("STS_DATABASE_URL", postgresql())
    with AnnotationStore.open(Workspace.open(str(tmp_path / "workspace"))) as store:
        with store.database.read() as connection:
            for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
                assert connection.exec_driver_sql(f"SHOW {name}").scalar() not in (None, "0")
