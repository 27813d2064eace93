"""Decisions about drafts: chained, never overruled unseen, and undone without limit."""

import sqlite3
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.presence import DATABASE_FILE
from sts.annotations.log import decisions
from sts.annotations.log.decisions import DecisionConflict
from sts.errors import DamagedData, StoreError
from sts.suites.decisions import CandidateState, Decision, apply_decision, fold_decisions
from tests.stores import add_person, ask, change

DRAFT = "d" * 32
UNDECIDED = CandidateState()


def decision(number: int, kind: str = "accept", follows: int | str = "", **more: Any) -> Decision:
    """Return the decision with the uuid of `number`, about the candidate walk-01 by default."""
    detail: dict[str, Any] = {
        key: more.pop(key) for key in ("reason", "undoes", "rating") if key in more
    }
    one = Decision(uuid(number), "walk-01", kind, 1, "", "", detail, 1000.0 + number)
    return one._replace(follows=uuid(follows) if follows else "", **more)


def uuid(number: int | str) -> str:
    return f"{number:032x}" if isinstance(number, int) else number


def decide(store: AnnotationStore, made: list[Decision]) -> list[Decision]:
    return change(store, decisions.append_decisions, DRAFT, made)


def load_draft_decisions(store: AnnotationStore) -> list[Decision]:
    return ask(store, decisions.load_decisions, DRAFT)


def state_of(store: AnnotationStore) -> CandidateState:
    return fold_decisions(load_draft_decisions(store))["walk-01"]


def ratings(store: AnnotationStore) -> dict[str, str]:
    return state_of(store).ratings


@pytest.fixture
def curators(store: AnnotationStore) -> AnnotationStore:
    add_person(store, "Ana", ("curator",))
    add_person(store, "Ben", ("curator",))
    return store


def test_decisions_are_listed_in_order_with_their_authors(curators) -> None:
    made = [
        decision(1, "reject", reason="empty"),
        decision(2, candidate="walk-02", person=2),
        decision(3, "edit", 1, scenario="ab", detail={"changes": {"takeover": 12}}),
    ]
    saved = [*decide(curators, made[:2]), *decide(curators, made[2:])]
    authors = zip(saved, ("Ana", "Ben", "Ana"), strict=True)
    assert load_draft_decisions(curators) == [one._replace(by=name) for one, name in authors]
    assert [one.number for one in saved] == [1, 2, 3]
    found = fold_decisions(load_draft_decisions(curators))
    assert (found["walk-01"].status, found["walk-01"].reason) == ("rejected", "empty")
    assert (found["walk-01"].scenario, found["walk-02"].status) == ("ab", "accepted")
    assert ask(curators, decisions.load_decisions, "e" * 32) == []


def test_decision_that_was_not_seen_is_not_overruled(curators) -> None:
    decide(curators, [decision(1)])
    late = decision(2, "reject", person=2, reason="empty")
    words = r"walk-01 has changed .* it is now accepted by Ana; reload"
    with pytest.raises(DecisionConflict, match=words):
        decide(curators, [decision(3, candidate="walk-02"), late])
    assert len(load_draft_decisions(curators)) == 1  # all or none
    decide(curators, [late._replace(follows=uuid(1))])
    assert state_of(curators).status == "rejected"


def test_decision_sent_again_is_kept_once(curators) -> None:
    first = decide(curators, [decision(1)])
    decide(curators, [decision(2, "reject", 1)])
    assert [d._replace(by="") for d in decide(curators, [decision(1)])] == first
    assert len(load_draft_decisions(curators)) == 2
    with pytest.raises(StoreError, match="already belongs to another decision"):
        decide(curators, [decision(1, "reject")])


def test_undoing_is_a_decision_and_has_no_limit(curators) -> None:
    decide(curators, [decision(1), decision(2, "reject", 1, reason="empty")])
    with pytest.raises(StoreError, match="expected the latest decision to undo"):
        decide(curators, [decision(3, "undo", 2, undoes=uuid(1))])
    decide(curators, [decision(3, "undo", 2, undoes=uuid(2))])
    assert state_of(curators).status == "accepted"
    decide(curators, [decision(4, "undo", 3, undoes=uuid(1), person=2)])
    state = state_of(curators)
    assert (state.status, state.by, state.last) == ("undecided", "", uuid(4))
    decide(curators, [decision(5, "accept", 4)])
    assert len(load_draft_decisions(curators)) == 5


def test_rating_neither_changes_nor_blocks_a_decision(curators) -> None:
    decide(curators, [decision(1)])
    decide(curators, [decision(2, "rating", person=2, rating="no")])
    decide(curators, [decision(3, "reject", 1, reason="empty")])
    state = state_of(curators)
    assert (state.status, state.last, state.ratings) == ("rejected", uuid(3), {"Ben": "no"})
    with pytest.raises(StoreError, match="expected a rating of yes or no"):
        decide(curators, [decision(4, "rating", rating="perhaps")])


def test_later_rating_of_a_person_replaces_their_earlier_one(curators) -> None:
    for number, (person, word) in enumerate([(1, "yes"), (2, "no"), (1, "no")], 1):
        decide(curators, [decision(number, "rating", person=person, rating=word)])
    assert ratings(curators) == {"Ana": "no", "Ben": "no"}
    with pytest.raises(StoreError, match="expected the latest decision to undo"):  # it is Ana's
        decide(curators, [decision(4, "undo", person=2, undoes=uuid(3))])
    decide(curators, [decision(4, "undo", undoes=uuid(3))])
    assert ratings(curators) == {"Ana": "yes", "Ben": "no"}
    decide(curators, [decision(5, "undo", undoes=uuid(1))])
    assert ratings(curators) == {"Ben": "no"}
    with pytest.raises(StoreError, match="expected the latest decision to undo"):
        decide(curators, [decision(6, "undo", undoes=uuid(1))])
    assert state_of(curators).last == ""


def test_rating_counts_for_the_version_that_was_seen(curators) -> None:
    decide(curators, [decision(1, "rating", person=2, rating="no")])
    decide(curators, [decision(2, "edit", scenario="ab")])
    assert ratings(curators) == {}
    late = decision(3, "rating", person=2, rating="yes")
    with pytest.raises(DecisionConflict, match="walk-01 has changed since you saw it"):
        decide(curators, [late])
    decide(curators, [late._replace(scenario="ab")])
    assert ratings(curators) == {"Ben": "yes"}
    decide(curators, [decision(4, "undo", 2, undoes=uuid(2))])
    assert ratings(curators) == {"Ben": "no"}


def test_rating_remains_when_an_edit_leaves_the_question_unchanged(curators) -> None:
    decide(curators, [decision(1, "rating", person=2, rating="no")])
    tagged = {"changes": {"tags": ["wrap"]}}
    decide(curators, [decision(2, "edit", scenario="ab", detail=tagged)])
    decide(curators, [decision(3, "rating", rating="yes")])
    assert ratings(curators) == {"Ben": "no", "Ana": "yes"}
    longer = {"changes": {"tags": [], "length": 12}}
    decide(curators, [decision(4, "edit", 2, scenario="cd", detail=longer)])
    assert ratings(curators) == {}
    decide(curators, [decision(5, "edit", 4, scenario="ef", detail=tagged)])
    decide(curators, [decision(6, "rating", scenario="cd", rating="yes")])
    assert ratings(curators) == {"Ana": "yes"}


def test_one_of_two_simultaneous_decisions_is_refused(curators) -> None:
    barrier, outcomes = threading.Barrier(2, timeout=60), list[Any]()

    def work(person: int) -> None:
        barrier.wait()
        try:
            outcomes.append(decide(curators, [decision(person, person=person)]))
        except DecisionConflict as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=work, args=(person,)) for person in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(type(one) is str for one in outcomes) == [False, True]
    assert len(load_draft_decisions(curators)) == 1


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
def test_altered_or_missing_decision_is_found(sqlite_workspace, harm) -> None:
    with AnnotationStore.open(sqlite_workspace) as store:
        for name in ("Ana", "Ben"):
            add_person(store, name)
        decide(store, [decision(1), decision(2, "reject", 1), decision(3, "accept", 2)])
    with sqlite3.connect(sqlite_workspace.path(DATABASE_FILE)) as plain:
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            plain.execute(harm)
        plain.execute("DROP TRIGGER decisions_are_never_updated")
        plain.execute("DROP TRIGGER decisions_are_never_deleted")
        plain.execute(harm)
    plain.close()
    with (
        AnnotationStore.open(sqlite_workspace) as store,
        pytest.raises(DamagedData, match="was altered"),
    ):
        ask(store, decisions.load_decisions, DRAFT)


@given(st.lists(st.sampled_from(["accept", "reject", "retire", "edit"]), max_size=8))
def test_undoing_every_decision_restores_the_candidate(kinds) -> None:
    path = [UNDECIDED]
    for number, kind in enumerate(kinds, 1):
        scenario = f"{number}" if kind == "edit" else ""
        path.append(apply_decision(path[-1], decision(number, kind, scenario=scenario)))
    state = path[-1]
    for number, before in enumerate(reversed(path[:-1]), len(kinds) + 1):
        state = apply_decision(state, decision(number, "undo"))
        assert state == CandidateState(**{**vars(before), "last": state.last})
