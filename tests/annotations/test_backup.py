"""A backup that is taken while people judge is whole, on both databases, and goes on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from sts.annotations import backup, people, schema, sessions, submissions, views
from sts.annotations.history import verify
from sts.annotations.move import AWAY, move
from sts.annotations.snapshot import DUMP_FILE
from sts.annotations.store import DATABASE_FILE, Store
from sts.cli.main import main
from sts.errors import ArgumentError, DamagedData, StoreError, StsError, Unavailable
from sts.storage import archive, files
from sts.storage.folders import replace_folder
from sts.storage.workspace import Workspace
from tests.annotations.examples import (
    SUITE,
    a_submission,
    some_items,
    statuses,
)
from tests.annotations.test_processes import SENDER
from tests.annotations.test_verification import a_study, altered
from tests.stores import add_person, ask, change, claim_items, enqueue, submit


def rows(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    with store.database.read() as connection:
        return {
            name: sorted(map(tuple, connection.execute(select(table))), key=repr)
            for name, table in schema.metadata.tables.items()
        }


POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.postgresql)


def test_restored_study_has_every_row_and_goes_on(
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    before, secret = begun(workspace)
    on_server = "STS_DATABASE_URL" in os.environ
    made = backup.take(workspace, tmp_path / "copy")
    assert (DUMP_FILE in made.files, DATABASE_FILE in made.files) == (on_server, not on_server)
    if on_server:
        monkeypatch.setenv("STS_DATABASE_URL", request.getfixturevalue("postgresql")())
    restored = Workspace(tmp_path / "restored", workspace.settings)
    backup.restore(tmp_path / "copy", restored.root)
    assert (
        restored.path(DATABASE_FILE).exists() != on_server and not restored.path(DUMP_FILE).exists()
    )
    goes_on(restored, before, secret)


@pytest.mark.postgresql
@pytest.mark.parametrize("workspace", ["sqlite", POSTGRESQL], indirect=True)
def test_moved_study_has_every_row_and_goes_on(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    before, secret = begun(workspace)
    before.pop("sts_schema")
    if "STS_DATABASE_URL" in os.environ:
        moved = move(workspace, "sqlite")
        monkeypatch.delenv("STS_DATABASE_URL")
    else:
        url = request.getfixturevalue("postgresql")()
        moved = move(workspace, url)
        assert workspace.path(AWAY).exists() and not workspace.path(DATABASE_FILE).exists()
        with pytest.raises(StoreError, match="a study started in this workspace"):
            Store.open(workspace)
        monkeypatch.setenv("STS_DATABASE_URL", url)
    assert moved.events == 30
    goes_on(workspace, before, secret)


def begun(workspace: Workspace) -> tuple[dict[str, list[tuple[Any, ...]]], str]:
    """Make a study; return its rows and the secret of Ana's session."""
    a_study(workspace)
    with Store.open(workspace) as store:
        secret = change(store, sessions.enter, str(change(store, people.invite, "Ana").token))
        assert secret is not None
        return rows(store), secret


def goes_on(workspace: Workspace, before: dict[str, list[tuple[Any, ...]]], secret: str) -> None:
    """A study has the rows that it had, and people judge on."""
    with Store.open(workspace) as store:
        after = rows(store)
        assert {name: after[name] for name in before} == before
        assert len(after["sts_schema"]) == 1
        found = verify(store.database)
        assert found.findings == () and found.events
        ana = people.find_by_session(store, secret)
        assert ana is not None and ana.name == "Ana"
        held = [claim.item for claim in claim_items(store, ana.id, suite=SUITE, count=2)]
        sent = [a_submission(item) for item in held]
        assert sent and set(statuses(submit(store, ana.id, sent))) == {"saved"}
        assert add_person(store, "Eve").id > max(row[0] for row in before["annotators"])
        assert verify(store.database).findings == ()


def test_a_backup_amid_judging_holds_what_was_acknowledged_before_and_doubles_nothing(
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    with Store.open(workspace) as store:
        enqueue(store, some_items(300), required=2)
        ana, ben = (add_person(store, name).id for name in ("Ana", "Ben"))
    command = [sys.executable, "-c", SENDER, str(workspace.root.absolute())]
    said: list[str] = []
    with (
        subprocess.Popen([*command, str(ana)], stdout=subprocess.PIPE, text=True) as one,
        subprocess.Popen([*command, str(ben)], stdout=subprocess.DEVNULL) as other,
    ):
        assert one.stdout is not None
        said += [one.stdout.readline() for _ in range(20)]
        acknowledged = {ack[0] for ack in map(json.loads, said) if isinstance(ack, list)}
        backup.take(workspace, tmp_path / "copy")
        for process in (one, other):
            os.kill(process.pid, signal.SIGKILL)
        said += one.stdout.readlines()
    outbox = [sent for sent in map(whole, said) if isinstance(sent, dict)]
    if "STS_DATABASE_URL" in os.environ:
        monkeypatch.setenv("STS_DATABASE_URL", request.getfixturevalue("postgresql")())
    backup.restore(tmp_path / "copy", tmp_path / "restored")
    with Store.open(Workspace.open(tmp_path / "restored")) as store:
        kept = {judgement.uuid for judgement in ask(store, views.history, ana, 999)}
        assert len(acknowledged) >= 9
        assert acknowledged <= kept <= {sent["uuid"] for sent in outbox}
        again = {ack.uuid: ack.status for ack in submit(store, ana, outbox)}
        assert {again[uuid] for uuid in kept} == {"duplicate"}
        later = [again[uuid] for uuid in set(again) - kept]  # refused: not yet given out by then
        assert {*later} <= {"saved", "refused"}
        assert len(ask(store, views.history, ana, 999)) == len(kept) + later.count("saved")
        assert len(ask(store, submissions.refused_answers)) == later.count("refused")
        assert verify(store.database).findings == ()


def whole(line: str) -> Any:
    return json.loads(line) if line.endswith("\n") else None


@pytest.fixture
def small(sqlite_workspace: Workspace) -> Workspace:
    """A workspace with a file of several kinds, and a database with one person."""
    with Store.open(sqlite_workspace) as store:
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


def test_a_backup_holds_all_that_was_made_and_nothing_that_is_made_again(
    small: Workspace, tmp_path: Path
) -> None:
    small.path(AWAY).touch()
    assert {*backup.take(small, tmp_path / "copy").files} == {*KEPT, DATABASE_FILE}
    backup.restore(tmp_path / "copy", tmp_path / "restored")
    modes = [(tmp_path / "restored" / name).stat().st_mode & 0o777 for name in KEPT[:2]]
    assert modes == [0o644, 0o600]
    for name in KEPT:
        assert (tmp_path / "restored" / name).read_bytes() == small.path(name).read_bytes()
    assert not [name for name in (*LEFT, AWAY) if (tmp_path / "restored" / name).exists()]


def test_the_annotators_key_is_called_as_the_annotator_calls_it() -> None:
    from sts.commands import workspace as command
    from sts_annotator_app.people import KEY_FILE
    from sts_annotator_app.sign_in import FILE as SECRETS

    assert backup.KEY_FILE == KEY_FILE and {KEY_FILE, SECRETS, DATABASE_FILE, DUMP_FILE} == {
        *command.SECRETS
    }


def test_what_names_others_is_copied_before_them_and_they_are_looked_for_after(
    small: Workspace, tmp_path: Path
) -> None:
    names = []
    for name, _ in backup._iter_sources(small, tmp_path):
        names.append(name)
        for later in AFTER.get(name, ()):
            small.path(later).parent.mkdir(parents=True, exist_ok=True)
            small.path(later).write_text(later)
    assert names[0] == DATABASE_FILE
    for name, added in AFTER.items():
        assert all(names.index(name) < names.index(one) for one in added)


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


def test_a_report_that_is_replaced_meanwhile_is_copied_whole(
    small: Workspace, tmp_path: Path
) -> None:
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
            backup.take(small, tmp_path / f"copy{number}")
    finally:
        over.set()
        writer.join()
    for number in range(5):
        told = manifest(tmp_path / f"copy{number}")["files"]
        assert told["reports/a-1/report.json"] == told["reports/a-1/tables/b.csv"]


def manifest(file: Path) -> dict[str, Any]:
    """What a backup says of itself."""
    with zipfile.ZipFile(file) as opened:
        own: dict[str, Any] = json.loads(opened.read(archive.MANIFEST))
        return own


DYING = """
import os, sys
from pathlib import Path
from sts.annotations import backup
from sts.storage.workspace import Workspace
from tests.faults.writes import dying

what, source, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
for last in range(1, 99):
    if not (child := os.fork()):
        dying(last)
        if what == "take":
            backup.take(Workspace.open(source), target / str(last))
        else:
            backup.restore(source, target / str(last))
        os._exit(0)
    if not os.waitpid(child, 0)[1]:
        print(last)
        break
"""


def killed_at_every_write(what: str, source: Path, target: Path) -> int:
    """Kills a command at its first write, its second and so on; returns at which it was not."""
    target.mkdir()
    command = [sys.executable, "-c", DYING, what, str(source), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return int(done.stdout)


def test_a_backup_that_is_killed_at_any_write_is_none_or_whole(
    small: Workspace, tmp_path: Path
) -> None:
    last = killed_at_every_write("take", small.root, tmp_path / "to")
    made = {path.name for path in (tmp_path / "to").iterdir() if not path.name.startswith(".")}
    assert last > 2 and str(last) in made and "1" not in made
    assert len({manifest(tmp_path / "to" / name)["workspace"] for name in made}) == 1
    backup.take(small, tmp_path / "to" / "1")  # takes away what the killed one left
    assert not (tmp_path / "to" / ".1.part").exists()


@pytest.mark.landing
def test_a_restore_that_is_killed_at_any_write_leaves_no_workspace_or_all_of_it(
    small: Workspace, tmp_path: Path
) -> None:
    told = backup.take(small, tmp_path / "copy")
    last = killed_at_every_write("restore", tmp_path / "copy", tmp_path / "to")
    made = {path.name for path in (tmp_path / "to").iterdir() if not path.name.startswith(".")}
    assert last > len(told.files) and str(last) in made and "1" not in made
    for name in made:
        assert all((tmp_path / "to" / name / one).exists() for one in told.files)
    backup.restore(tmp_path / "copy", tmp_path / "to" / "1")
    assert not (tmp_path / "to" / ".1.part").exists()


KILLED = """
import sys
from pathlib import Path
from sts.annotations import backup
from tests.faults.writes import dying

dying(int(sys.argv[1]))
backup.restore(Path(sys.argv[2]), Path(sys.argv[3]))
"""


@pytest.mark.landing
@pytest.mark.postgresql
@pytest.mark.parametrize("workspace", [POSTGRESQL], indirect=True)
def test_killed_backup_or_restore_on_postgresql_is_whole_or_absent(
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    postgresql: Callable[[], str],
) -> None:
    with Store.open(workspace) as store:
        add_person(store, "Ana")
    workspace.path("notes.txt").write_text("notes")
    last = killed_at_every_write("take", workspace.root, tmp_path / "to")
    made = [path for path in (tmp_path / "to").iterdir() if not path.name.startswith(".")]
    assert last > 2 and all(DUMP_FILE in manifest(path)["files"] for path in made)
    for last in range(1, 99):
        monkeypatch.setenv("STS_DATABASE_URL", postgresql())
        restored = tmp_path / f"restored{last}"
        words = [sys.executable, "-c", KILLED, str(last), str(made[-1]), str(restored)]
        code = subprocess.run(words, timeout=60).returncode
        if restored.exists():
            with Store.open(Workspace.open(restored)) as store:
                assert [one.name for one in ask(store, people.everybody)] == ["Ana"]
        if code == 0:
            break
        assert code == -signal.SIGKILL
    assert last > 3 and restored.exists()


MOVED = """
import sys
from sts.annotations.move import move
from sts.storage.workspace import Workspace
from tests.faults.writes import failing, watch
from pathlib import Path

watch(Path(sys.argv[2]), failing(int(sys.argv[1]), "killed"))
move(Workspace.open(sys.argv[2]), sys.argv[3])
"""


@pytest.mark.landing
@pytest.mark.postgresql
@pytest.mark.parametrize("workspace", ["sqlite", POSTGRESQL], indirect=True)
def test_move_that_is_killed_at_any_write_leaves_the_study_where_it_was(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, postgresql: Callable[[], str]
) -> None:
    on_server = "STS_DATABASE_URL" in os.environ
    with Store.open(workspace) as store:
        add_person(store, "Ana")
    for last in range(1, 99):
        to = "sqlite" if on_server else postgresql()
        words = [sys.executable, "-c", MOVED, str(last), str(workspace.root), to]
        code = subprocess.run(words, timeout=60).returncode
        if code == 0:
            break
        assert code == -signal.SIGKILL
        with Store.open(workspace) as store:
            assert [one.name for one in ask(store, people.everybody)] == ["Ana"]
        if on_server:
            workspace.path(DATABASE_FILE).unlink(missing_ok=True)
    assert last > 1
    if on_server:
        monkeypatch.delenv("STS_DATABASE_URL")
    else:
        monkeypatch.setenv("STS_DATABASE_URL", to)
    with Store.open(workspace) as store:
        assert [one.name for one in ask(store, people.everybody)] == ["Ana"]


def test_two_backups_to_one_file_at_once_do_not_mix(small: Workspace, tmp_path: Path) -> None:
    with files.beside(tmp_path / "copy"), pytest.raises(Unavailable, match="another program"):
        backup.take(small, tmp_path / "copy")
    backup.take(small, tmp_path / "copy")


def test_what_cannot_be_is_one_line_and_nothing_is_changed(
    small: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, full = tmp_path / "copy", tmp_path / "full"
    backup.take(small, copy)
    raw = copy.read_bytes()
    (full / "inside").mkdir(parents=True)
    with pytest.raises(Unavailable, match="already exists; choose a new file"):
        backup.take(small, copy)
    with pytest.raises(Unavailable, match="is not empty"):
        backup.restore(copy, full)
    with pytest.raises(Unavailable, match="is not empty"):
        backup.restore(copy, copy)
    with pytest.raises(ArgumentError, match="inside the workspace"):
        backup.take(small, small.path("copy"))
    with pytest.raises(StsError, match="no workspace at"):
        backup.take(Workspace.open(tmp_path / "none"), tmp_path / "other")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(ArgumentError, match="contains the current folder"):
        backup.restore(copy, tmp_path / "empty")
    monkeypatch.chdir(tmp_path)
    backup.restore(copy, tmp_path / "empty")
    assert copy.read_bytes() == raw
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("copy", "empty", "full", "workspace")
    ]


def test_a_backup_with_something_else_for_its_database_is_refused_and_nothing_is_left(
    small: Workspace, tmp_path: Path
) -> None:
    database = small.path(DATABASE_FILE)
    for number, (line, why) in enumerate(STRANGE.items()):
        plain = tmp_path / f"database{number}"
        shutil.copyfile(database, plain)
        with closing(sqlite3.connect(plain)) as opened:
            opened.executescript(line)
        sources = [(DATABASE_FILE, plain), ("workspace.toml", small.path("workspace.toml"))]
        archive.write(tmp_path / f"copy{number}", small.identity(), sources)
        with pytest.raises(StsError, match=why):
            backup.restore(tmp_path / f"copy{number}", tmp_path / "restored")
    (tmp_path / "text").write_text("no database")
    sources = [(DATABASE_FILE, tmp_path / "text"), ("workspace.toml", small.path("workspace.toml"))]
    archive.write(tmp_path / "copy", small.identity(), sources)
    with pytest.raises(DamagedData, match="expected an annotation database"):
        backup.restore(tmp_path / "copy", tmp_path / "restored")
    archive.write(tmp_path / "without", small.identity(), [("a", tmp_path / "text")])
    with pytest.raises(DamagedData, match="expected the workspace"):
        backup.restore(tmp_path / "without", tmp_path / "restored")
    assert not [path for path in tmp_path.iterdir() if "restored" in path.name]


STRANGE = {
    "CREATE VIEW v AS SELECT 1": "found views or triggers",
    "DROP TABLE sts_schema; CREATE VIEW sts_schema AS SELECT 1 AS version": "views or triggers",
    "CREATE TRIGGER t AFTER INSERT ON roles BEGIN DELETE FROM claims; END": "views or triggers",
    "INSERT INTO sts_schema VALUES (99, 0)": "has schema 99",
    f"UPDATE sts_workspace SET id = '{'5ca1ab1e' * 4}'": "belongs to the workspace with the id",
}


@pytest.mark.postgresql
def test_database_in_use_is_neither_restored_nor_moved_to(
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    postgresql: Callable[[], str],
) -> None:
    on_server = "STS_DATABASE_URL" in os.environ
    with Store.open(workspace) as store:
        add_person(store, "Ana")
    backup.take(workspace, tmp_path / "copy")
    url = postgresql()
    monkeypatch.setenv("STS_DATABASE_URL", url)
    with Store.open(Workspace.open(tmp_path / "another")) as store:
        add_person(store, "Zoe")
    if on_server:
        with pytest.raises(StoreError, match="expected an empty database"):
            backup.restore(tmp_path / "copy", tmp_path / "restored")
    else:
        monkeypatch.delenv("STS_DATABASE_URL")
        with pytest.raises(StoreError, match="expected an empty database"):
            move(workspace, url)
        monkeypatch.setenv("STS_DATABASE_URL", url)
    assert not (tmp_path / "restored").exists()
    with Store.open(Workspace.open(tmp_path / "another")) as store:
        assert [one.name for one in ask(store, people.everybody)] == ["Zoe"]


@pytest.mark.postgresql
def test_backup_is_not_restored_to_another_kind_of_database(
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    postgresql: Callable[[], str],
) -> None:
    on_server = "STS_DATABASE_URL" in os.environ
    with Store.open(workspace) as store:
        add_person(store, "Ana")
    backup.take(workspace, tmp_path / "copy")
    if on_server:
        monkeypatch.delenv("STS_DATABASE_URL")
    else:
        monkeypatch.setenv("STS_DATABASE_URL", postgresql())
    kind = "PostgreSQL; set it" if on_server else "SQLite; unset it"
    with pytest.raises(StoreError, match=f"the backup holds a study on {kind}"):
        backup.restore(tmp_path / "copy", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()


@pytest.mark.postgresql
def test_rows_that_do_not_fit_leave_the_other_database_empty(
    small: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    postgresql: Callable[[], str],
) -> None:
    with closing(sqlite3.connect(small.path(DATABASE_FILE))) as plain:
        plain.execute("PRAGMA foreign_keys = OFF")
        plain.execute("INSERT INTO roles VALUES (99, 'lead', 0)")
        plain.commit()
    url = postgresql()
    with pytest.raises(DamagedData, match="expected rows of a study"):
        move(small, url)
    altered(small, "DELETE FROM roles WHERE annotator = 99")
    altered(small, "UPDATE annotators SET name = 'Eve'")
    with pytest.raises(DamagedData, match="pseudonym was altered; nothing was moved"):
        move(small, url)
    assert small.path(DATABASE_FILE).exists() and not small.path(AWAY).exists()
    monkeypatch.setenv("STS_DATABASE_URL", url)
    with Store.open(Workspace.open(tmp_path / "another")) as store:  # it is as it was made
        assert ask(store, people.everybody) == []


@pytest.mark.postgresql
def test_database_that_a_program_uses_is_not_moved(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, postgresql: Callable[[], str]
) -> None:
    to = "sqlite"
    if "STS_DATABASE_URL" not in os.environ:
        to = postgresql()
    with Store.open(workspace) as store:
        add_person(store, "Ana")
        with pytest.raises(StoreError, match="is in use; stop the programs"):
            move(workspace, to)
        assert [one.name for one in ask(store, people.everybody)] == ["Ana"]
    move(workspace, to)


def test_move_refuses_what_it_cannot_do(
    small: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for to, words in (
        ("sqlite", "--to: expected another database than"),
        ("mysql://sts@db/sts", "expected --to like postgresql://"),
        ("postgresql://sts@127.0.0.1:9/sts", "check that it exists and is reachable"),
    ):
        with pytest.raises(StsError, match=words):
            move(small, to)
    with pytest.raises(StsError, match="no study has started in"):
        move(Workspace.open(tmp_path / "none").ensure(), "postgresql://sts@127.0.0.1:9/sts")
    small.path(AWAY).touch()
    with pytest.raises(Unavailable, match="move it away first"):
        move(small, "postgresql://sts@127.0.0.1:9/sts")
    assert main(["workspace", "move", "--to", "sqlite", "--workspace", str(small.root)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


OLDER = """#!/bin/sh
echo "pg_dump: error: aborting because of server version mismatch" >&2
echo "pg_dump: detail: server version: 17.1; pg_dump version: 12.4" >&2
exit 1
"""


@pytest.mark.postgresql
@pytest.mark.parametrize("workspace", [POSTGRESQL], indirect=True)
def test_missing_or_older_pg_dump_stops_a_backup_with_a_hint(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(workspace) as store:
        add_person(store, "Ana")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(StoreError, match="pg_dump cannot be run .* install PostgreSQL's client"):
        backup.take(workspace, tmp_path / "copy")
    (tmp_path / "bin" / "pg_dump").write_text(OLDER)
    (tmp_path / "bin" / "pg_dump").chmod(0o755)
    with pytest.raises(StoreError, match="it is older than the server; install pg_dump") as error:
        backup.take(workspace, tmp_path / "copy")
    assert "server version: 17.1" in str(error.value) and "\n" not in str(error.value)
    assert {path.name for path in tmp_path.iterdir()} == {"bin", "workspace"}


@pytest.mark.postgresql
@pytest.mark.parametrize("workspace", [POSTGRESQL], indirect=True)
def test_dump_of_something_else_leaves_the_database_empty(
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    postgresql: Callable[[], str],
) -> None:
    with Store.open(workspace) as store, store.database.write() as connection:
        connection.execute(schema.workspaces.update().values(id="5ca1ab1e" * 4))
    settings = workspace.path("workspace.toml")
    own, settings_text = workspace.identity(), settings.read_text()
    settings.write_text(settings_text.replace(own, "5ca1ab1e" * 4))
    backup.take(Workspace.open(workspace.root), tmp_path / "copy")
    settings.write_text(settings_text)
    for name, raw, why in (
        ("other", None, "belongs to the workspace with the id"),
        ("text", b"no dump", "pg_restore failed"),
    ):
        monkeypatch.setenv("STS_DATABASE_URL", postgresql())
        with zipfile.ZipFile(tmp_path / "copy") as opened:
            (tmp_path / "dump").write_bytes(raw or opened.read(DUMP_FILE))
        sources = [(DUMP_FILE, tmp_path / "dump"), ("workspace.toml", settings)]
        archive.write(tmp_path / name, own, sources)
        with pytest.raises(StoreError, match=why):
            backup.restore(tmp_path / name, tmp_path / "restored")
        with Store.open(Workspace.open(tmp_path / f"another {name}")) as store:
            assert ask(store, people.everybody) == []
    assert not [path for path in tmp_path.iterdir() if "restored" in path.name]


def test_the_commands_say_what_they_did(
    small: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy, restored = str(tmp_path / "copy"), str(tmp_path / "restored")
    root = str(small.root)
    assert main(["workspace", "backup", copy, "--workspace", root]) == 0
    out = capsys.readouterr().out
    assert "18 files, " in out and small.identity() in out
    assert "keep it as you keep .annotate-key, secrets.toml, annotations.sqlite3" in out
    assert main(["workspace", "restore", copy, "--workspace", restored, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == 18
    assert main(["workspace", "restore", copy, "--workspace", restored]) == 1
    assert "is not empty; restore into" in capsys.readouterr().err
    assert main(["workspace", "restore", root, "--workspace", str(tmp_path / "third")]) == 1
    assert "expected a file, found a folder" in capsys.readouterr().err
