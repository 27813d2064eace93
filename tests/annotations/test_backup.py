"""Backups and moves of studies, on both databases: whole, and safe to interrupt."""

import json
import os
import shutil
import sqlite3
import threading
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sts.annotations.answers import progress, submissions
from sts.annotations.database import schema
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.presence import DATABASE_FILE
from sts.annotations.people import people, sessions
from sts.annotations.vault import backup
from sts.annotations.vault.database_backup import DUMP_FILE
from sts.annotations.vault.history import verify
from sts.annotations.vault.move import MOVED_FILE, move_database
from sts.errors import ArgumentError, DamagedData, StoreError, StsError, Unavailable
from sts.storage import archive, files
from sts.storage.folders import replace_folder
from sts.storage.workspace import Workspace
from tests.annotations.examples import (
    a_submission,
    add_people,
    claim,
    names,
    rows,
    some_items,
    statuses,
)
from tests.annotations.test_processes import sender
from tests.annotations.test_verification import a_study, alter
from tests.faults.writes import failing, kill_at_each_write, watch
from tests.stores import add_person, ask, change, enqueue, submit

POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.postgresql)
only_postgresql = pytest.mark.parametrize("workspace", [POSTGRESQL], indirect=True)
Rows = dict[str, list[tuple[Any, ...]]]


def all_rows(store: AnnotationStore) -> Rows:
    """Return every row of every table."""
    return {
        name: sorted(map(tuple, rows(store, name)), key=repr) for name in schema.metadata.tables
    }


def is_on_server() -> bool:
    return "STS_DATABASE_URL" in os.environ


@pytest.fixture
def another_database(request, monkeypatch) -> Callable[[bool], None]:
    """Set the database of workspaces that are opened later: an empty one of a server, or files."""

    def use(on_server: bool) -> None:
        if on_server:
            monkeypatch.setenv("STS_DATABASE_URL", request.getfixturevalue("postgresql")())
        else:
            monkeypatch.delenv("STS_DATABASE_URL", raising=False)

    return use


@pytest.fixture
def study(workspace: Workspace) -> tuple[Workspace, Rows, str]:
    """A study, its rows and the secret of Ana's session."""
    a_study(workspace)
    with AnnotationStore.open(workspace) as store:
        secret = change(
            store, sessions.accept_invitation, str(change(store, people.invite, "Ana").token)
        )
        return workspace, all_rows(store), secret


def test_restored_study_has_every_row_and_goes_on(study, tmp_path, another_database) -> None:
    workspace, before, secret = study
    on_server = is_on_server()
    made = backup.create_backup(workspace, tmp_path / "copy")
    assert (DUMP_FILE in made.files, DATABASE_FILE in made.files) == (on_server, not on_server)
    another_database(on_server)
    restored = Workspace(tmp_path / "restored", workspace.settings)
    backup.restore_backup(tmp_path / "copy", restored.root)
    assert restored.path(DATABASE_FILE).exists() != on_server
    assert not restored.path(DUMP_FILE).exists()
    check_continued(restored, before, secret)


@pytest.mark.postgresql
@pytest.mark.parametrize("workspace", ["sqlite", POSTGRESQL], indirect=True)
def test_moved_study_has_every_row_and_goes_on(study, another_database) -> None:
    workspace, before, secret = study
    before.pop("sts_schema")
    if is_on_server():
        moved = move_database(workspace, "sqlite")
        another_database(False)
    else:
        another_database(True)
        url = os.environ.pop("STS_DATABASE_URL")
        moved = move_database(workspace, url)
        assert workspace.path(MOVED_FILE).exists() and not workspace.path(DATABASE_FILE).exists()
        with pytest.raises(StoreError, match="a study started in this workspace"):
            AnnotationStore.open(workspace)
        os.environ["STS_DATABASE_URL"] = url
    assert moved.events == 31
    check_continued(workspace, before, secret)


def check_continued(workspace: Workspace, before: Rows, secret: str) -> None:
    """Check that a study has the rows that it had, and that people can judge on."""
    with AnnotationStore.open(workspace) as store:
        after = all_rows(store)
        assert {name: after[name] for name in before} == before
        assert len(after["sts_schema"]) == 1
        found = verify(store.database)
        assert found.findings == () and found.events
        ana = people.find_by_session(store, secret)
        assert ana is not None and ana.name == "Ana"
        sent = [a_submission(one) for one in claim(store, ana.id, 2)]
        assert sent and set(statuses(submit(store, ana.id, sent))) == {"saved"}
        assert add_person(store, "Eve").id > max(row[0] for row in before["annotators"])
        assert verify(store.database).findings == ()


@pytest.mark.landing
def test_backup_amid_judging_holds_all_acknowledged_answers_once(
    workspace, tmp_path, another_database
) -> None:
    with AnnotationStore.open(workspace) as store:
        enqueue(store, some_items(300), required=2)
        ana, ben = add_people(store, "Ana", "Ben")
    with sender(workspace.root, ana) as one, sender(workspace.root, ben) as other:
        acknowledged = one.acknowledged()
        backup.create_backup(workspace, tmp_path / "copy")
        one.kill()
        other.kill()
    outbox = one.outbox()
    another_database(is_on_server())
    backup.restore_backup(tmp_path / "copy", tmp_path / "restored")
    with AnnotationStore.open(Workspace.open(tmp_path / "restored")) as store:
        kept = {
            judgement.uuid for judgement in ask(store, progress.load_recent_judgements, ana, 999)
        }
        assert len(acknowledged) >= 9
        assert acknowledged <= kept <= {sent["uuid"] for sent in outbox}
        again = {ack.uuid: ack.status for ack in submit(store, ana, outbox)}
        assert {again[uuid] for uuid in kept} == {"duplicate"}
        later = [again[uuid] for uuid in set(again) - kept]  # refused: not yet given out by then
        assert {*later} <= {"saved", "rejected"}
        assert len(ask(store, progress.load_recent_judgements, ana, 999)) == len(
            kept
        ) + later.count("saved")
        assert len(ask(store, submissions.list_rejected)) == later.count("rejected")
        assert verify(store.database).findings == ()


@pytest.fixture
def small(sqlite_workspace: Workspace) -> Workspace:
    """A workspace with a file of several kinds, and a database with one person."""
    with AnnotationStore.open(sqlite_workspace) as store:
        add_person(store, "Ana")
    for name in KINDS:
        sqlite_workspace.path(name).parent.mkdir(parents=True, exist_ok=True)
        sqlite_workspace.path(name).write_text(name)
    sqlite_workspace.path("secrets.toml").chmod(0o600)
    return sqlite_workspace


KEPT = (
    *("workspace.toml", "secrets.toml", ".annotate-key", "notes.txt", "tags/a.json"),
    *("reports/a-1/report.json", "reports/a-1/tables/b.csv", "labels/a-1.parquet"),
    *("labels/set/plan/0.parquet", "drafts/a/draft.json", "drafts/a/id/candidates/b.parquet"),
    *("suites/a/1/suite.json", "scores/a.parquet", "continuations/plan/0.parquet"),
    *("trajectories/a.parquet", "agents/a/weights.npz", "mine/own/file"),
)
LEFT = (
    *("continuations/index.parquet", "frames/a.webp", "reports/live/a-1/report.json"),
    *("trajectories/a.sound", "labels/.a.parquet.x.part", "suites/a/.2.part/suite.json"),
    *(".hidden", ".git/config", "reports/.a-1.x.old/report.json"),
)
KINDS = [name for name in (*KEPT, *LEFT) if name != "workspace.toml"]


def test_backup_holds_all_but_what_is_rebuilt(small, tmp_path) -> None:
    small.path(MOVED_FILE).touch()
    assert {*backup.create_backup(small, tmp_path / "copy").files} == {*KEPT, DATABASE_FILE}
    backup.restore_backup(tmp_path / "copy", tmp_path / "restored")
    modes = [(tmp_path / "restored" / name).stat().st_mode & 0o777 for name in KEPT[:2]]
    assert modes == [0o644, 0o600]
    for name in KEPT:
        assert (tmp_path / "restored" / name).read_bytes() == small.path(name).read_bytes()
    assert not [name for name in (*LEFT, MOVED_FILE) if (tmp_path / "restored" / name).exists()]


def test_secret_files_have_the_names_that_the_annotator_uses() -> None:
    from sts.commands import workspace as command
    from sts_annotator_app.auth.browser_sessions import KEY_FILE
    from sts_annotator_app.auth.openid import FILE as SECRETS

    assert backup.KEY_FILE == KEY_FILE
    assert {KEY_FILE, SECRETS, DATABASE_FILE, DUMP_FILE} == {*command.SECRETS}


def test_file_is_copied_before_the_files_that_it_names(small, tmp_path) -> None:
    copied = []
    for name, _ in backup._iter_sources(small, tmp_path):
        copied.append(name)
        for later in AFTER.get(name, ()):
            small.path(later).parent.mkdir(parents=True, exist_ok=True)
            small.path(later).write_text(later)
    assert copied[0] == DATABASE_FILE
    for name, added in AFTER.items():
        assert all(copied.index(name) < copied.index(one) for one in added)


AFTER = {
    DATABASE_FILE: (
        "drafts/a/id/edited/e.parquet",
        "suites/b/1/suite.json",
        "continuations/p/9.parquet",
    ),
    "drafts/a/draft.json": ("drafts/a/id/candidates/new.parquet",),
    "labels/a-1.parquet": ("labels/set/plan/1.parquet",),
    "labels/set/plan/0.parquet": ("continuations/plan/1.parquet",),
    "tags/a.json": ("suites/a/2/suite.json",),
}


def test_report_that_is_replaced_meanwhile_is_copied_whole(small, tmp_path) -> None:
    folder, over = small.path("reports/a-1"), threading.Event()

    def replace() -> None:
        number = 0
        while not over.is_set():
            number += 1
            own = {name: str(number).encode() for name in ("report.json", "tables/b.csv")}
            replace_folder(folder, own, own)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        for number in range(5):
            backup.create_backup(small, tmp_path / f"copy{number}")
    finally:
        over.set()
        writer.join()
    for number in range(5):
        hashes = manifest(tmp_path / f"copy{number}")["files"]
        assert hashes["reports/a-1/report.json"] == hashes["reports/a-1/tables/b.csv"]


def manifest(file: Path) -> dict[str, Any]:
    with zipfile.ZipFile(file) as opened:
        own: dict[str, Any] = json.loads(opened.read(archive.MANIFEST))
        return own


def kill_at_writes(do: Callable[[Path], object], target: Path, stride: int = 1) -> list[Path]:
    """Kill what makes a file or folder at each `stride`th of its writes; return what was made."""
    target.mkdir()
    *killed, (last, _) = kill_at_each_write(lambda name: do(target / name), stride=stride)
    made = [path for path in target.iterdir() if not path.name.startswith(".")]
    assert len(killed) > 1 and target / last in made and target / "1" not in made
    return made


@pytest.mark.parametrize(
    ("what", "stride"),
    [
        ("take", 1),
        pytest.param("restore", 4, marks=pytest.mark.landing),
        pytest.param("restore", 1, marks=pytest.mark.slow),
    ],
)
def test_killed_backup_or_restore_is_whole_or_absent(small, tmp_path, what, stride) -> None:
    held = backup.create_backup(small, tmp_path / "copy").files
    to = tmp_path / "to"

    def do(path: Path) -> object:
        if what == "take":
            return backup.create_backup(small, path)
        return backup.restore_backup(tmp_path / "copy", path)

    for path in kill_at_writes(do, to, stride):
        if what == "take":
            assert manifest(path)["files"].keys() == held.keys()
        else:
            assert all((path / name).exists() for name in held)
    do(to / "1")  # a new try removes what the killed one left
    assert not (to / ".1.part").exists()


@pytest.mark.landing
@only_postgresql
def test_killed_backup_or_restore_on_postgresql_is_whole_or_absent(
    started, tmp_path, another_database
) -> None:
    started.path("notes.txt").write_text("notes")
    made = kill_at_writes(lambda path: backup.create_backup(started, path), tmp_path / "to")
    assert all(DUMP_FILE in manifest(path)["files"] for path in made)
    tries = kill_at_each_write(
        lambda name: backup.restore_backup(made[-1], tmp_path / name),
        prepare=lambda name: another_database(True),
    )
    for name, _ in tries:
        if (tmp_path / name).exists():
            assert names(tmp_path / name) == ["Ana"]
    assert int(name) > 3 and (tmp_path / name).exists()


@pytest.mark.postgresql
@pytest.mark.parametrize("workspace", ["sqlite", POSTGRESQL], indirect=True)
@pytest.mark.parametrize("stride", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_move_that_is_killed_at_any_write_leaves_the_study_where_it_was(
    started, monkeypatch, postgresql, stride
) -> None:
    on_server = is_on_server()
    to = "sqlite" if on_server else postgresql()
    tries = kill_at_each_write(
        lambda name: move_database(started, to),
        prepare=lambda name: None if on_server else postgresql(),
        arm=lambda last: watch(started.root, failing(last, "killed")),
        stride=stride,
    )
    for name, was_killed in tries:  # noqa: B007
        if was_killed:
            assert names(started) == ["Ana"]
            if on_server:
                started.path(DATABASE_FILE).unlink(missing_ok=True)
    assert int(name) > 1
    if on_server:
        monkeypatch.delenv("STS_DATABASE_URL")
    else:
        monkeypatch.setenv("STS_DATABASE_URL", to)
    assert names(started) == ["Ana"]


def test_impossible_backup_or_restore_is_refused_and_changes_nothing(small, tmp_path, monkeypatch):
    copy, full, empty = (tmp_path / name for name in ("copy", "full", "empty"))
    with files.open_part_folder(copy), pytest.raises(Unavailable, match="another program"):
        backup.create_backup(small, copy)
    backup.create_backup(small, copy)
    raw = copy.read_bytes()
    (full / "inside").mkdir(parents=True)
    empty.mkdir()
    monkeypatch.chdir(empty)
    calls: tuple[tuple[Callable[..., object], object, Path, type[Exception], str], ...] = (
        (backup.create_backup, small, copy, Unavailable, "already exists; choose a new file"),
        (backup.restore_backup, copy, full, Unavailable, "is not empty"),
        (backup.restore_backup, copy, copy, Unavailable, "is not empty"),
        (backup.create_backup, small, small.path("copy"), ArgumentError, "inside the workspace"),
        (
            backup.create_backup,
            Workspace.open(tmp_path / "none"),
            full,
            StsError,
            "no workspace at",
        ),
        (backup.restore_backup, copy, empty, ArgumentError, "contains the current folder"),
    )
    for call, first, second, error, words in calls:
        with pytest.raises(error, match=words):
            call(first, second)
    monkeypatch.chdir(tmp_path)
    backup.restore_backup(copy, empty)
    assert copy.read_bytes() == raw
    assert {path.name for path in tmp_path.iterdir()} == {"copy", "empty", "full", "workspace"}


STRANGE = {
    "CREATE VIEW v AS SELECT 1": "found views or triggers",
    "DROP TABLE sts_schema; CREATE VIEW sts_schema AS SELECT 1 AS version": "views or triggers",
    "CREATE TRIGGER t AFTER INSERT ON roles BEGIN DELETE FROM claims; END": "views or triggers",
    "INSERT INTO sts_schema VALUES (99, 0)": "has schema 99",
    f"UPDATE sts_workspace SET id = '{'5ca1ab1e' * 4}'": "belongs to the workspace with the id",
}


def test_backup_with_a_strange_database_is_refused_and_leaves_nothing(small, tmp_path) -> None:
    def check_refused(why: str, *sources: tuple[str, Path], error: type = StsError) -> None:
        (tmp_path / "copy").unlink(missing_ok=True)
        archive.write_archive(tmp_path / "copy", small.identity(), sources)
        with pytest.raises(error, match=why):
            backup.restore_backup(tmp_path / "copy", tmp_path / "restored")

    database, settings = tmp_path / "database", ("workspace.toml", small.path("workspace.toml"))
    for statements, why in STRANGE.items():
        shutil.copyfile(small.path(DATABASE_FILE), database)
        with closing(sqlite3.connect(database)) as opened:
            opened.executescript(statements)
        check_refused(why, (DATABASE_FILE, database), settings)
    (tmp_path / "text").write_text("no database")
    text = (DATABASE_FILE, tmp_path / "text")
    check_refused("expected an annotation database", text, settings, error=DamagedData)
    check_refused("expected the workspace", ("a", tmp_path / "text"), error=DamagedData)
    assert not [path for path in tmp_path.iterdir() if "restored" in path.name]


@pytest.mark.postgresql
def test_backup_is_restored_only_to_an_empty_database_of_its_kind(
    started, tmp_path, another_database
) -> None:
    on_server, another, restored = is_on_server(), tmp_path / "another", tmp_path / "restored"
    backup.create_backup(started, tmp_path / "copy")
    another_database(True)
    with AnnotationStore.open(Workspace.open(another)) as store:
        add_person(store, "Zoe")
    url = os.environ["STS_DATABASE_URL"]
    if on_server:
        with pytest.raises(StoreError, match="expected an empty database"):
            backup.restore_backup(tmp_path / "copy", restored)
    else:
        del os.environ["STS_DATABASE_URL"]
        with pytest.raises(StoreError, match="expected an empty database"):
            move_database(started, url)
        os.environ["STS_DATABASE_URL"] = url
    assert names(another) == ["Zoe"]
    another_database(not on_server)
    kind = "PostgreSQL; set it" if on_server else "SQLite; unset it"
    with pytest.raises(StoreError, match=f"the backup holds a study on {kind}"):
        backup.restore_backup(tmp_path / "copy", restored)
    assert not restored.exists()


@pytest.mark.postgresql
def test_rows_that_do_not_fit_leave_the_other_database_empty(
    small, tmp_path, monkeypatch, postgresql
) -> None:
    with closing(sqlite3.connect(small.path(DATABASE_FILE))) as plain:
        plain.execute("PRAGMA foreign_keys = OFF")
        plain.execute("INSERT INTO roles VALUES (99, 'lead', 0)")
        plain.commit()
    url = postgresql()
    with pytest.raises(DamagedData, match="expected rows of a study"):
        move_database(small, url)
    alter(small, "DELETE FROM roles WHERE annotator = 99")
    alter(small, "UPDATE annotators SET name = 'Eve'")
    with pytest.raises(DamagedData, match="pseudonym was altered; nothing was moved"):
        move_database(small, url)
    assert small.path(DATABASE_FILE).exists() and not small.path(MOVED_FILE).exists()
    monkeypatch.setenv("STS_DATABASE_URL", url)
    assert names(tmp_path / "another") == []


@pytest.mark.postgresql
def test_database_that_a_program_uses_is_not_moved(started, postgresql) -> None:
    to = "sqlite" if is_on_server() else postgresql()
    with AnnotationStore.open(started) as store:
        with pytest.raises(StoreError, match="is in use; stop the programs"):
            move_database(started, to)
        assert [one.name for one in ask(store, people.list_people)] == ["Ana"]
    move_database(started, to)


def test_impossible_move_is_refused(small, tmp_path, sts) -> None:
    server = "postgresql://sts@127.0.0.1:9/sts"
    for workspace, to, words in (
        (small, "sqlite", "--to: expected another database than"),
        (small, "mysql://sts@db/sts", "expected --to like postgresql://"),
        (small, server, "check that it exists and is reachable"),
        (Workspace.open(tmp_path / "none").create(), server, "no study has started in"),
    ):
        with pytest.raises(StsError, match=words):
            move_database(workspace, to)
    small.path(MOVED_FILE).touch()
    with pytest.raises(Unavailable, match="move it away first"):
        move_database(small, server)
    sts(small, "workspace move --to sqlite", 2)


OLDER = """#!/bin/sh
echo "pg_dump: error: aborting because of server version mismatch" >&2
echo "pg_dump: detail: server version: 17.1; pg_dump version: 12.4" >&2
exit 1
"""


@only_postgresql
def test_missing_or_older_pg_dump_stops_a_backup_with_a_hint(started, tmp_path, monkeypatch):
    program = tmp_path / "bin" / "pg_dump"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", str(program.parent))
    with pytest.raises(StoreError, match="pg_dump cannot be run .* install PostgreSQL's client"):
        backup.create_backup(started, tmp_path / "copy")
    program.write_text(OLDER)
    program.chmod(0o755)
    with pytest.raises(StoreError, match="it is older than the server; install pg_dump") as error:
        backup.create_backup(started, tmp_path / "copy")
    assert "server version: 17.1" in str(error.value) and "\n" not in str(error.value)
    assert {path.name for path in tmp_path.iterdir()} == {"bin", "workspace"}


@only_postgresql
def test_dump_of_something_else_leaves_the_database_empty(workspace, tmp_path, another_database):
    with AnnotationStore.open(workspace) as store, store.database.write() as connection:
        connection.execute(schema.workspaces.update().values(id="5ca1ab1e" * 4))
    settings = workspace.path("workspace.toml")
    own, settings_text = workspace.identity(), settings.read_text()
    settings.write_text(settings_text.replace(own, "5ca1ab1e" * 4))
    backup.create_backup(Workspace.open(workspace.root), tmp_path / "copy")
    settings.write_text(settings_text)
    for name, raw, why in (
        ("other", None, "belongs to the workspace with the id"),
        ("text", b"no dump", "pg_restore failed"),
    ):
        another_database(True)
        with zipfile.ZipFile(tmp_path / "copy") as opened:
            (tmp_path / "dump").write_bytes(raw or opened.read(DUMP_FILE))
        sources = [(DUMP_FILE, tmp_path / "dump"), ("workspace.toml", settings)]
        archive.write_archive(tmp_path / name, own, sources)
        with pytest.raises(StoreError, match=why):
            backup.restore_backup(tmp_path / name, tmp_path / "restored")
        assert names(tmp_path / f"another {name}") == []
    assert not [path for path in tmp_path.iterdir() if "restored" in path.name]


def test_backup_and_restore_commands_print_what_they_did(small, tmp_path, sts) -> None:
    copy, restored = tmp_path / "copy", Workspace(tmp_path / "restored", {})
    out = sts(small, f"workspace backup {copy}")
    assert "18 files, " in out and small.identity() in out
    assert "keep it as you keep .annotate-key, secrets.toml, annotations.sqlite3" in out
    words = f"workspace restore {copy}"
    assert json.loads(sts(restored, f"{words} --json"))["files"] == 18
    assert "is not empty; restore into" in sts(restored, words, 1)
    third = Workspace(tmp_path / "third", {})
    said = sts(third, f"workspace restore {small.root}", 1)
    assert "expected a file, found a folder" in said
