"""What was changed, lost or added behind the store's back is found, and what was not is not."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from sts.annotations import events, history, people, played, views
from sts.annotations.database import RECORD_FILE
from sts.annotations.export import _iter_altered_clips, _raise_findings, _RatingsTable, load_ratings
from sts.annotations.history import verify
from sts.annotations.schema import annotators
from sts.annotations.store import DATABASE_FILE, Store
from sts.annotations.study import load_study as asked
from sts.cli.main import main
from sts.errors import StoreError, StsError
from sts.storage.workspace import Workspace
from tests.annotations.examples import (
    SUITE,
    a_submission,
    an_item,
)
from tests.annotations.test_events import an_event
from tests.stores import add_person, add_reference, ask, claim_items, enqueue, submit

REASON = {"verdict": "cannot_judge", "step": None, "reason": "too dark"}


def a_study(workspace: Workspace) -> None:
    """Two agents, clips with copies, references, three people who judge, and a reviewer."""
    workspace.settings["annotation"]["reference_rate"] = 0.3
    with Store.open(workspace) as store:
        every = [
            an_item(f"c{n}", agent=f"agent-{n % 2}", scenario=f"s{n // 4}", clip=f"clip {n // 2}")
            for n in range(24)
        ]
        enqueue(store, every, required=2)
        enqueue(store, [an_item("d0", suite="other@1")])
        for n in range(3):
            add_reference(store, an_item(f"r{n}", agent="agent-0"), "success", n + 1)
        rhea = add_person(store, "Rhea", ["reviewer"]).id
        for name in ("Ana", "Bo", "Cy"):
            judge(store, add_person(store, name).id, 8)
        enqueue(store, [an_item("q0", clip="quiet", settled="silence")], required=None)
        enqueue(store, [an_item("v0", clip="look.1", rubric="1")])
        dee = add_person(store, "Dee").id
        given = claim_items(store, dee, suite=SUITE, count=99)
        enqueue(store, [an_item("v0", clip="look.2", rubric="2")])
        submit(store, dee, [a_submission(one) for one in given if one.continuation == "v0"])
        disputed = sorted({one.item for one in ask(store, views.history, 2, 3)})
        submit(store, rhea, [an_event("adjudication", item) for item in disputed[:2]])


def judge(store: Store, person: int, number: int) -> None:
    """Judges some clips in every way, and takes one judgement back."""
    changes: list[dict[str, Any]] = [
        {"step": 9}, {"verdict": "failure"}, {"verdict": "not_done", "step": None}, REASON,
    ]  # fmt: skip
    claims = claim_items(store, person, suite=SUITE, count=number)
    for n, claim in enumerate(claims):
        sent = a_submission(claim, **changes[n % 4])
        submit(store, person, [sent])
        if n == 2:
            submit(store, person, [a_submission(claim, corrects=sent["uuid"])])


Change = Callable[[Connection, random.Random], str]
"""Changes a database in a way that is drawn; returns what it has done."""


class Undone(Exception):
    """What a try has changed is taken back."""


def tables(connection: Connection, workspace: Workspace) -> list[Any]:
    """Return everything that is exported; raise DamagedData if an export would refuse it."""
    found, study, out = history.read_history(connection), asked(workspace), []
    _raise_findings(found.findings)
    for suite in (None, SUITE, "other@1"):
        clips = {one.shown_hash for one in found.clips.values()}
        there = played.read_continuations(workspace, suite, clips)
        _raise_findings([*_iter_altered_clips(found, there)])
        for names in (True, False):
            out.append(_RatingsTable(found, there, study, suite, names=names).build_rows())
    return out


class Tries:
    """Whether changes were found, whether or not they reach a ratings table."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def _found(
        self, connection: Connection, workspace: Workspace, before: list[Any]
    ) -> tuple[bool, bool]:
        """Return whether a table is another, and whether an export refuses to make it."""
        try:
            return tables(connection, workspace) != before, False
        except StsError:
            return True, True

    def note(self, what: str, changed: bool, found: bool) -> None:
        assert found or not changed, f"{what}: changes a ratings table, and nothing is found"
        self.counts["found" if found else "changes nothing"] += 1
        self.counts["changes a table"] += changed

    def by_sql(self, workspace: Workspace, change: Change, *draws: random.Random) -> None:
        """Try changes by SQL, which no trigger or foreign key stops, and takes each back."""
        with Store.open(workspace) as store:
            self._by_sql(workspace, store, change, *draws)

    def _by_sql(
        self, workspace: Workspace, store: Store, change: Change, *draws: random.Random
    ) -> None:
        with store.database.read() as connection:
            before = tables(connection, workspace)
        for rng in draws:
            with suppress(Undone), store.database.write() as connection:
                if connection.dialect.name == "postgresql":
                    connection.execute(text("SET session_replication_role = replica"))
                else:
                    connection.execute(text("PRAGMA defer_foreign_keys = ON"))
                    for name in connection.execute(text(TRIGGERS)).scalars().all():
                        connection.execute(text(f"DROP TRIGGER {name}"))
                what = change(connection, rng)
                self.note(what, *self._found(connection, workspace, before))
                raise Undone
            assert verify(store.database).findings == ()

    def by_a_bit(self, workspace: Workspace, bit: int, before: list[Any]) -> None:
        """Try a database of which one bit is another, in a workspace that is used up."""
        file = workspace.path(DATABASE_FILE)
        content = bytearray(file.read_bytes())
        content[bit // 8] ^= 1 << bit % 8
        file.write_bytes(content)
        try:
            with Store.open(workspace) as store, store.database.read() as connection:
                changed, found = self._found(connection, workspace, before)
        except StsError:
            changed = found = True
        self.note(f"bit {bit}", changed, found)


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
    "reference_episodes": ("truth", "step", "item", "number", "digest"),
    "item_suites": ("suite", "item"),
    "events": (
        *("annotator", "item", "verdict", "step", "reason", "seconds", "extra", "kind", "id"),
        *("received", "number", "digest", "words"),
    ),
    "annotators": ("name", "pseudonym", "number", "digest"),
    "settled": ("item", "settled_as"),
    "last_reference": ("number", "digest"),
}
"""Columns of which a value is exchanged for that of another row, or for none that is there."""
KEYS = {
    "copies": ("continuation",),
    "reference_episodes": ("item",),
    "settled": ("item",),
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


@pytest.fixture(params=[12, pytest.param(170, marks=pytest.mark.landing)])
def number(request: pytest.FixtureRequest) -> int:
    """How often each kind of change is tried."""
    count: int = request.param
    return count


@pytest.mark.parametrize("change", [drop_the_last, edit])
def test_no_change_by_sql_that_reaches_a_ratings_table_is_silent(
    workspace: Workspace, number: int, change: Change
) -> None:
    a_study(workspace)
    tries = Tries()
    seeds = (f"{change.__name__} {seed}" for seed in range(number))
    tries.by_sql(workspace, change, *map(random.Random, seeds))
    print(change.__name__, dict(tries.counts))
    assert tries.counts["found"] >= number / 3


def test_no_flipped_bit_that_reaches_a_ratings_table_is_silent(
    sqlite_workspace: Workspace, number: int, tmp_path: Path
) -> None:
    a_study(sqlite_workspace)
    with Store.open(sqlite_workspace) as store, store.database.read() as connection:
        before = tables(connection, sqlite_workspace)
    tries, bits = Tries(), sqlite_workspace.path(DATABASE_FILE).stat().st_size * 8
    for seed in range(number):
        root = Path(shutil.copytree(sqlite_workspace.root, tmp_path / str(seed)))
        bit = random.Random(f"bit {seed}").randrange(bits)
        tries.by_a_bit(Workspace.open(str(root)), bit, before)
        shutil.rmtree(root)
    print("bits", dict(tries.counts))
    assert tries.counts["changes a table"] > 0


def test_a_store_that_only_it_has_written_is_sound(workspace: Workspace) -> None:
    a_study(workspace)
    with Store.open(workspace) as store:
        found = verify(store.database)
    assert found.findings == () and found.forgotten == 0
    counts = found.events, len(found.authors), len(found.clips), found.continuations
    assert (*counts, len(found.references)) == (30, 5, 19, 30, 3)


def test_truncated_tail_of_a_chain_is_named(workspace: Workspace) -> None:
    a_study(workspace)

    def lost(connection: Connection, _: random.Random) -> str:
        ids = "SELECT id FROM events WHERE annotator = 3 ORDER BY id DESC LIMIT 2"
        connection.execute(text(f"DELETE FROM events WHERE id IN ({ids})"))
        assert history.read_history(connection).findings == (
            "Bo: events 8 to 9 are missing at the end",
        )
        return "the last two of Bo"

    Tries().by_sql(workspace, lost, random.Random())


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "UPDATE items SET clip = 'clip 99' WHERE clip = 'clip 2'",
            "continuation c4, event 1: altered",
        ),
        (
            "DELETE FROM item_suites WHERE suite = 'other@1'",
            "continuation d0: its clip is not queued for any suite",
        ),
        (
            "UPDATE annotators SET name = 'Eve' WHERE name = 'Bo'",
            "person 3: their name or pseudonym was altered",
        ),
        (
            "UPDATE events SET reason = '' WHERE annotator = 3 AND number = 5",
            "its text is missing",
        ),
        (
            "UPDATE reference_episodes SET truth = 'failure' WHERE number = 2",
            "reference r1: its truth or its clip was altered",
        ),
        ("DELETE FROM reference_episodes WHERE number = 3", "reference 3 is missing at the end"),
    ],
)
def test_finding_names_what_it_is_about(workspace: Workspace, statement: str, words: str) -> None:
    a_study(workspace)

    def change(connection: Connection, _: random.Random) -> str:
        connection.execute(text(statement))
        found = history.read_history(connection).findings
        assert any(words in line for line in found), found
        return statement

    Tries().by_sql(workspace, change, random.Random())


def test_agent_of_a_continuation_is_not_read_from_the_database(workspace: Workspace) -> None:
    a_study(workspace)
    before = load_ratings(workspace)
    with Store.open(workspace) as store, store.database.write() as connection:
        connection.execute(text("UPDATE copies SET agent = 'agent-7', sees = 'world'"))
        connection.execute(text("UPDATE items SET scenario = 's77', category = 'c', kind = 'k'"))
    assert load_ratings(workspace).equals(before)


def test_export_refuses_an_altered_row_by_name(
    sqlite_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    a_study(sqlite_workspace)
    altered(sqlite_workspace, "UPDATE items SET clip = 'clip 99' WHERE clip = 'clip 2'")
    root = str(sqlite_workspace.root)
    assert main(["annotations", "export", "--out", f"{root}/r.csv", "--workspace", root]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "continuation clip 99" in line or "continuation c4, event" in line
    assert not sqlite_workspace.path("r.csv").exists()


def altered(workspace: Workspace, statement: str) -> None:
    """Change the file of a database by SQL."""
    with sqlite3.connect(workspace.path(DATABASE_FILE)) as plain:
        plain.execute(statement)
    plain.close()


def test_who_is_forgotten_leaves_digests_and_verdicts(workspace: Workspace) -> None:
    a_study(workspace)
    with Store.open(workspace) as store:
        before, pseudonym = load_ratings(workspace, SUITE), ask(store, people.named, "Bo").pseudonym
        with store.database.write() as connection:
            seal = people.hash_names(pseudonym, pseudonym)
            own = annotators.update().where(annotators.c.id == 3)
            connection.execute(own.values(name=pseudonym, seal=seal))
            events.erase_texts(connection, 3)
        found = verify(store.database)
        assert found.findings == () and found.forgotten == 2
        after = load_ratings(workspace, SUITE)
        assert set(after[after["annotator"] == pseudonym]["reason"]) == {""}
        assert after.drop(columns="reason").equals(before.drop(columns="reason"))
        change = text(
            "UPDATE events SET verdict = 'failure', reason = '' WHERE verdict = 'success'"
        )
        refused = (StoreError, DBAPIError)
        with pytest.raises(refused, match="append-only"), store.database.write() as connection:
            connection.execute(change)


USING_A_STUDY = (
    "annotations verify",
    "annotations refused",
    f"annotations export {SUITE}",
    "annotators ls",
    "annotators add X",
    "references ls",
    "workspace backup FILE",
    "workspace check",
)


@pytest.mark.parametrize("how", ["missing", "empty", "not contain it"])
def test_lost_database_is_reported_by_every_command(
    sqlite_workspace: Workspace, capsys: pytest.CaptureFixture[str], tmp_path: Path, how: str
) -> None:
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
        words = command.replace("FILE", str(tmp_path / "copy")).split()
        assert main([*words, "--workspace", str(sqlite_workspace.root)]) == 1, command
        said = "".join(capsys.readouterr())
        assert f"a study started in this workspace ({RECORD_FILE})" in said and how in said, command
    assert (file.read_bytes() if file.exists() else None) == found
    file.with_name("away").rename(file)
    assert main(["annotations", "verify", "--workspace", str(sqlite_workspace.root)]) == 0


@pytest.mark.postgresql
def test_empty_database_on_postgresql_is_reported_where_a_study_began(
    sqlite_workspace: Workspace,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    postgresql: Callable[[], str],
) -> None:
    a_study(sqlite_workspace)
    monkeypatch.setenv("STS_DATABASE_URL", postgresql())
    for command in USING_A_STUDY:
        words = command.replace("FILE", str(tmp_path / "copy")).split()
        assert main([*words, "--workspace", str(sqlite_workspace.root)]) == 1, command
        assert "not contain it" in "".join(capsys.readouterr()), command


def test_verify_prints_its_findings_and_says_so_by_its_exit_code(
    sqlite_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["annotations", "verify", "--workspace", str(sqlite_workspace.root)]
    assert main(asked) == 0 and "nothing to verify" in capsys.readouterr().out
    a_study(sqlite_workspace)
    assert main(asked) == 0
    assert "30 events of 5 people" in capsys.readouterr().out
    altered(sqlite_workspace, "UPDATE items SET clip = 'clip 99' WHERE clip = 'clip 2'")
    assert main(asked) == 1
    *findings, last = capsys.readouterr().out.splitlines()
    assert all("continuation c4, event" in line for line in findings)
    assert len(findings) == 1 and last.endswith("; 1 finding")
