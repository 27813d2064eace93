"""Decisions about drafts: chained, none overlooked, undone without end."""

from __future__ import annotations

import sqlite3
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts.annotations import decisions
from sts.annotations.decisions import Overtaken
from sts.annotations.store import DATABASE_FILE, Store
from sts.errors import DamagedData, StoreError
from sts.storage.workspace import Workspace
from sts.suites.decisions import Decision, State, after, states
from tests.stores import add_person, ask, change

DRAFT = "d" * 32
UNDECIDED = State()


def decision(number: int, kind: str = "accept", follows: int | str = "", **more: Any) -> Decision:
    """The decision whose uuid is that of `number`, about the candidate walk-01 unless told."""
    told = ("reason", "undoes", "opinion")
    detail: dict[str, Any] = {key: more.pop(key) for key in told if key in more}
    one = Decision(uuid(number), "walk-01", kind, 1, "", "", detail, 1000.0 + number)
    return one._replace(follows=uuid(follows) if follows else "", **more)


def uuid(number: int | str) -> str:
    return f"{number:032x}" if isinstance(number, int) else number


@pytest.fixture
def curators(store: Store) -> Store:
    add_person(store, "Ana", ("curator",))
    add_person(store, "Ben", ("curator",))
    return store


def test_decisions_come_back_in_their_order_with_who_made_them(curators: Store) -> None:
    made = [
        decision(1, "reject", reason="empty"),
        decision(2, candidate="walk-02", person=2),
        decision(3, "edit", 1, scenario="ab", detail={"changes": {"takeover": 12}}),
    ]
    kept = [
        *change(curators, decisions.append, DRAFT, made[:2]),
        *change(curators, decisions.append, DRAFT, made[2:]),
    ]
    assert ask(curators, decisions.of_draft, DRAFT) == [
        k._replace(by=b) for k, b in zip(kept, ("Ana", "Ben", "Ana"), strict=True)
    ]
    assert [one.number for one in kept] == [1, 2, 3]
    found = states(ask(curators, decisions.of_draft, DRAFT))
    assert (found["walk-01"].status, found["walk-01"].reason) == ("rejected", "empty")
    assert (found["walk-01"].scenario, found["walk-02"].status) == ("ab", "accepted")
    assert ask(curators, decisions.of_draft, "e" * 32) == []


def test_what_was_decided_since_is_not_overruled_unseen(curators: Store) -> None:
    change(curators, decisions.append, DRAFT, [decision(1)])
    late = decision(2, "reject", person=2, reason="empty")
    with pytest.raises(
        Overtaken, match=r"walk-01 has changed .* it is now accepted by Ana; reload"
    ):
        change(curators, decisions.append, DRAFT, [decision(3, candidate="walk-02"), late])
    assert len(ask(curators, decisions.of_draft, DRAFT)) == 1  # all or none
    change(curators, decisions.append, DRAFT, [late._replace(follows=uuid(1))])
    assert states(ask(curators, decisions.of_draft, DRAFT))["walk-01"].status == "rejected"


def test_a_decision_that_is_sent_again_is_kept_once(curators: Store) -> None:
    first = change(curators, decisions.append, DRAFT, [decision(1)])
    change(curators, decisions.append, DRAFT, [decision(2, "reject", 1)])
    assert [
        d._replace(by="") for d in change(curators, decisions.append, DRAFT, [decision(1)])
    ] == first
    assert len(ask(curators, decisions.of_draft, DRAFT)) == 2
    with pytest.raises(StoreError, match="already belongs to another decision"):
        change(curators, decisions.append, DRAFT, [decision(1, "reject")])


def test_undoing_goes_back_without_end_and_is_a_decision_itself(curators: Store) -> None:
    change(
        curators, decisions.append, DRAFT, [decision(1), decision(2, "reject", 1, reason="empty")]
    )
    with pytest.raises(StoreError, match="expected the latest decision to undo"):
        change(curators, decisions.append, DRAFT, [decision(3, "undo", 2, undoes=uuid(1))])
    change(curators, decisions.append, DRAFT, [decision(3, "undo", 2, undoes=uuid(2))])
    assert states(ask(curators, decisions.of_draft, DRAFT))["walk-01"].status == "accepted"
    change(curators, decisions.append, DRAFT, [decision(4, "undo", 3, undoes=uuid(1), person=2)])
    state = states(ask(curators, decisions.of_draft, DRAFT))["walk-01"]
    assert (state.status, state.by, state.last) == ("undecided", "", uuid(4))
    change(curators, decisions.append, DRAFT, [decision(5, "accept", 4)])
    assert len(ask(curators, decisions.of_draft, DRAFT)) == 5


def opinions(store: Store) -> dict[str, str]:
    return states(ask(store, decisions.of_draft, DRAFT))["walk-01"].opinions


def test_an_opinion_changes_nothing_and_stands_in_nobodys_way(curators: Store) -> None:
    change(curators, decisions.append, DRAFT, [decision(1)])
    change(curators, decisions.append, DRAFT, [decision(2, "opinion", person=2, opinion="no")])
    change(curators, decisions.append, DRAFT, [decision(3, "reject", 1, reason="empty")])
    state = states(ask(curators, decisions.of_draft, DRAFT))["walk-01"]
    assert (state.status, state.last, state.opinions) == ("rejected", uuid(3), {"Ben": "no"})
    with pytest.raises(StoreError, match="expected an opinion of yes or no"):
        change(curators, decisions.append, DRAFT, [decision(4, "opinion", opinion="perhaps")])


def test_a_later_opinion_of_one_person_takes_the_place_of_theirs(curators: Store) -> None:
    for number, (person, word) in enumerate([(1, "yes"), (2, "no"), (1, "no")], 1):
        change(
            curators,
            decisions.append,
            DRAFT,
            [decision(number, "opinion", person=person, opinion=word)],
        )
    assert opinions(curators) == {"Ana": "no", "Ben": "no"}
    with pytest.raises(StoreError, match="expected the latest decision to undo"):  # it is Ana's
        change(curators, decisions.append, DRAFT, [decision(4, "undo", person=2, undoes=uuid(3))])
    change(curators, decisions.append, DRAFT, [decision(4, "undo", undoes=uuid(3))])
    assert opinions(curators) == {"Ana": "yes", "Ben": "no"}
    change(curators, decisions.append, DRAFT, [decision(5, "undo", undoes=uuid(1))])
    assert opinions(curators) == {"Ben": "no"}
    with pytest.raises(StoreError, match="expected the latest decision to undo"):
        change(curators, decisions.append, DRAFT, [decision(6, "undo", undoes=uuid(1))])
    assert states(ask(curators, decisions.of_draft, DRAFT))["walk-01"].last == ""


def test_an_opinion_is_about_what_was_seen(curators: Store) -> None:
    change(curators, decisions.append, DRAFT, [decision(1, "opinion", person=2, opinion="no")])
    change(curators, decisions.append, DRAFT, [decision(2, "edit", scenario="ab")])
    assert opinions(curators) == {}
    late = decision(3, "opinion", person=2, opinion="yes")
    with pytest.raises(Overtaken, match="walk-01 has changed since you saw it"):
        change(curators, decisions.append, DRAFT, [late])
    change(curators, decisions.append, DRAFT, [late._replace(scenario="ab")])
    assert opinions(curators) == {"Ben": "yes"}
    change(curators, decisions.append, DRAFT, [decision(4, "undo", 2, undoes=uuid(2))])
    assert opinions(curators) == {"Ben": "no"}


def test_an_opinion_outlives_what_leaves_the_question_as_it_is(curators: Store) -> None:
    change(curators, decisions.append, DRAFT, [decision(1, "opinion", person=2, opinion="no")])
    tagged = {"changes": {"tags": ["wrap"]}}
    change(curators, decisions.append, DRAFT, [decision(2, "edit", scenario="ab", detail=tagged)])
    change(curators, decisions.append, DRAFT, [decision(3, "opinion", opinion="yes")])
    assert opinions(curators) == {"Ben": "no", "Ana": "yes"}
    longer = {"changes": {"tags": [], "length": 12}}
    change(
        curators, decisions.append, DRAFT, [decision(4, "edit", 2, scenario="cd", detail=longer)]
    )
    assert opinions(curators) == {}
    change(
        curators, decisions.append, DRAFT, [decision(5, "edit", 4, scenario="ef", detail=tagged)]
    )
    change(
        curators, decisions.append, DRAFT, [decision(6, "opinion", scenario="cd", opinion="yes")]
    )
    assert opinions(curators) == {"Ana": "yes"}


def test_of_two_that_decide_at_once_one_is_told(curators: Store) -> None:
    barrier, outcomes = threading.Barrier(2, timeout=60), list[Any]()

    def decide(person: int) -> None:
        barrier.wait()
        try:
            outcomes.append(
                change(curators, decisions.append, DRAFT, [decision(person, person=person)])
            )
        except Overtaken as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=decide, args=(person,)) for person in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(type(one) is str for one in outcomes) == [False, True]
    assert len(ask(curators, decisions.of_draft, DRAFT)) == 1


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE decisions SET kind = 'retire' WHERE number = 2",
        "UPDATE decisions SET annotator = 2 WHERE number = 1",
        'UPDATE decisions SET detail = \'{"reason": "x"}\' WHERE number = 3',
        "UPDATE decisions SET detail = '{' WHERE number = 1",
        "DELETE FROM decisions WHERE number = 2",
    ],
)
def test_an_altered_or_missing_decision_is_found(sqlite_workspace: Workspace, harm: str) -> None:
    with Store.open(sqlite_workspace) as store:
        for name in ("Ana", "Ben"):
            add_person(store, name)
        change(
            store,
            decisions.append,
            DRAFT,
            [decision(1), decision(2, "reject", 1), decision(3, "accept", 2)],
        )
    with sqlite3.connect(sqlite_workspace.path(DATABASE_FILE)) as plain:
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            plain.execute(harm)
        plain.execute("DROP TRIGGER decisions_are_never_updated")
        plain.execute("DROP TRIGGER decisions_are_never_deleted")
        plain.execute(harm)
    plain.close()
    with Store.open(sqlite_workspace) as store, pytest.raises(DamagedData, match="was altered"):
        ask(store, decisions.of_draft, DRAFT)


@given(st.lists(st.sampled_from(["accept", "reject", "retire", "edit"]), max_size=8))
def test_undoing_all_of_it_leaves_a_candidate_as_it_was(kinds: list[str]) -> None:
    path = [UNDECIDED]
    for number, kind in enumerate(kinds, 1):
        scenario = f"{number}" if kind == "edit" else ""
        path.append(after(path[-1], decision(number, kind, scenario=scenario)))
    state = path[-1]
    for number, before in enumerate(reversed(path[:-1]), len(kinds) + 1):
        state = after(state, decision(number, "undo"))
        assert state == State(**{**vars(before), "last": state.last})
