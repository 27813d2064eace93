"""An invitation lets one browser in once; a session lasts while it is used."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from sts.annotations.sessions import DAY, IDLE, INVITATION, LAPSED, LONGEST, UNKNOWN, USED
from sts.annotations.store import FILE, Store
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from tests.annotations.examples import Clock


def invited(store: Store, name: str = "Ana") -> str:
    return str(store.add_annotator(name).token)


def test_an_invitation_begins_the_session_of_exactly_its_person(store: Store) -> None:
    ana, bo = invited(store), invited(store, "Bo")
    secrets = store.enter(ana), store.enter(bo)
    found = [store.annotator_by_session(secret) for secret in secrets]
    assert [one and one.name for one in found] == ["Ana", "Bo"]
    for wrong in (secrets[0][:-1], "", "\ud800\0", ana):
        assert store.annotator_by_session(wrong) is None


def test_looking_at_an_invitation_does_not_spend_it(store: Store) -> None:
    token = invited(store)
    for _ in range(3):  # as messengers do that show a preview
        found = store.invitation(token)
        assert found is not None and (found.name, found.refusal) == ("Ana", "")
    store.enter(token)
    found = store.invitation(token)
    assert found is not None and found.refusal == USED


def test_an_invitation_is_spent_once(store: Store) -> None:
    token = invited(store)
    store.enter(token)
    with pytest.raises(ArgumentError, match="used already"):
        store.enter(token)
    assert len(store.open_sessions()) == 1


def test_of_two_who_spend_one_invitation_at_once_one_comes_in(workspace: Workspace) -> None:
    with Store.open(workspace) as one, Store.open(workspace) as other:
        token, outcomes = invited(one), []
        barrier = threading.Barrier(2)

        def spend(store: Store) -> None:
            barrier.wait()
            try:
                store.enter(token)
                outcomes.append("in")
            except ArgumentError as error:
                outcomes.append(str(error))

        threads = [threading.Thread(target=spend, args=(store,)) for store in (one, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == sorted(["in", USED])


def test_an_invitation_lapses(store: Store, clock: Clock) -> None:
    token = invited(store)
    clock.now += INVITATION
    found = store.invitation(token)
    assert found is not None and found.refusal == LAPSED
    with pytest.raises(ArgumentError, match="lapsed"):
        store.enter(token)
    assert store.invited() == set()


@pytest.mark.parametrize("token", ["", "x" * 43, "\ud800\0"])
def test_a_forged_invitation_is_none(store: Store, token: str) -> None:
    invited(store)
    assert store.invitation(token) is None
    with pytest.raises(ArgumentError) as error:
        store.enter(token)
    assert str(error.value) == UNKNOWN


def test_a_new_invitation_ends_the_one_that_waits_and_no_session(store: Store) -> None:
    secret = store.enter(invited(store))
    second = str(store.invite("Ana").token)
    third = str(store.invite("Ana").token)
    assert store.invitation(second) is None
    assert store.invited() == {store.annotators()[0].id}
    assert store.annotator_by_session(secret) is not None
    assert store.annotator_by_session(store.enter(third)) is not None
    assert [one.name for one in store.open_sessions()] == ["Ana", "Ana"]


def test_a_session_lasts_while_it_is_used_and_no_longer_than_the_longest(
    store: Store, clock: Clock
) -> None:
    began = clock.now
    idle, used = store.enter(invited(store)), store.enter(invited(store, "Bo"))
    while clock.now < began + LONGEST - DAY:
        clock.now += DAY
        assert store.annotator_by_session(used) is not None
    assert store.annotator_by_session(idle) is None
    (session,) = store.open_sessions()
    assert (session.name, session.seen, session.ends) == ("Bo", clock.now, began + LONGEST)
    clock.now += DAY
    assert store.annotator_by_session(used) is None


def test_a_session_ends_when_it_was_not_used_for_long(store: Store, clock: Clock) -> None:
    secret = store.enter(invited(store))
    clock.now += IDLE - 1
    assert store.annotator_by_session(secret) is not None  # and is good for as long again
    clock.now += IDLE - 1
    assert store.annotator_by_session(secret) is not None
    clock.now += IDLE
    assert store.annotator_by_session(secret) is None


def test_revoking_ends_all_sessions_of_one_person_and_the_invitation_that_waits(
    store: Store,
) -> None:
    mine = store.enter(invited(store)), store.enter(str(store.invite("Ana").token))
    waiting, others = str(store.invite("Ana").token), store.enter(invited(store, "Bo"))
    assert store.revoke("Ana") == 2
    assert [store.annotator_by_session(one) for one in mine] == [None, None]
    assert store.invitation(waiting) is None
    assert store.annotator_by_session(others) is not None
    assert store.revoke("Ana") == 0


def test_who_was_retired_is_back_with_a_new_invitation_alone(store: Store) -> None:
    old = invited(store)
    store.retire_annotator("Ana")
    assert store.invitation(old) is None
    again = store.invite("Ana")
    assert not again.retired
    assert store.annotator_by_session(store.enter(str(again.token))) is not None


@pytest.mark.parametrize("how", ["invitation", "account", "owner's link"])
def test_session_ends_when_someone_else_enters_in_the_same_browser(store: Store, how: str) -> None:
    begin = {
        "invitation": lambda held: store.enter(str(store.invite("Bo").token), held),
        "account": lambda held: store.sign_in("bo@study.example", held),
        "owner's link": lambda held: store.begin_session("Bo", held),
    }[how]
    anas = store.enter(invited(store))
    elsewhere = store.enter(str(store.invite("Ana").token))
    store.add_annotator("Bo", email="bo@study.example")
    bos = begin(anas)
    assert store.annotator_by_session(anas) is None
    again = begin(bos)  # the same person, whose open pages go on
    found = [store.annotator_by_session(one) for one in (elsewhere, bos, again)]
    assert [one and one.name for one in found] == ["Ana", "Bo", "Bo"]


def test_the_database_keeps_no_secret(sqlite_workspace: Workspace) -> None:
    with Store.open(sqlite_workspace) as store:
        token = invited(store)
        secret = store.enter(token)
        waiting = str(store.invite("Ana").token)
    with sqlite3.connect(sqlite_workspace.path(FILE)) as plain:
        dump = "\n".join(plain.iterdump())
    plain.close()
    assert "Ana" in dump
    assert not any(one in dump for one in (token, secret, waiting))
