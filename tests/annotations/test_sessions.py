"""An invitation lets one browser in once; a session lasts while it is used."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from sts.annotations import people, sessions
from sts.annotations.sessions import (
    DAY,
    EXPIRED,
    IDLE_TIMEOUT_S,
    INVITATION,
    LONGEST,
    UNKNOWN,
    USED,
)
from sts.annotations.store import DATABASE_FILE, Store
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from tests.annotations.examples import Clock
from tests.stores import add_person, ask, change


def invited(store: Store, name: str = "Ana") -> str:
    return str(add_person(store, name).token)


def test_an_invitation_begins_the_session_of_exactly_its_person(store: Store) -> None:
    ana, bo = invited(store), invited(store, "Bo")
    secrets = change(store, sessions.enter, ana), change(store, sessions.enter, bo)
    found = [people.find_by_session(store, secret) for secret in secrets]
    assert [one and one.name for one in found] == ["Ana", "Bo"]
    for wrong in (secrets[0][:-1], "", "\ud800\0", ana):
        assert people.find_by_session(store, wrong) is None


def test_looking_at_an_invitation_does_not_spend_it(store: Store) -> None:
    token = invited(store)
    for _ in range(3):  # as messengers do that show a preview
        found = ask(store, sessions.invitation, token)
        assert found is not None and (found.name, found.refusal) == ("Ana", "")
    change(store, sessions.enter, token)
    found = ask(store, sessions.invitation, token)
    assert found is not None and found.refusal == USED


def test_an_invitation_is_spent_once(store: Store) -> None:
    token = invited(store)
    change(store, sessions.enter, token)
    with pytest.raises(ArgumentError, match="already used"):
        change(store, sessions.enter, token)
    assert len(ask(store, sessions.under_way)) == 1


def test_of_two_who_spend_one_invitation_at_once_one_comes_in(workspace: Workspace) -> None:
    with Store.open(workspace) as one, Store.open(workspace) as other:
        token, outcomes = invited(one), []
        barrier = threading.Barrier(2)

        def spend(store: Store) -> None:
            barrier.wait()
            try:
                change(store, sessions.enter, token)
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
    found = ask(store, sessions.invitation, token)
    assert found is not None and found.refusal == EXPIRED
    with pytest.raises(ArgumentError, match="expired"):
        change(store, sessions.enter, token)
    assert ask(store, sessions.people_with_invitation) == set()


@pytest.mark.parametrize("token", ["", "x" * 43, "\ud800\0"])
def test_a_forged_invitation_is_none(store: Store, token: str) -> None:
    invited(store)
    assert ask(store, sessions.invitation, token) is None
    with pytest.raises(ArgumentError) as error:
        change(store, sessions.enter, token)
    assert str(error.value) == UNKNOWN


def test_a_new_invitation_ends_the_one_that_waits_and_no_session(store: Store) -> None:
    secret = change(store, sessions.enter, invited(store))
    second = str(change(store, people.invite, "Ana").token)
    third = str(change(store, people.invite, "Ana").token)
    assert ask(store, sessions.invitation, second) is None
    assert ask(store, sessions.people_with_invitation) == {ask(store, people.everybody)[0].id}
    assert people.find_by_session(store, secret) is not None
    assert people.find_by_session(store, change(store, sessions.enter, third)) is not None
    assert [one.name for one in ask(store, sessions.under_way)] == ["Ana", "Ana"]


def test_a_session_lasts_while_it_is_used_and_no_longer_than_the_longest(
    store: Store, clock: Clock
) -> None:
    began = clock.now
    idle, used = (
        change(store, sessions.enter, invited(store)),
        change(store, sessions.enter, invited(store, "Bo")),
    )
    while clock.now < began + LONGEST - DAY:
        clock.now += DAY
        assert people.find_by_session(store, used) is not None
    assert people.find_by_session(store, idle) is None
    (session,) = ask(store, sessions.under_way)
    assert (session.name, session.seen, session.ends) == ("Bo", clock.now, began + LONGEST)
    clock.now += DAY
    assert people.find_by_session(store, used) is None


def test_a_session_ends_when_it_was_not_used_for_long(store: Store, clock: Clock) -> None:
    secret = change(store, sessions.enter, invited(store))
    clock.now += IDLE_TIMEOUT_S - 1
    assert people.find_by_session(store, secret) is not None  # and is good for as long again
    clock.now += IDLE_TIMEOUT_S - 1
    assert people.find_by_session(store, secret) is not None
    clock.now += IDLE_TIMEOUT_S
    assert people.find_by_session(store, secret) is None


def test_revoking_ends_all_sessions_of_one_person_and_the_invitation_that_waits(
    store: Store,
) -> None:
    mine = (
        change(store, sessions.enter, invited(store)),
        change(store, sessions.enter, str(change(store, people.invite, "Ana").token)),
    )
    waiting, others = (
        str(change(store, people.invite, "Ana").token),
        change(store, sessions.enter, invited(store, "Bo")),
    )
    assert change(store, people.revoke, "Ana") == 2
    assert [people.find_by_session(store, one) for one in mine] == [None, None]
    assert ask(store, sessions.invitation, waiting) is None
    assert people.find_by_session(store, others) is not None
    assert change(store, people.revoke, "Ana") == 0


def test_who_was_retired_is_back_with_a_new_invitation_alone(store: Store) -> None:
    old = invited(store)
    change(store, people.retire, "Ana")
    assert ask(store, sessions.invitation, old) is None
    again = change(store, people.invite, "Ana")
    assert not again.retired
    assert (
        people.find_by_session(store, change(store, sessions.enter, str(again.token))) is not None
    )


@pytest.mark.parametrize("how", ["invitation", "account", "owner's link"])
def test_session_ends_when_someone_else_enters_in_the_same_browser(store: Store, how: str) -> None:
    begin = {
        "invitation": lambda held: change(
            store, sessions.enter, str(change(store, people.invite, "Bo").token), held
        ),
        "account": lambda held: change(store, people.sign_in, "bo@study.example", held),
        "owner's link": lambda held: change(
            store, sessions.begin, ask(store, people.named, "Bo").id, held
        ),
    }[how]
    anas = change(store, sessions.enter, invited(store))
    elsewhere = change(store, sessions.enter, str(change(store, people.invite, "Ana").token))
    add_person(store, "Bo", email="bo@study.example")
    bos = begin(anas)
    assert people.find_by_session(store, anas) is None
    again = begin(bos)  # the same person, whose open pages go on
    found = [people.find_by_session(store, one) for one in (elsewhere, bos, again)]
    assert [one and one.name for one in found] == ["Ana", "Bo", "Bo"]


def test_the_database_keeps_no_secret(sqlite_workspace: Workspace) -> None:
    with Store.open(sqlite_workspace) as store:
        token = invited(store)
        secret = change(store, sessions.enter, token)
        waiting = str(change(store, people.invite, "Ana").token)
    with sqlite3.connect(sqlite_workspace.path(DATABASE_FILE)) as plain:
        dump = "\n".join(plain.iterdump())
    plain.close()
    assert "Ana" in dump
    assert not any(one in dump for one in (token, secret, waiting))
