"""A database that is new, old, newer, foreign, damaged, locked, full, read-only or lost."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateIndex, CreateTable

from sts.annotations import (
    baseline,
    imports,
    people,
    queue,
    references,
    schema,
    submissions,
    verdicts,
    views,
)
from sts.annotations import sqlite as sqlite_files
from sts.annotations.database import MisreadDatabase
from sts.annotations.store import DATABASE_FILE, Store
from sts.cli.main import main
from sts.errors import ArgumentError, DamagedData, NewerFormat, StoreError
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, a_submission, some_items, statuses
from tests.stores import add_person, ask, claim_items, enqueue, submit
from tests.stores import change as in_store_change

SCHEMAS = {9: "88a43a672c58d8dbb709fefbc2b920a9b755750ad835457ee8d0c92e96e445c1"}
"""The digest of the tables and triggers of each schema version; add a line with each version."""


only_postgresql = pytest.mark.parametrize(
    "workspace",
    [pytest.param("postgresql", marks=pytest.mark.postgresql)],
    indirect=True,
)


def driver_url() -> str:
    return os.environ["STS_DATABASE_URL"].replace(":", "+psycopg:", 1)


def one_line(error: pytest.ExceptionInfo[BaseException]) -> str:
    assert "\n" not in str(error.value)
    return str(error.value)


def test_schema_change_comes_with_a_new_version() -> None:
    tables = schema.metadata.sorted_tables
    indexes = sorted((i for table in tables for i in table.indexes), key=lambda i: str(i.name))
    statements = [str(CreateTable(table).compile(dialect=sqlite.dialect())) for table in tables]
    statements += [str(CreateIndex(index).compile(dialect=sqlite.dialect())) for index in indexes]
    statements += [line for lines in baseline.TRIGGERS.values() for line in lines]
    digest = hashlib.sha256(" ".join(" ".join(statements).split()).encode()).hexdigest()
    assert SCHEMAS[schema.VERSION] == digest, "raise schema.VERSION and add this digest"


def test_a_store_opened_again_holds_what_was_saved(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        enqueue(store, some_items(2))
        ana = add_person(store, "Ana").id
        submit(store, ana, [a_submission(claim) for claim in claim_items(store, ana, suite=SUITE)])
    with Store.open(workspace) as store:
        assert ask(store, views.progress, SUITE)[:4] == (2, 2, 2, 2)


def test_newer_schema_is_refused(workspace: Workspace) -> None:
    with Store.open(workspace) as store, store.database.write() as connection:
        connection.execute(schema.versions.insert().values(version=99, applied=0))
    with pytest.raises(NewerFormat, match="has schema 99; .* reads schema .*: update sts"):
        Store.open(workspace)


def earlier_schema(connection: Connection) -> None:
    connection.execute(schema.versions.update().values(version=7))


def no_version(connection: Connection) -> None:
    connection.execute(schema.versions.delete())


def missing_column(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE items DROP COLUMN rubric"))


def missing_table(connection: Connection) -> None:
    connection.execute(text("DROP TABLE consents"))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (earlier_schema, "has schema 7"),
        (no_version, "has schema 0"),
        (missing_column, "has no column items.rubric"),
        (missing_table, "has no column consents.annotator"),
    ],
)
def test_database_of_another_version_is_refused_and_kept(
    workspace: Workspace, change: Callable[[Connection], None], found: str
) -> None:
    with Store.open(workspace) as store:
        add_person(store, "Ana")
        with store.database.write() as connection:
            change(connection)
    for _ in range(2):
        with pytest.raises(StoreError, match=f"{found}: another version of sts") as error:
            Store.open(workspace)
        assert "or use a new workspace" in one_line(error)


def test_every_command_refuses_an_earlier_schema_in_one_line(
    sqlite_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(sqlite_workspace) as store, store.database.write() as connection:
        earlier_schema(connection)
    for command in (
        ["annotators", "ls"],
        ["annotators", "add", "Ana"],
        ["annotations", "verify"],
        ["annotations", "refused"],
        ["references", "ls"],
    ):
        assert main([*command, "--workspace", str(sqlite_workspace.root)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "has schema 7: another version of sts created it" in line


def test_another_programs_tables_are_left_alone(workspace: Workspace) -> None:
    workspace.ensure()
    on_server = "STS_DATABASE_URL" in os.environ
    plain = create_engine(
        driver_url() if on_server else f"sqlite:///{workspace.path(DATABASE_FILE)}"
    )
    with plain.begin() as connection:
        connection.execute(text("CREATE TABLE events (note TEXT)"))
    with pytest.raises(StoreError, match="another program's table 'events'") as error:
        Store.open(workspace)
    assert one_line(error)
    with plain.connect() as connection:
        assert inspect(connection).get_table_names() == ["events"]
    plain.dispose()


@only_postgresql
def test_a_server_database_may_hold_other_programs_tables(workspace: Workspace) -> None:
    plain = create_engine(driver_url())
    with plain.begin() as connection:
        connection.execute(text("CREATE TABLE shopping (note TEXT)"))
    plain.dispose()
    with Store.open(workspace) as store:
        assert ask(store, people.everybody) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"not a database, but long enough to look like one at least" * 20, "not an SQLite file"),
        (b"PK\x03\x04" + bytes(5000), "not an SQLite file"),
    ],
)
def test_a_file_that_is_no_database_is_refused_and_kept(
    sqlite_workspace: Workspace, content: bytes, words: str
) -> None:
    file = sqlite_workspace.ensure().path(DATABASE_FILE)
    file.write_bytes(content)
    with pytest.raises(StoreError, match=words) as error:
        Store.open(sqlite_workspace)
    assert str(file) in one_line(error)
    assert file.read_bytes() == content


@pytest.mark.parametrize("keep", [0.5, 0.9])
def test_a_truncated_database_is_refused(sqlite_workspace: Workspace, keep: float) -> None:
    with Store.open(sqlite_workspace) as store:
        enqueue(store, some_items(300))
    file = sqlite_workspace.path(DATABASE_FILE)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * keep)])
    with pytest.raises(StoreError, match="damaged") as error:
        Store.open(sqlite_workspace)
    assert one_line(error)


def test_a_folder_in_the_databases_place_is_one_line(sqlite_workspace: Workspace) -> None:
    sqlite_workspace.ensure().path(DATABASE_FILE).mkdir()
    with pytest.raises(StoreError, match="is not a file; move it away") as error:
        Store.open(sqlite_workspace)
    assert one_line(error)


def test_a_file_in_the_workspaces_place_is_one_line(sqlite_workspace: Workspace) -> None:
    sqlite_workspace.root.write_text("")
    with pytest.raises(StoreError, match="needs the folder .* cannot be created") as error:
        Store.open(sqlite_workspace)
    assert one_line(error)


def test_a_pipe_in_the_databases_place_is_not_waited_for(sqlite_workspace: Workspace) -> None:
    os.mkfifo(sqlite_workspace.ensure().path(DATABASE_FILE))
    with pytest.raises(StoreError, match="is not a file; move it away"):
        Store.open(sqlite_workspace)


def test_one_database_is_one_workspaces(workspace: Workspace, tmp_path: Path) -> None:
    with Store.open(workspace) as store:
        add_person(store, "Ana")
    other = Workspace.open(str(tmp_path / "other")).ensure()
    if "STS_DATABASE_URL" not in os.environ:
        shutil.copy(workspace.path(DATABASE_FILE), other.path(DATABASE_FILE))
    with pytest.raises(StoreError, match="belongs to the workspace with the id") as error:
        Store.open(other)
    ids = workspace.identity(), other.identity()
    assert ids[0] != ids[1] and all(id in one_line(error) for id in ids)
    advice = one_line(error).partition(" set ")[2].partition(" in ")[0]
    settings = other.path("workspace.toml")
    settings.write_text(settings.read_text().replace(f'id = "{ids[1]}"', advice))
    with Store.open(Workspace.open(str(other.root))) as store:
        assert [one.name for one in ask(store, people.everybody)] == ["Ana"]


def test_a_workspace_that_was_copied_or_moved_keeps_its_database(
    workspace: Workspace, tmp_path: Path
) -> None:
    with Store.open(workspace) as store:
        add_person(store, "Ana")
    copy = Path(shutil.copytree(workspace.root, tmp_path / "copy"))
    moved = workspace.root.rename(tmp_path / "moved")
    for root in (copy, moved):
        with Store.open(Workspace.open(str(root))) as store:
            assert [one.name for one in ask(store, people.everybody)] == ["Ana"]


def test_what_a_lost_file_would_lose_is_refused(sqlite_workspace: Workspace) -> None:
    file = sqlite_workspace.path(DATABASE_FILE)
    with Store.open(sqlite_workspace) as store:
        add_person(store, "Ana")
        file.rename(file.with_name("away"))
        uses: tuple[Callable[[], object], ...] = (
            lambda: ask(store, people.everybody),
            lambda: ask(store, references.every),
            lambda: ask(store, queue.suites),
            lambda: ask(store, submissions.refused_answers),
            lambda: ask(store, views.count_judged, 1),
            lambda: add_person(store, "Bo"),
            lambda: enqueue(store, some_items(1)),
            lambda: claim_items(store, 1, suite=SUITE),
            lambda: submit(store, 1, []),
            lambda: in_store_change(store, imports.append, [], required=1),
            lambda: ask(store, views.history, 1),
            lambda: ask(store, views.progress, SUITE),
            lambda: ask(store, verdicts.human, []),
        )
        for use in uses:
            with pytest.raises(StoreError, match="was moved, removed or replaced") as error:
                use()
            assert str(file) in one_line(error)
        file.touch()
        with pytest.raises(StoreError, match="was moved, removed or replaced"):
            add_person(store, "Bo")
        file.with_name("away").rename(file)
        assert add_person(store, "Bo").name == "Bo"


@contextmanager
def unprivileged(*files: Path) -> Iterator[None]:
    """Make files and whoever runs the test somebody's whom permissions stop; root's do not."""
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
def test_a_read_only_database_is_one_line(monkeypatch: pytest.MonkeyPatch, read_only: str) -> None:
    monkeypatch.delenv("STS_DATABASE_URL", raising=False)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # pytest's own is closed to others
        os.chmod(folder, 0o755)
        workspace = Workspace.open(f"{folder}/workspace")
        with Store.open(workspace) as store:
            add_person(store, "Ana")
        root, file = workspace.root, workspace.path(DATABASE_FILE)
        with unprivileged(root, *root.iterdir()):
            os.chmod(*((file, 0o444) if read_only == "file" else (root, 0o555)))
            with pytest.raises(StoreError, match="writable") as error:
                with Store.open(workspace) as store:
                    add_person(store, "Bo")
            os.chmod(root, 0o755)
    assert str(file) in one_line(error)


def test_a_full_disk_acknowledges_nothing_and_loses_nothing(sqlite_workspace: Workspace) -> None:
    with Store.open(sqlite_workspace) as store:
        enqueue(store, some_items(30))
        ana = add_person(store, "Ana").id
        claims = claim_items(store, ana, suite=SUITE, count=30)
        outbox = [a_submission(claim) for claim in claims]
        submit(store, ana, outbox[:1])
        with store.database.read() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        reason = {"verdict": "cannot_judge", "step": None, "reason": "x" * 500}
        heavy = [sent | reason for sent in outbox[1:]]
        with pytest.raises(StoreError, match="the disk is full; free some space") as error:
            submit(store, ana, heavy)
        assert one_line(error)
        assert len(ask(store, views.history, ana, 100)) == 1
        with store.database.read() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
        assert statuses(submit(store, ana, heavy)) == ["saved"] * 29


def test_a_database_that_another_program_holds_is_one_line(
    sqlite_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_files, "LOCK_TIMEOUT_S", 0)
    with Store.open(sqlite_workspace) as store:
        other = sqlite3.connect(sqlite_workspace.path(DATABASE_FILE))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="was busy for .* stop the program") as error:
            add_person(store, "Ana")
        other.close()
        assert one_line(error)
        assert add_person(store, "Ana").name == "Ana"


def test_a_failed_transaction_leaves_no_trace(store: Store) -> None:
    with pytest.raises(DamagedData, match="horizon"):
        enqueue(store, [*some_items(700), some_items(1, horizon=9)[0]])
    assert ask(store, views.progress, SUITE).items == 0


def test_threads_share_a_store(store: Store) -> None:
    enqueue(store, some_items(24))
    numbers = [add_person(store, f"annotator {i}").id for i in range(4)]
    given: list[str] = []

    def judge(number: int) -> None:
        while claims := claim_items(store, number, suite=SUITE, count=1):
            submit(store, number, [a_submission(claims[0])])
            given.append(claims[0].item)

    threads = [threading.Thread(target=judge, args=(number,)) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(given) == len(set(given)) == 24 == ask(store, views.progress, SUITE).judged


@only_postgresql
def test_connections_that_the_server_ended_are_made_again(store: Store) -> None:
    add_person(store, "Ana")
    plain = create_engine(driver_url())
    with plain.connect() as connection:
        ended = text(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        assert connection.execute(ended).scalar_one() >= 1
    plain.dispose()
    assert [one.name for one in ask(store, people.everybody)] == ["Ana"]


def test_a_server_that_does_not_answer_is_one_line_without_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"postgresql://me:secret@/sts?host={tmp_path}"
    monkeypatch.setenv("STS_DATABASE_URL", url)
    with pytest.raises(StoreError, match="check that it exists and is reachable") as error:
        Store.open(Workspace.open(str(tmp_path)))
    assert "secret" not in one_line(error) and "me:***@" in one_line(error)


@pytest.mark.parametrize("url", ["mysql://host/name", "postgres", "x", "sqlite:///a.db", "://"])
def test_a_url_that_is_not_postgresqls_is_an_argument_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("STS_DATABASE_URL", url)
    with pytest.raises(
        ArgumentError, match="expected STS_DATABASE_URL like postgresql://"
    ) as error:
        Store.open(Workspace.open(str(tmp_path)))
    assert one_line(error)


def test_a_setting_that_nobody_reads_is_named(sqlite_workspace: Workspace) -> None:
    sqlite_workspace.settings["annotation"]["referense_rate"] = 0.2
    with pytest.raises(
        DamagedData, match=r"unknown setting annotation.referense_rate; valid settings are"
    ):
        Store.open(sqlite_workspace)


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_reference_rate_that_is_no_share_is_refused(
    sqlite_workspace: Workspace, rate: float
) -> None:
    sqlite_workspace.settings["annotation"]["reference_rate"] = rate
    with pytest.raises(DamagedData, match="annotation.reference_rate between 0 and 1"):
        Store.open(sqlite_workspace)
    assert not sqlite_workspace.root.exists()


def test_database_is_for_its_owner_only_under_any_umask(sqlite_workspace: Workspace) -> None:
    before = os.umask(0o022)
    try:
        with Store.open(sqlite_workspace) as store:
            add_person(store, "Ana")
            files = sorted(sqlite_workspace.root.glob(f"{DATABASE_FILE}*"))
            modes = {file.name: file.stat().st_mode & 0o777 for file in files}
    finally:
        os.umask(before)
    assert modes == {
        DATABASE_FILE: 0o600,
        f"{DATABASE_FILE}-shm": 0o600,
        f"{DATABASE_FILE}-wal": 0o600,
    }


def misreading(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let SQLite's check find damage that often."""
    left, sound = [times], sqlite_files.check_integrity

    def check(connection: Connection, name: str) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise MisreadDatabase(f"annotation database {name} is damaged")
        sound(connection, name)

    monkeypatch.setattr(sqlite_files, "check_integrity", check)


def test_database_misread_once_is_read_again(
    sqlite_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(sqlite_workspace) as store:
        add_person(store, "Ana")
    misreading(monkeypatch, 1)
    with Store.open(sqlite_workspace) as store:
        assert [one.name for one in ask(store, people.everybody)] == ["Ana"]


def test_moving_away_is_advised_after_a_repeated_check_only(
    sqlite_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.open(sqlite_workspace).close()
    misreading(monkeypatch, 2)
    with pytest.raises(StoreError, match="two checks found; .* move it and") as error:
        Store.open(sqlite_workspace)
    assert one_line(error)


@pytest.mark.parametrize("found", ["disk I/O error", "database disk image is malformed"])
def test_failed_read_asks_to_check_the_disk_and_try_again(
    sqlite_workspace: Workspace, found: str
) -> None:
    with Store.open(sqlite_workspace) as store:
        with pytest.raises(StoreError, match="check the disk and try again") as error:
            with store.database.read():
                raise DBAPIError("SELECT", {}, sqlite3.DatabaseError(found))
    assert "away" not in one_line(error)


def test_password_is_not_in_the_arguments_of_a_program() -> None:
    from sts.annotations.postgresql import command_line_url

    url = "postgresql+psycopg://sts:s%20cret@db.example:5433/study?sslmode=require"
    place, secret = command_line_url(make_url(url))
    assert place.startswith("postgresql://sts@db.example:5433/study?") and "cret" not in place
    assert "sslmode=require" in place and "tcp_user_timeout=30000" in place
    assert secret == {"PGPASSWORD": "s cret"}
