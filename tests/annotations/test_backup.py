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
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from sts.annotations import backup, schema
from sts.annotations.store import FILE, Store
from sts.cli.main import main
from sts.errors import ArgumentError, DamagedData, StoreError, StsError, Unavailable
from sts.storage import archive, files
from sts.storage.folders import replace_folder
from sts.storage.workspace import Workspace
from tests.annotations.examples import (
    SELDOM_ON_POSTGRESQL,
    SUITE,
    a_submission,
    some_items,
    statuses,
)
from tests.annotations.test_processes import SENDER
from tests.annotations.test_verification import a_study


def rows(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    with store.database.read() as connection:
        return {
            name: sorted(map(tuple, connection.execute(select(table))), key=repr)
            for name, table in schema.metadata.tables.items()
        }


POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.postgresql)


@pytest.mark.parametrize("to", ["sqlite", POSTGRESQL])
def test_a_study_goes_from_any_database_to_any_and_goes_on(
    to: str,
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    a_study(workspace)
    with Store.open(workspace) as store:
        ana = store.person("Ana").id
        secret = store.enter(str(store.invite("Ana").token))
        before = rows(store)
    told = backup.take(workspace, tmp_path / "copy")
    assert FILE in told.files
    monkeypatch.delenv("STS_DATABASE_URL", raising=False)
    if to == "postgresql":
        monkeypatch.setenv("STS_DATABASE_URL", request.getfixturevalue("postgresql")())
    restored = Workspace(tmp_path / "restored", workspace.settings)
    backup.restore(tmp_path / "copy", restored.root)
    assert restored.path(FILE).exists() == (to == "sqlite")
    with Store.open(restored) as store:
        after = rows(store)
        applied = before.pop("sts_schema"), after.pop("sts_schema")
        assert after == before and len(applied[0]) == len(applied[1])
        found = store.verify()
        assert found.findings == () and found.events
        entered = store.annotator_by_session(secret)
        assert entered is not None and entered.id == ana
        held = [claim.item for claim in store.claim(ana, suite=SUITE, count=2)]
        sent = [a_submission(item) for item in held]
        assert sent and set(statuses(store.submit(ana, sent))) == {"saved"}
        assert store.add_annotator("Eve").id > max(row[0] for row in before["annotators"])
        assert store.verify().findings == ()


@SELDOM_ON_POSTGRESQL
def test_a_backup_amid_judging_holds_what_was_acknowledged_before_and_doubles_nothing(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(workspace) as store:
        store.enqueue(some_items(300), required=2)
        ana, ben = (store.add_annotator(name).id for name in ("Ana", "Ben"))
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
    monkeypatch.delenv("STS_DATABASE_URL", raising=False)
    backup.restore(tmp_path / "copy", tmp_path / "restored")
    with Store.open(Workspace.open(tmp_path / "restored")) as store:
        kept = {judgement.uuid for judgement in store.history(ana, 999)}
        assert len(acknowledged) >= 9
        assert acknowledged <= kept <= {sent["uuid"] for sent in outbox}
        again = {ack.uuid: ack.status for ack in store.submit(ana, outbox)}
        assert {again[uuid] for uuid in kept} == {"duplicate"}
        later = [again[uuid] for uuid in set(again) - kept]  # refused: not yet given out by then
        assert {*later} <= {"saved", "refused"}
        assert len(store.history(ana, 999)) == len(kept) + later.count("saved")
        assert len(store.refused()) == later.count("refused")
        assert store.verify().findings == ()


def whole(line: str) -> Any:
    return json.loads(line) if line.endswith("\n") else None


@pytest.fixture
def small(sqlite_workspace: Workspace) -> Workspace:
    """A workspace with a file of several kinds, and a database with one person."""
    with Store.open(sqlite_workspace) as store:
        store.add_annotator("Ana")
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
    told = backup.take(small, tmp_path / "copy")
    assert {*told.files} == {*KEPT, FILE}
    assert told.files["secrets.toml"].private and not told.files["workspace.toml"].private
    backup.restore(tmp_path / "copy", tmp_path / "restored")
    for name in KEPT:
        assert (tmp_path / "restored" / name).read_bytes() == small.path(name).read_bytes()
    assert not [name for name in LEFT if (tmp_path / "restored" / name).exists()]


def test_the_annotators_key_is_called_as_the_annotator_calls_it() -> None:
    from annotator_app.people import KEY_FILE
    from annotator_app.sign_in import FILE as SECRETS
    from sts.commands import workspace as command

    assert backup.KEY == KEY_FILE and {KEY_FILE, SECRETS, FILE} == {*command.SECRETS}


def test_what_names_others_is_copied_before_them_and_they_are_looked_for_after(
    small: Workspace, tmp_path: Path
) -> None:
    names = []
    for name, _ in backup._sources(small, tmp_path):
        names.append(name)
        for later in AFTER.get(name, ()):
            small.path(later).parent.mkdir(parents=True, exist_ok=True)
            small.path(later).write_text(later)
    assert names[0] == FILE
    for name, added in AFTER.items():
        assert all(names.index(name) < names.index(one) for one in added)


AFTER = {
    FILE: ("drafts/a/id/edited/e.parquet", "suites/b/1/suite.json", "continuations/p/9.parquet"),
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
        told = archive.manifest(tmp_path / f"copy{number}").files
        assert told["reports/a-1/report.json"] == told["reports/a-1/tables/b.csv"]


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
    assert len({archive.manifest(tmp_path / "to" / name).workspace for name in made}) == 1
    backup.take(small, tmp_path / "to" / "1")  # takes away what the killed one left
    assert not (tmp_path / "to" / ".1.part").exists()


@pytest.mark.slow
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
    with pytest.raises(Unavailable, match="exists and stays as it is"):
        backup.take(small, copy)
    with pytest.raises(Unavailable, match="holds something"):
        backup.restore(copy, full)
    with pytest.raises(Unavailable, match="holds something"):
        backup.restore(copy, copy)
    with pytest.raises(ArgumentError, match="inside the workspace"):
        backup.take(small, small.path("copy"))
    with pytest.raises(StsError, match="no workspace at"):
        backup.take(Workspace.open(tmp_path / "none"), tmp_path / "other")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(ArgumentError, match="is the current folder"):
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
    database = small.path(FILE)
    for number, (line, why) in enumerate(STRANGE.items()):
        plain = tmp_path / f"database{number}"
        shutil.copyfile(database, plain)
        with closing(sqlite3.connect(plain)) as opened:
            opened.executescript(line)
        sources = [(FILE, plain), ("workspace.toml", small.path("workspace.toml"))]
        archive.write(tmp_path / f"copy{number}", small.identity(), sources)
        with pytest.raises(StsError, match=why):
            backup.restore(tmp_path / f"copy{number}", tmp_path / "restored")
    (tmp_path / "text").write_text("no database")
    sources = [(FILE, tmp_path / "text"), ("workspace.toml", small.path("workspace.toml"))]
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
    f"UPDATE sts_workspace SET id = '{'5ca1ab1e' * 4}'": "is of the workspace with the id",
}


@pytest.mark.postgresql
def test_a_database_that_is_in_use_is_not_restored_to(
    small: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    postgresql: Callable[[], str],
) -> None:
    backup.take(small, tmp_path / "copy")
    monkeypatch.setenv("STS_DATABASE_URL", postgresql())
    with Store.open(Workspace.open(tmp_path / "another")) as store:
        store.add_annotator("Zoe")
    for _ in range(2):
        with pytest.raises(StoreError, match="expected an empty database"):
            backup.restore(tmp_path / "copy", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()
    with Store.open(Workspace.open(tmp_path / "another")) as store:
        assert [one.name for one in store.annotators()] == ["Zoe"]


@pytest.mark.postgresql
def test_rows_that_do_not_fit_leave_the_other_database_empty(
    small: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    postgresql: Callable[[], str],
) -> None:
    with closing(sqlite3.connect(small.path(FILE))) as plain:
        plain.execute("PRAGMA foreign_keys = OFF")
        plain.execute("INSERT INTO roles VALUES (99, 'lead', 0)")
        plain.commit()
    backup.take(small, tmp_path / "copy")
    monkeypatch.setenv("STS_DATABASE_URL", postgresql())
    with pytest.raises(DamagedData, match="expected rows of a study"):
        backup.restore(tmp_path / "copy", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()
    with Store.open(Workspace.open(tmp_path / "another")) as store:  # it is as it was made
        assert store.annotators() == []


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
    assert "holds something, which stays" in capsys.readouterr().err
    assert main(["workspace", "restore", root, "--workspace", str(tmp_path / "third")]) == 1
    assert "expected a file, found a folder" in capsys.readouterr().err
