"""Who is forgotten leaves verdicts under a pseudonym, and no name and no word of theirs."""

from __future__ import annotations

import sqlite3

import pytest

from sts.annotations import consent, people, sessions, submissions
from sts.annotations.export import load_ratings
from sts.annotations.history import verify
from sts.annotations.store import DATABASE_FILE, Store
from sts.cli.main import main
from sts.errors import UnknownName
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, a_submission, an_item, some_items
from tests.stores import add_person, ask, change, claim_items, enqueue, submit

WORDS = "too dark where Zacharias lives"


def a_team(store: Store) -> tuple[int, str]:
    """Two who judged, one of them with words of their own; returns that one and a session."""
    enqueue(store, some_items(2), required=2)
    enqueue(store, [an_item("own", players=("Zacharias",))])
    zacharias = add_person(store, "Zacharias", email="Zacharias@example.org")
    bo = add_person(store, "Bo")
    for person in (zacharias, bo):
        first, second, *_ = claim_items(store, person.id, suite=SUITE, count=2)
        dark = {"verdict": "cannot_judge", "step": None, "reason": WORDS}
        submit(store, person.id, [a_submission(first), a_submission(second, **dark)])
    submit(store, zacharias.id, [{"uuid": "no", "note": WORDS}])  # refused, and kept aside
    return zacharias.id, change(store, sessions.enter, str(zacharias.token))


def test_the_verdicts_of_a_forgotten_person_stay_and_the_chain_of_their_events_holds(
    workspace: Workspace,
) -> None:
    with Store.open(workspace) as store:
        number, secret = a_team(store)
        change(store, consent.agree, number, "one")
        before = load_ratings(workspace, SUITE)
        person = change(store, people.forget, "Zacharias")
        assert (
            people.find_by_session(store, secret) is None and ask(store, sessions.under_way) == []
        )
        (found, bo) = ask(store, people.everybody)
        assert found.name == found.pseudonym == person.pseudonym and found.retired
        assert bo.name == "Bo"
        assert [one.people for one in ask(store, consent.counts)] == [1]
        assert verify(store.database).findings == ()
        with pytest.raises(UnknownName):
            ask(store, people.named, "Zacharias")
        assert change(store, people.forget, person.pseudonym) == person  # twice changes nothing
        assert verify(store.database).findings == ()
    after = load_ratings(workspace, SUITE)
    theirs = (after["annotator"] == person.pseudonym).to_numpy()
    assert after[~theirs].equals(before[~theirs])
    assert after.drop(columns="reason").equals(before.drop(columns="reason"))
    assert set(after[theirs]["reason"]) == {""}
    named = load_ratings(workspace, SUITE, names=True)
    assert set(named["annotator"]) - {""} == {"Bo", person.pseudonym}


def test_nothing_in_the_database_names_who_was_forgotten(sqlite_workspace: Workspace) -> None:
    with Store.open(sqlite_workspace) as store:
        number, _ = a_team(store)
        bo = ask(store, people.named, "Bo").id
        change(store, people.forget, "Zacharias")
        assert [one.raw for one in ask(store, submissions.refused_answers)] == [""]
    with sqlite3.connect(sqlite_workspace.path(DATABASE_FILE)) as plain:
        rows = [line for line in plain.iterdump() if "zacharias" in line.lower()]
    plain.close()
    assert number != bo and len(rows) == 1 and WORDS in rows[0]  # what Bo wrote is Bo's


def test_forgetting_says_what_it_would_do_until_it_is_told_to(
    sqlite_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(sqlite_workspace) as store:
        a_team(store)
    words = ["annotators", "forget", "Zacharias", "--workspace", str(sqlite_workspace.root)]
    assert main(words) == 0
    assert "would be forgotten" in capsys.readouterr().out
    with Store.open(sqlite_workspace) as store:
        pseudonym = ask(store, people.named, "Zacharias").pseudonym
    assert main([*words, "--yes"]) == 0
    assert f"2 judged clips stay under {pseudonym}" in capsys.readouterr().out
    assert main([*words, "--yes"]) == 2
    assert "unknown annotator 'Zacharias'" in capsys.readouterr().err
