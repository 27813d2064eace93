"""Verification: changed, lost or added rows are found, and exports and reports refuse them."""

import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from sts.annotations.answers import progress
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.presence import DATABASE_FILE, RECORD_FILE
from sts.annotations.findings.export import (
    _build_table,
    _iter_altered_clips,
    _raise_findings,
    export_ratings,
)
from sts.annotations.log.events import SUITE_KINDS, append_suite_event
from sts.annotations.people import people
from sts.annotations.people.exclusions import set_excluded
from sts.annotations.queue import references
from sts.annotations.queue.controls import set_pause
from sts.annotations.study import load_study
from sts.annotations.vault import digests, history, study_continuations
from sts.annotations.vault.annotation_checks import check_annotations
from sts.annotations.vault.digests import iter_differences
from sts.annotations.vault.history import verify
from sts.errors import DamagedData, StsError
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, a_submission, add_people, an_event, an_item, claim
from tests.stores import add_person, add_reference, ask, change, enqueue, submit

REASON = {"verdict": "cannot_judge", "step": None, "reason": "too dark"}


def a_study(workspace: Workspace) -> None:
    """Two agents, clips with copies, references, three people who judge, and a reviewer."""
    workspace.settings["annotation"]["reference_rate"] = 0.3
    with AnnotationStore.open(workspace) as store:
        every = [
            an_item(f"c{n}", agent=f"agent-{n % 2}", scenario=f"s{n // 4}", clip=f"clip {n // 2}")
            for n in range(24)
        ]
        enqueue(store, every, required=2)
        enqueue(store, [an_item("d0", suite="other@1")])
        for n in range(3):
            add_reference(store, an_item(f"r{n}", agent="agent-0"), "success", n + 1)
        rhea = add_person(store, "Rhea", ["reviewer"]).id
        everyone = add_people(store, "Ana", "Bo", "Cy")
        for person in everyone:
            judge_variously(store, person, 8)
        enqueue(store, [an_item("q0", clip="quiet", auto_resolve_rule="silence")], required=None)
        enqueue(store, [an_item("v0", clip="look.1", rubric="1")])
        (dee,) = add_people(store, "Dee")
        given = claim(store, dee, 99)
        enqueue(store, [an_item("v0", clip="look.2", rubric="2")])
        submit(store, dee, [a_submission(one) for one in given if one.continuation == "v0"])
        disputed = sorted({one.item for one in ask(store, progress.load_recent_judgements, 2, 3)})
        submit(store, rhea, [an_event("adjudication", item) for item in disputed[:2]])
        lea = add_person(store, "Lea", ["lead"]).id
        for kind in SUITE_KINDS:
            change(store, append_suite_event, lea, SUITE, kind, "the funding ends")
        for resume in (False, True):
            change(store, set_pause, SUITE, author_id=lea, resume=resume)
            change(store, set_pause, annotator_id=everyone[0], reason="asleep", resume=resume)
        change(store, set_excluded, "Cy", ask(store, people.get_person, "Lea"), "a bot")
        change(store, people.set_role, "Bo", "reviewer")
        change(store, people.set_role, "Bo", "reviewer", is_granted=False)


def judge_variously(store: AnnotationStore, person: int, number: int) -> None:
    """Judge some clips in every way, and take one judgement back."""
    changes: list[dict[str, Any]] = [
        {"step": 9}, {"verdict": "failure"}, {"verdict": "not_done", "step": None}, REASON,
    ]  # fmt: skip
    for n, held in enumerate(claim(store, person, number)):
        sent = a_submission(held, **changes[n % 4])
        submit(store, person, [sent])
        if n == 2:
            submit(store, person, [a_submission(held, corrects=sent["uuid"])])


Change = Callable[[Connection, random.Random], str]
"""Changes a database in a way that is drawn; returns what it has done."""


class Undone(Exception):
    """Rolls a change back."""


def tables(connection: Connection, workspace: Workspace) -> list[Any]:
    """Return everything that is exported; raise DamagedData if an export would refuse it."""
    found, study, out = history.read_history(connection), load_study(workspace), []
    _raise_findings(found.findings)
    for suite in (None, SUITE, "other@1"):
        clips = {one.shown_hash for one in found.clips.values()}
        there = study_continuations.read_continuations(workspace, suite, clips)
        _raise_findings([*_iter_altered_clips(found, there)])
        for names in (True, False):
            out.append(_build_table(found, there, study, suite, [], names=names).to_csv())
    return out


def is_refused(connection: Connection, workspace: Workspace, before: list[Any], what: str) -> bool:
    """Return True if an export is refused; one that is not must be as it was before."""
    try:
        assert tables(connection, workspace) == before, f"{what} is not found"
    except StsError:
        return True
    return False


@contextmanager
def tampered(store: AnnotationStore) -> Iterator[Connection]:
    """Open a transaction that no trigger or foreign key restricts, and roll it back."""
    with suppress(Undone), store.database.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET session_replication_role = replica"))
        else:
            connection.execute(text("PRAGMA defer_foreign_keys = ON"))
            for name in connection.execute(text(TRIGGERS)).scalars().all():
                connection.execute(text(f"DROP TRIGGER {name}"))
        yield connection
        raise Undone
    assert verify(store.database).findings == ()


TRIGGERS = "SELECT name FROM sqlite_master WHERE type = 'trigger'"


def drop_the_last(connection: Connection, rng: random.Random) -> str:
    """Drop the last events, of everybody or of one person."""
    one = rng.choice([None, 1, 2, 3, 4])
    own = "" if one is None else f"WHERE annotator = {one}"
    ids = connection.execute(text(f"SELECT id FROM events {own} ORDER BY id DESC")).scalars().all()
    last = ids[: rng.randint(1, len(ids))]
    connection.execute(text(f"DELETE FROM events WHERE id IN ({', '.join(map(str, last))})"))
    return f"the last {len(last)} of {one or 'all'}"


CHANGES = {
    "copies": ("agent", "item", "sees", "continuation"),
    "items": ("scenario", "category", "kind", "horizon", "clip", "id", "rubric", "continuation"),
    "reference_items": ("truth", "step", "item", "number", "digest"),
    "item_suites": ("suite", "item"),
    "events": (
        *("annotator", "item", "verdict", "step", "reason", "seconds", "extra", "kind", "id"),
        *("received", "number", "digest", "text_digest", "suite"),
    ),
    "annotators": ("name", "pseudonym", "number", "digest"),
    "auto_resolved": ("item", "setting"),
    "last_reference": ("number", "digest"),
}
"""Columns of which a value is exchanged for that of another row, or for none that is there."""
KEYS = {
    "copies": ("continuation",),
    "reference_items": ("item",),
    "auto_resolved": ("item",),
    "last_reference": ("number",),
    "item_suites": ("suite", "item"),
}


def edit(connection: Connection, rng: random.Random) -> str:
    """Change or drops a row of what reaches a ratings table, in a way that no constraint stops."""
    while True:
        table = rng.choice(sorted(CHANGES))
        query = connection.execute(text(f"SELECT * FROM {table}")).mappings()
        rows = sorted(map(dict, query), key=str)
        row, column = rng.choice(rows), rng.choice(CHANGES[table])
        others = sorted({one[column] for one in rows} - {row[column], None}, key=str)
        new = 17 if isinstance(row[column], int | float) else "another"
        value = rng.choice([*others, new])
        where = " AND ".join(f"{key} = :{key}" for key in KEYS.get(table, ("id",)))
        change, what = f"UPDATE {table} SET {column} = :value_", f"{column} becomes {value!r}"
        if rng.random() < 0.25:
            change, what = f"DELETE FROM {table}", "is dropped"
        with suppress(DBAPIError), connection.begin_nested():
            connection.execute(text(f"{change} WHERE {where}"), row | {"value_": value})
            return f"{table}, {row}: {what}"


@pytest.fixture(params=[10, pytest.param(170, marks=pytest.mark.slow)])
def number(request: pytest.FixtureRequest) -> int:
    """How often each kind of change is tried."""
    count: int = request.param
    return count


@pytest.mark.parametrize("tamper", [drop_the_last, edit])
def test_no_change_by_sql_that_reaches_a_ratings_table_is_silent(workspace, number, tamper) -> None:
    a_study(workspace)
    with AnnotationStore.open(workspace) as store:
        with store.database.read() as connection:
            before, refused = tables(connection, workspace), 0
        for seed in range(number):
            with tampered(store) as connection:
                what = tamper(connection, random.Random(f"{tamper.__name__} {seed}"))
                refused += is_refused(connection, workspace, before, what)
    assert refused >= number / 3


def test_no_flipped_bit_that_reaches_a_ratings_table_is_silent(sqlite_workspace, number, tmp_path):
    a_study(sqlite_workspace)
    with AnnotationStore.open(sqlite_workspace) as store, store.database.read() as connection:
        before, refused = tables(connection, sqlite_workspace), 0
    content = sqlite_workspace.path(DATABASE_FILE).read_bytes()
    for seed in range(number):
        root = Path(shutil.copytree(sqlite_workspace.root, tmp_path / str(seed)))
        bit = random.Random(f"bit {seed}").randrange(8 * len(content))
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        (root / DATABASE_FILE).write_bytes(flipped)
        workspace = Workspace.open(str(root))
        try:
            with AnnotationStore.open(workspace) as store, store.database.read() as connection:
                refused += is_refused(connection, workspace, before, f"bit {bit}")
        except StsError:
            refused += 1
        shutil.rmtree(root)
    assert refused > 0


def test_untouched_store_is_sound(workspace) -> None:
    a_study(workspace)
    with AnnotationStore.open(workspace) as store:
        found = verify(store.database)
    assert found.findings == () and found.forgotten == 0
    counts = found.events, len(found.authors), len(found.clips), found.continuations
    assert (*counts, len(found.references)) == (31, 6, 19, 30, 3)


LAST_OF_BO = "SELECT id FROM events WHERE annotator = 3 ORDER BY id DESC LIMIT 2"


FINDINGS = {
    "UPDATE items SET clip = 'clip 99' WHERE clip = 'clip 2'": "c4, event 8: altered",
    "DELETE FROM item_suites WHERE suite = 'other@1'": "d0: its clip is not queued for any",
    "UPDATE annotators SET name = 'E' WHERE name = 'Bo'": "3: their name or pseudonym was al",
    "UPDATE events SET reason = '' WHERE annotator = 3 AND number = 5": "its text is missing",
    "UPDATE events SET reason = 'we won' WHERE kind = 'closing'": (
        "Lea, closing of core@3, event 1: its text was altered"
    ),
    "DELETE FROM events WHERE kind = 'reopening'": "Lea: event 2 is missing at the end",
    "UPDATE reference_items SET truth = 'failure' WHERE number = 2": (
        "reference r1: its truth or its clip was altered"
    ),
    "INSERT INTO controls (setting, scope, person, value, reason, annotator, created) "
    "VALUES ('exclude', '', 2, 1, 'slow', 6, 1)": "Ana: the table of exclusions differs",
    "DELETE FROM controls WHERE setting = 'exclude'": "Cy: the table of exclusions differs",
    "UPDATE controls SET reason = 'slow' WHERE setting = 'exclude'": "Cy: the table of exclusions",
    "UPDATE controls SET value = 0 WHERE person IS NULL": "study: the table of pauses differs",
    "INSERT INTO roles VALUES (2, 'lead', 1)": "Ana: the table of roles differs",
    "DELETE FROM roles WHERE role = 'lead'": "Lea: the table of roles differs",
    "UPDATE deals SET rubric_shown = 1 - rubric_shown": "Ana: the table of deals differs",
    "INSERT INTO deals VALUES (6, 'go-to-good', 1)": "Lea: the table of deals differs",
    """UPDATE changes SET value = '["lead",0]' WHERE kind = 'role' AND subject = 6""": (
        "Lea, change 1: altered"
    ),
    "DELETE FROM changes WHERE kind = 'exclude'": "Cy: change 3 is missing at the end",
    "DELETE FROM last_change WHERE subject = 0": "study: the stored end of the chain of changes",
    "DELETE FROM reference_items WHERE number = 3": "reference 3 is missing at the end",
    f"DELETE FROM events WHERE id IN (SELECT id FROM ({LAST_OF_BO}) AS last)": (
        "Bo: events 8 to 9 are missing at the end"
    ),
}


def test_finding_names_the_altered_or_missing_row(workspace) -> None:
    a_study(workspace)
    with AnnotationStore.open(workspace) as store:
        for statement, words in FINDINGS.items():
            with tampered(store) as connection:
                connection.execute(text(statement))
                found = history.read_history(connection).findings
                assert any(words in line for line in found), (statement, found)
                assert "DELETE FROM events" not in statement or len(found) == 1, statement


def test_agent_of_a_continuation_is_not_read_from_the_database(workspace) -> None:
    a_study(workspace)
    before = export_ratings(workspace).table
    with AnnotationStore.open(workspace) as store, store.database.write() as connection:
        connection.execute(text("UPDATE copies SET agent = 'agent-7', sees = 'world'"))
        connection.execute(text("UPDATE items SET scenario = 's77', category = 'c', kind = 'k'"))
    assert export_ratings(workspace).table.equals(before)


def alter(workspace: Workspace, statement: str) -> None:
    """Change the file of a database by SQL."""
    with closing(sqlite3.connect(workspace.path(DATABASE_FILE))) as plain, plain:
        plain.execute(statement)


def test_verify_and_export_report_an_altered_row(sqlite_workspace, sts) -> None:
    words, root = "annotations verify", sqlite_workspace.root
    assert "nothing to verify" in sts(sqlite_workspace, words)
    a_study(sqlite_workspace)
    assert "31 events of 6 people" in sts(sqlite_workspace, words)
    shutil.copy(sqlite_workspace.path(DATABASE_FILE), root / "sound")
    alter(sqlite_workspace, "UPDATE items SET clip = 'clip 99' WHERE clip = 'clip 2'")
    *findings, last = sts(sqlite_workspace, words, 1).splitlines()
    assert all("continuation c4, event" in line for line in findings)
    assert last.endswith(f"; {len(findings)} findings")
    line = sts(sqlite_workspace, f"annotations export --out {root}/r.csv", 1)
    assert "continuation clip 99" in line or "continuation c4, event" in line
    shutil.copy(root / "sound", sqlite_workspace.path(DATABASE_FILE))
    alter(sqlite_workspace, "DROP TRIGGER events_are_never_updated")
    damaged = "reason = CAST(x'f46f6f206461726b' AS TEXT)"
    alter(sqlite_workspace, f"UPDATE events SET {damaged} WHERE annotator = 3 AND number = 5")
    finding = "of person 3: reason is damaged: it is not UTF-8 text"
    assert finding in sts(sqlite_workspace, words, 1)
    line = sts(sqlite_workspace, f"annotations export --out {root}/r.csv", 1)
    assert finding in line and "table events, row" in line
    assert not sqlite_workspace.path("r.csv").exists()


USING_A_STUDY = (
    *("annotations verify", "annotations rejected", f"annotations export {SUITE}"),
    *("annotators ls", "annotators add X", "references ls", "workspace check"),
    "workspace backup {}",
)


@pytest.mark.parametrize("how", ["missing", "empty", "not contain it"])
def test_lost_database_is_reported_by_every_command(sqlite_workspace, sts, tmp_path, how) -> None:
    a_study(sqlite_workspace)
    file = sqlite_workspace.path(DATABASE_FILE)
    file.rename(file.with_name("away"))
    if how == "empty":
        file.touch()
    elif how == "not contain it":
        with closing(sqlite3.connect(file)) as other:
            other.execute("VACUUM")
            other.execute("PRAGMA user_version = 1")
    found = file.read_bytes() if file.exists() else None
    for command in USING_A_STUDY:
        said = sts(sqlite_workspace, command.format(tmp_path / "copy"), 1)
        assert f"a study started in this workspace ({RECORD_FILE})" in said and how in said, command
    assert (file.read_bytes() if file.exists() else None) == found
    file.with_name("away").rename(file)
    sts(sqlite_workspace, "annotations verify")


@pytest.mark.postgresql
def test_empty_database_on_postgresql_is_reported_by_every_command(
    sqlite_workspace, sts, monkeypatch, tmp_path, postgresql
) -> None:
    a_study(sqlite_workspace)
    monkeypatch.setenv("STS_DATABASE_URL", postgresql())
    for command in USING_A_STUDY:
        assert "not contain it" in sts(sqlite_workspace, command.format(tmp_path / "copy"), 1)


@pytest.mark.landing
def test_older_database_is_found_by_the_last_export(sqlite_workspace, tmp_path, sts) -> None:
    workspace, out = sqlite_workspace, tmp_path / "ratings.csv"
    a_study(workspace)
    file = workspace.path(DATABASE_FILE)
    shutil.copy(file, tmp_path / "older")
    first = export_ratings(workspace).digests
    with AnnotationStore.open(workspace) as store:
        ana = ask(store, people.get_person, "Ana")
        [held] = claim(store, ana.id, 1)
        submit(store, ana.id, [a_submission(held)])
        add_reference(store, an_item("r9"), "success", 3)
        change(store, people.set_role, "Ana", "reviewer")
    sts(workspace, f"annotations export --out {out}")
    own = digests.read_digests(tmp_path / "ratings.csv.json")
    assert own == export_ratings(workspace).digests and own.authors[ana.pseudonym].number > 1
    assert [*iter_differences(workspace, own)] == [*iter_differences(workspace, first)] == []
    shutil.copy(tmp_path / "older", file)
    with AnnotationStore.open(workspace) as store:
        assert verify(store.database).findings == ()
    number, changed = own.authors[ana.pseudonym].number, own.changes[ana.pseudonym].number
    assert [*iter_differences(workspace, own)] == [
        f"{ana.pseudonym}: event {number} is missing; is the database an older copy?",
        f"{ana.pseudonym}: change {changed} is missing; is the database an older copy?",
        "reference 4 is missing; is the database an older copy?",
    ]
    found = sts(workspace, f"workspace check --sources-of {out}.json", 1)
    assert f"{out}.json: reference 4 is missing" in found
    for command in ("workspace check", "annotations verify"):
        assert f"{RECORD_FILE}: reference 4 is missing" in sts(workspace, command, 1)
        workspace.path(RECORD_FILE).write_text("{")
        assert f"{RECORD_FILE}: it is damaged" in sts(workspace, command, 1)
        workspace.path(RECORD_FILE).unlink()
        sts(workspace, "annotators ls")
        for _ in range(2):
            found = sts(workspace, command, 1)
            assert f"{RECORD_FILE}: it was missing" in found and "older copy" not in found
        shutil.copy(f"{out}.json", workspace.path(RECORD_FILE))
    workspace.path(RECORD_FILE).unlink()
    sts(workspace, f"annotations export --out {tmp_path / 'again.csv'}")
    sts(workspace, "annotations verify")


def test_older_database_is_found_by_the_last_report(sqlite_workspace) -> None:
    a_study(sqlite_workspace)
    own = export_ratings(sqlite_workspace).digests
    later = {name: end._replace(number=99) for name, end in own.authors.items()}
    digests.write_digests(sqlite_workspace.path("reports", "one", "report.json"), own)
    assert not [
        line for line in check_annotations(sqlite_workspace).findings if "older copy" in line
    ]
    two = sqlite_workspace.path("reports", "two", "report.json")
    digests.write_digests(two, own._replace(authors=later))
    assert any(
        f"{two.parent}: annotator-" in line for line in check_annotations(sqlite_workspace).findings
    )


def test_file_without_digests_is_refused(sqlite_workspace, tmp_path, sts) -> None:
    for content in ("", "[]", "{}", '{"digests": null}', '{"digests": {"suite": 1}}', "\x80"):
        (tmp_path / "r.json").write_text(content)
        with pytest.raises(DamagedData, match="expected a report of a workspace"):
            digests.read_digests(tmp_path / "r.json")
    workspace = sqlite_workspace.create()
    for name, code in (("r", 1), ("none", 2)):
        sts(workspace, f"workspace check --sources-of {tmp_path / name}.json", code)


def test_reference_note_is_replaced_by_a_new_one(workspace, store) -> None:
    for note in ("first", "second", ""):
        add_reference(store, an_item("r0"), "success", 3, note)
    assert [one.note for one in ask(store, references.list_references)] == ["second"]
    assert verify(store.database).findings == () and export_ratings(workspace).table.empty


def test_workspace_check_does_not_follow_links_out(sqlite_workspace, tmp_path, sts) -> None:
    root = sqlite_workspace.create().root
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.json").write_text("secret words")
    for folder in ("tags", "scores", "continuations"):
        (root / folder).mkdir()
    (root / "tags" / "core.json").symlink_to(tmp_path / "out" / "secret.json")
    (root / "continuations" / "plan").symlink_to(tmp_path / "out")
    (root / "continuations" / "loop").symlink_to(tmp_path)
    out = sts(sqlite_workspace, "workspace check --json", 1)
    found = json.loads(out)["checks"]["links"]
    assert found["counts"] == {"links": 3} and len(found["findings"]) == 3
    assert "core.json is a link to" in out and "secret words" not in out
    (finding,) = json.loads(out)["checks"]["tags"]["findings"]
    assert "outside the folder; replace it" in finding
