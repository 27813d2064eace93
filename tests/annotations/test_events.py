"""Events by kind: who may send which, what stands, and what counts as judged."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from sts.annotations import people, reviews, verdicts, views
from sts.annotations.events import ERROR_TYPES, KINDS
from sts.annotations.export import load_ratings
from sts.annotations.store import Store
from sts.storage.workspace import Workspace
from tests.annotations.examples import (
    SUITE,
    a_submission,
    some_items,
    statuses,
)
from tests.annotations.test_submissions import rows
from tests.stores import add_person, add_reference, ask, claim_items, enqueue, submit
from tests.stores import change as in_store_change


def a_team(store: Store, clips: int = 2) -> tuple[int, int, int, list[str]]:
    """Two annotators who disagree about the first of some clips, and a reviewer."""
    enqueue(store, some_items(clips), required=2)
    ana, bo = (add_person(store, name).id for name in ("Ana", "Bo"))
    items = {}
    for person, verdict in ((ana, "success"), (bo, "failure")):
        for claim in claim_items(store, person, suite=SUITE, count=clips):
            items[claim.continuation] = claim.item
            if claim.continuation == "c0":
                submit(store, person, [a_submission(claim, verdict=verdict)])
    rhea = add_person(store, "Rhea", ["annotator", "reviewer"]).id
    return ana, bo, rhea, [items[f"c{n}"] for n in range(clips)]


def an_event(kind: str, item: str, **changes: Any) -> dict[str, Any]:
    fields: dict[str, dict[str, Any]] = {
        "review": {"label": "rigidity"},
        "adjudication": {"verdict": "success", "step": 5},
        "note": {"text": "the ring is behind the door"},
    }
    return {"uuid": uuid4().hex, "item": item, "kind": kind} | fields[kind] | changes


@pytest.mark.parametrize("kind", KINDS[2:])
def test_what_is_no_judgement_counts_as_none(store: Store, kind: str) -> None:
    ana, _, rhea, items = a_team(store)
    before = (
        ask(store, views.progress, SUITE),
        [ask(store, views.count_judged, person) for person in (ana, rhea)],
        ask(store, verdicts.human, ["c0"]),
        ask(store, views.history, ana),
    )
    sent = an_event(kind, items[0])
    assert statuses(submit(store, rhea, [sent, sent])) == ["saved", "duplicate"]
    assert statuses(submit(store, rhea, [sent | {"text": "something else"}])) == ["refused"]
    after = (
        ask(store, views.progress, SUITE),
        [ask(store, views.count_judged, person) for person in (ana, rhea)],
        ask(store, verdicts.human, ["c0"]),
        ask(store, views.history, ana),
    )
    assert after == before and ask(store, views.history, rhea) == []


def test_only_reviewers_review_and_adjudicate(store: Store) -> None:
    ana, _, rhea, items = a_team(store)
    for kind in ("review", "adjudication"):
        [ack] = submit(store, ana, [an_event(kind, items[1])])
        assert ack.status == "refused" and "only reviewers may send" in ack.message
    in_store_change(store, people.set_role, "Rhea", "reviewer", held=False)
    assert statuses(submit(store, rhea, [an_event("review", items[0])])) == ["refused"]
    assert len(rows(store, "events")) == 2


def test_who_judged_a_clip_does_not_adjudicate_it_nor_the_other_way_round(store: Store) -> None:
    ana, _, rhea, items = a_team(store)
    in_store_change(store, people.set_role, "Ana", "reviewer")
    [ack] = submit(store, ana, [an_event("adjudication", items[0])])
    assert ack.message == "this item was judged by this reviewer; leave it to another reviewer"
    [ack] = submit(store, rhea, [an_event("adjudication", items[1])])
    assert ack.message == "this item has no judgements yet"
    enqueue(store, some_items(2), required=3)
    given = claim_items(store, rhea, suite=SUITE, count=2)
    assert {claim.item for claim in given} == set(items)
    assert statuses(submit(store, rhea, [an_event("adjudication", items[0])])) == ["saved"]
    [ack] = submit(store, rhea, [a_submission(items[0])])
    assert "has reviewed this item" in ack.message
    assert statuses(submit(store, rhea, [a_submission(items[1])])) == ["saved"]


def test_a_reference_is_not_adjudicated(store: Store) -> None:
    ana, _, rhea, items = a_team(store)
    add_reference(store, some_items(1)[0], "success", 7)
    [ack] = submit(store, rhea, [an_event("adjudication", items[0])])
    assert ack.message == "this item is a reference, whose verdict is known"


def test_a_note_takes_nothing_out_of_an_annotators_queue(store: Store) -> None:
    ana, _, _, items = a_team(store)
    assert statuses(submit(store, ana, [an_event("note", items[1])])) == ["saved"]
    assert [claim.item for claim in claim_items(store, ana, suite=SUITE)] == [items[1]]
    [note] = ask(store, reviews.load_by_item, "note", SUITE)[items[1]]
    assert (note.by, note.continuation, note.text) == ("Ana", "c1", "the ring is behind the door")


def test_the_last_of_one_person_and_kind_stands(store: Store) -> None:
    _, _, rhea, items = a_team(store)
    max_id = add_person(store, "Max", ["reviewer"]).id
    for label in ERROR_TYPES:
        submit(store, rhea, [an_event("review", items[0], label=label, text=f"it is {label}")])
    submit(store, max_id, [an_event("review", items[0], label="empty")])
    assert [
        (one.by, one.label, one.text)
        for one in ask(store, reviews.load_by_item, "review", SUITE)[items[0]]
    ] == [
        ("Rhea", "fair", "it is fair"),
        ("Max", "empty", ""),
    ]
    assert ask(store, reviews.load_by_item, "review", "other@1") == {} and list(
        ask(store, reviews.load_by_item, "review")
    ) == [items[0]]
    decided: tuple[dict[str, Any], ...] = (
        {"verdict": "not_done", "step": None},
        {"step": 9},
        {"text": "see step 9", "step": 9},
    )
    for who, change in zip((rhea, max_id, max_id), decided, strict=True):
        submit(store, who, [an_event("adjudication", items[0], **change)])
    [(item, one)] = ask(store, reviews.load_adjudications).items()
    assert (item, one.by, one.verdict, one.step, one.text) == (
        *(items[0], "Max", "success", 9, "see step 9"),
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "opinion"}, "expected a kind of verdict, correction, review"),
        ({"kind": 7}, "expected a kind of"),
        ({"kind": "review", "label": "bad"}, "expected a label of imprecise, out_of_time"),
        ({"kind": "note", "text": " "}, "expected a text with a note, found ' '"),
        ({"kind": "note", "text": "x" * 501}, "at most 500 characters, found 501"),
        ({"kind": "adjudication", "verdict": "rigid"}, "expected a verdict of success"),
        ({"kind": "adjudication", "verdict": "success", "step": 41}, "step of 1 to 40"),
        ({"kind": "verdict", "verdict": "success", "step": 1, "corrects": "a" * 32}, "correction"),
        ({"kind": "correction", "verdict": "success", "step": 1}, "expected corrects of 32"),
        ({"kind": "review", "label": "empty", "item": "z" * 22}, "item does not exist"),
    ],
)
def test_an_event_of_no_kind_is_refused_by_name(
    store: Store, change: dict[str, Any], words: str
) -> None:
    _, _, rhea, items = a_team(store)
    enqueue(store, some_items(2), required=3)
    assert len(claim_items(store, rhea, suite=SUITE)) == 2
    [ack] = submit(store, rhea, [{"uuid": uuid4().hex, "item": items[0]} | change])
    assert ack.status == "refused" and words in ack.message
    assert len(rows(store, "events")) == 2


def test_a_correction_does_not_correct_a_note(store: Store) -> None:
    ana, _, _, items = a_team(store)
    note = an_event("note", items[1])
    sent = a_submission(items[1], corrects=note["uuid"])
    assert statuses(submit(store, ana, [note, sent])) == ["saved", "refused"]


def test_an_adjudication_stands_in_every_row_of_its_clip_and_leaves_the_verdicts(
    workspace: Workspace,
) -> None:
    with Store.open(workspace) as store:
        _, _, rhea, items = a_team(store)
        submit(store, rhea, [an_event("adjudication", items[0])])
    table = load_ratings(workspace, SUITE, names=True).fillna(-1)
    columns = ["continuation", "annotator", "verdict", "adjudicated", "adjudicated_step"]
    assert table[columns].to_numpy().tolist() == [
        ["c0", "Ana", "success", "success", 5],
        ["c0", "Bo", "failure", "success", 5],
        ["c1", "", "", "", -1],
    ]
