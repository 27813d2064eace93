"""What is promised of judgements holds amid faults; and who looks finds each that was broken."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from playwright.sync_api import sync_playwright

from sts.annotations import people, views
from sts.annotations.store import DATABASE_FILE, Store
from sts.storage.workspace import Workspace
from tests.annotations.conftest import cluster as cluster
from tests.annotations.conftest import postgresql as postgresql
from tests.annotations.conftest import workspace as workspace
from tests.annotations.examples import SELDOM_ON_POSTGRESQL, SUITE, a_submission, some_items
from tests.annotator_app.serving import FLAGS
from tests.annotator_app.wire import cookie
from tests.faults.__main__ import trial_of
from tests.faults.judging import tabs
from tests.faults.judging.faults import stopped
from tests.faults.judging.history import (
    ACKNOWLEDGED,
    ARRIVED,
    AUTHOR,
    EXTRA,
    FAULT,
    FILLED,
    FILLS,
    GAVE_UP,
    GIVEN,
    KEPT,
    LEASES,
    LOST,
    OFFERED,
    ONCE,
    ONE,
    PUT,
    PUT_BY_SOMEBODY,
    SAME,
    SENT,
    SLOTS,
    Event,
    History,
    breaches,
    check,
    first_breach,
    found,
    wanted_in,
)
from tests.faults.judging.study import opened
from tests.faults.trials import DATABASES, BrokenPromise, Setting, drawn
from tests.stores import add_person, ask, claim_items, enqueue, submit

PEOPLE, CLIPS, WANTED = 5, 12, 2
Change = Callable[[list[Event], Event], object]


def events(random: np.random.Generator) -> Iterator[Event]:
    """A history in which nothing is broken: two of five people judge each clip, sending twice."""
    at = iter(range(10_000))
    for number in range(CLIPS):
        item = f"clip-{number}"
        for by in random.choice(PEOPLE, WANTED, replace=False) + 1:
            answer = random.bytes(16).hex()
            yield Event(GIVEN, int(by), item=item, at=next(at))
            yield Event(PUT, int(by), answer, item, "success", next(at))
            yield Event(SENT, int(by), answer, at=next(at))
            yield Event(FAULT, said="kill -9", at=next(at))
            yield Event(SENT, int(by), answer, at=next(at))
            yield Event(ACKNOWLEDGED, int(by), answer, at=next(at))
            yield Event(KEPT, int(by), answer, item, "success")
            yield Event(FILLED, int(by), item=item)


def without(history: list[Event], row: Event, *words: str) -> None:
    history[:] = [e for e in history if not (e.what in words and e.answer == row.answer)]


def unfilled(history: list[Event], row: Event) -> None:
    history.remove(Event(FILLED, row.by, item=row.item))


def altered(history: list[Event], row: Event, **changes: Any) -> None:
    history[history.index(row)] = row._replace(**changes)


def one_more(history: list[Event], row: Event) -> None:
    by, answer = PEOPLE + 1, "f" * 32
    history += [Event(PUT, by, answer, row.item, "success", 5000.0)]
    history += [Event(KEPT, by, answer, row.item, "success"), Event(FILLED, by, item=row.item)]


CHANGES: dict[str, tuple[Change, str, list[str]]] = {
    "lost": (lambda h, row: without(h, row, KEPT), LOST, [ACKNOWLEDGED, PUT]),
    "never arrived": (lambda h, row: without(h, row, KEPT, ACKNOWLEDGED), ARRIVED, [PUT]),
    "doubled": (lambda h, row: h.append(row), ONCE, [KEPT, KEPT]),
    "used by two": (lambda h, row: h.append(row._replace(by=PEOPLE + 1)), ONE, [KEPT, KEPT]),
    "another's": (lambda h, row: altered(h, row, by=PEOPLE + 1), AUTHOR, [KEPT, PUT]),
    "altered": (lambda h, row: altered(h, row, said="failure"), SAME, [KEPT, PUT]),
    "put by nobody": (lambda h, row: without(h, row, PUT), PUT_BY_SOMEBODY, [KEPT]),
    "one too many": (one_more, SLOTS, [KEPT] * (WANTED + 1)),
    "in no slot": (unfilled, FILLS, [KEPT]),
    "given to one too many": (
        lambda h, row: h.append(Event(GIVEN, PEOPLE + 1, item=row.item)),
        OFFERED,
        [GIVEN] * (WANTED + 1),
    ),
}


def made_up(random: np.random.Generator) -> tuple[list[Event], Event, dict[str, int]]:
    """A history in which nothing is broken, a row of it, and what is wanted."""
    history = list(events(random))
    kept = [one for one in history if one.what == KEPT]
    return history, kept[int(random.integers(len(kept)))], {e.item: WANTED for e in kept}


@pytest.mark.parametrize("kind", CHANGES)
def test_each_promise_that_is_broken_is_found_with_the_shortest_history_that_shows_it(
    kind: str,
) -> None:
    change, promise, part = CHANGES[kind]
    history, row, wanted = made_up(np.random.default_rng(1))
    assert first_breach(history, wanted) is None
    change(history, row)
    found = first_breach(history, wanted)
    assert found is not None
    assert found[0].promise == promise and found[0].of in (row.answer, row.item)
    assert sorted(one.what for one in found[1]) == sorted(part)
    assert {one.item for one in found[1]} <= {row.item, ""}


def test_a_broken_promise_says_who_did_what_and_what_was_found() -> None:
    history, row, wanted = made_up(np.random.default_rng(1))
    altered(history, row, by=PEOPLE + 1)
    history.append(Event(GAVE_UP, row.by, "another", said="met no answer last", at=600.0))
    with pytest.raises(BrokenPromise) as error:
        check(history, wanted)
    said, put, kept, left = str(error.value).splitlines()
    assert said == f"promised: {AUTHOR}; found otherwise of {row.answer}"
    assert f"person {row.by} puts answer {row.answer}" in put
    assert f"at the end  person {PEOPLE + 1} is kept as the author of" in kept
    assert f"person {row.by} gave up: answer another, met no answer last" in left


def test_what_is_judged_once_more_after_a_lease_ran_out_breaks_nothing_where_it_is_said() -> None:
    history, row, wanted = made_up(np.random.default_rng(1))
    by, answer = PEOPLE + 1, "f" * 32
    history.append(Event(FAULT, said=LEASES, at=1.5))
    history += [Event(GIVEN, by, item=row.item, at=6000.0)]
    history += [Event(PUT, by, answer, row.item, "success", 6001.0)]
    history += [Event(EXTRA, by, answer, row.item, "success")]
    check(history, wanted)


UNLOCKED = {
    "sqlite": [f"DROP TRIGGER events_are_never_{verb}" for verb in ("updated", "deleted")],
    "postgresql": ["ALTER TABLE events DISABLE TRIGGER USER"],
}
"""What lets events be changed at all."""
SOMEBODY_ELSES = "SELECT max(id) FROM events WHERE annotator <> {by}"
DAMAGE = {
    LOST: "DELETE FROM events WHERE uuid = '{answer}'",
    ONE: f"UPDATE events SET uuid = '{{answer}}' WHERE id = ({SOMEBODY_ELSES})",
    AUTHOR: "UPDATE events SET annotator = 4, number = -1 WHERE uuid = '{answer}'",
    SAME: "UPDATE events SET verdict = 'not_done', step = NULL WHERE uuid = '{answer}'",
    PUT_BY_SOMEBODY: "UPDATE events SET uuid = 'x{answer}' WHERE uuid = '{answer}'",
    SLOTS: "UPDATE events SET item = '{item}', extra = 0",
    FILLS: "UPDATE slots SET judged = 0 WHERE item = '{item}' AND annotator = {by}",
}
"""What breaks a promise where it is done to a database in which people have judged."""


@SELDOM_ON_POSTGRESQL
def test_each_promise_that_is_broken_in_a_database_is_found(workspace: Workspace) -> None:
    history = []
    with Store.open(workspace) as store:
        enqueue(store, some_items(4), required=WANTED)
        for by in [add_person(store, name).id for name in ("Ana", "Ben", "Cat", "Dan")]:
            sent = [a_submission(claim) for claim in claim_items(store, by, suite=SUITE, count=2)]
            history += [Event(PUT, by, one["uuid"], one["item"], one["verdict"]) for one in sent]
            history += [Event(ACKNOWLEDGED, by, ack.uuid) for ack in submit(store, by, sent)]
    url = os.environ.get("STS_DATABASE_URL")
    connected: Any = psycopg.connect(url) if url else sqlite3.connect(workspace.path(DATABASE_FILE))
    with closing(connected) as connection:
        for statement in UNLOCKED["postgresql" if url else "sqlite"]:
            connection.execute(statement)
        connection.commit()
        row = next(one for one in found(connection) if one.what == KEPT)
        for promise, statement in DAMAGE.items():
            check([*history, *found(connection)], wanted_in(connection))
            connection.execute(statement.format(**row._asdict()))
            broken = breaches([*history, *found(connection)], wanted_in(connection))
            of = {one.of for one in broken if one.promise == promise}
            assert of & {row.answer, f"x{row.answer}", row.item}, promise
            connection.rollback()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    "database", [DATABASES[0], pytest.param(DATABASES[1], marks=pytest.mark.postgresql)]
)
def test_what_people_did_amid_faults_is_what_the_database_has(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if database == DATABASES[1]:
        request.getfixturevalue("cluster")  # says what to do where there can be none
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        counts = trial_of("judgements")(Setting(drawn(1, "judgements", number), folder, database))
        assert counts["put"] == counts["acknowledged"] >= 100


@pytest.mark.slow
@pytest.mark.skipif(not tabs.installed(), reason="Chromium is not installed")
def test_what_another_left_in_a_tab_arrives_once_they_come_back(tmp_path: Path) -> None:
    random, history = drawn(1, "a tab", 0), History()
    with opened(Setting(random, tmp_path, DATABASES[0])) as study, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=tabs.installed(), args=FLAGS)
        (one, own), (other, lent) = (
            (ask(study.server.store, people.named, name).id, cookie(study.server, secret))
            for name in ("one", "other")
            if (secret := study.server.secret(name))
        )
        tab = tabs.Tab(one, own, random, history)
        tab.open(browser.new_context())
        while not tab.ready:
            tab.turn(study, False)
        tab.cookie = lent
        tab.turn(study, False)
        tab._page.goto(study.address)  # it begins as the other's
        tab.ready = False
        while not tab.ready:
            tab.turn(study, False)
        with stopped(study, [], random):
            assert tab.turn(study, True)
            assert {*(tab.held() or {}).values()} == {other}
            tab.cookie, tab.ready = own, False
            study.network.drop()
        while not tab.ready:
            tab.turn(study, False)
        assert {*(tab.held() or {}).values()} == {other}  # nobody else sends it
        tab.come_back(study)
        assert tab.held() == {}
        browser.close()
        assert ask(study.server.store, views.history, other, 9)
