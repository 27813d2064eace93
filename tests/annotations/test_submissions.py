from __future__ import annotations

import os
import sqlite3
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

from sts.annotations import schema, submissions, views
from sts.annotations.store import Store
from sts.annotations.submissions import Rejection, parse_event
from sts.annotations.types import Claim
from sts.errors import DamagedData, StoreError, UnknownName
from tests.access.attempts import attempt
from tests.annotations.examples import (
    HORIZON,
    SUITE,
    Clock,
    a_submission,
    an_item,
    some_items,
    statuses,
)
from tests.stores import add_person, add_reference, ask, claim_items, enqueue, submit

ITEM = "i" * 22


def given_items(store: Store, number: int = 3) -> tuple[int, list[Claim]]:
    enqueue(store, some_items(number))
    ana = add_person(store, "Ana")
    return ana.id, claim_items(store, ana.id, suite=SUITE, count=number)


def rows(store: Store, table: str) -> list[Any]:
    with store.database.read() as connection:
        return list(connection.execute(select(schema.metadata.tables[table])))


def test_sending_again_is_acknowledged_and_kept_once(store: Store) -> None:
    ana, claims = given_items(store)
    outbox = [a_submission(claim) for claim in claims[:2]]
    assert statuses(submit(store, ana, outbox)) == ["saved", "saved"]
    outbox.append(a_submission(claims[2], verdict="not_done", step=None))
    assert statuses(submit(store, ana, outbox + outbox)) == (
        ["duplicate", "duplicate", "saved"] + ["duplicate"] * 3
    )
    assert len(rows(store, "events")) == 3


def test_every_field_is_kept_as_sent(store: Store) -> None:
    ana, [claim, *_] = given_items(store)
    sent = a_submission(claim, watched=0.25, seconds=3, extra=1, source="me", agent="x")
    submit(store, ana, [sent])
    [event] = rows(store, "events")
    kept = (event.uuid, event.item, event.verdict, event.step, event.watched, event.seconds)
    assert kept == (sent["uuid"], claim.item, "success", 7, 0.25, 3.0)
    assert (event.extra, event.source, event.corrects) == (0, "browser", None)


def test_a_correction_is_a_new_event_and_the_last_one_stands(store: Store, clock: Clock) -> None:
    ana, [first, second, _] = given_items(store)
    sent = a_submission(first)
    corrected = a_submission(first, verdict="failure", step=9, corrects=sent["uuid"])
    assert statuses(submit(store, ana, [sent, a_submission(second), corrected])) == ["saved"] * 3
    assert [(j.continuation, j.verdict, j.step) for j in ask(store, views.history, ana)] == [
        (first.continuation, "failure", 9),
        (second.continuation, "success", 7),
    ]
    assert ask(store, views.history, ana, 1)[0].uuid == corrected["uuid"]
    assert [event.verdict for event in rows(store, "events")] == ["success", "success", "failure"]
    assert ask(store, views.progress, SUITE).judged == 2


@attempt("Another's clip, another's answer", "a correction of what somebody else said", "refused")
def test_a_correction_names_an_own_earlier_event_of_the_same_item(store: Store) -> None:
    ana, [first, second, _] = given_items(store)
    enqueue(store, some_items(3), required=2)
    bo = add_person(store, "Bo").id
    theirs = a_submission(claim_items(store, bo, suite=SUITE, count=3)[0])
    mine = a_submission(first)
    submit(store, bo, [theirs])
    submit(store, ana, [mine])
    wrong = [
        a_submission(first, corrects=uuid4().hex),
        a_submission(second, corrects=mine["uuid"]),
        a_submission(first, corrects=theirs["uuid"]),
        a_submission(first, corrects="x"),
    ]
    assert statuses(submit(store, ana, wrong)) == ["refused"] * 4
    assert len(rows(store, "events")) == 2


def test_another_judgement_under_a_used_uuid_is_refused_and_kept_aside(store: Store) -> None:
    ana, [claim, *_] = given_items(store)
    sent = a_submission(claim)
    submit(store, ana, [sent])
    [ack] = submit(store, ana, [sent | {"verdict": "failure"}])
    assert ack.status == "refused" and "use a new uuid" in ack.message
    assert [row.message for row in rows(store, "refused")] == [ack.message]
    assert rows(store, "events")[0].verdict == "success"


def test_two_annotators_may_use_one_uuid(store: Store) -> None:
    ana, claims = given_items(store)
    enqueue(store, some_items(3), required=2)
    bo = add_person(store, "Bo").id
    claim_items(store, bo, suite=SUITE, count=3)
    sent = a_submission(claims[0])
    assert statuses(submit(store, ana, [sent]) + submit(store, bo, [sent])) == ["saved", "saved"]


@attempt(
    "Another's clip, another's answer",
    "a verdict on a clip that was given to somebody else",
    "refused, and kept aside",
)
def test_an_item_of_somebody_else_is_refused(store: Store) -> None:
    _, claims = given_items(store)
    bo = add_person(store, "Bo").id
    [ack] = submit(store, bo, [a_submission(claims[0])])
    assert ack.message == "item was never assigned to this annotator"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"uuid": "ab"}, "expected uuid of 32 hexadecimal digits, found 'ab'"),
        ({"uuid": None}, "expected uuid .* found nothing"),
        ({"uuid": "A" * 32}, "expected uuid"),
        ({"uuid": "a" * 32 + "\n"}, "expected uuid"),
        ({"item": 3}, "expected item of an item identifier, found 3"),
        ({"item": "j" * 22}, "never assigned"),
        ({"verdict": "passed"}, "expected a verdict of success, failure, .* found 'passed'"),
        ({"verdict": ["success"]}, "expected a verdict"),
        ({"step": None}, "expected a step of 1 to 40, counted from takeover, found nothing"),
        ({"step": 0}, "expected a step"),
        ({"step": -3}, "expected a step"),
        ({"step": 41}, "expected a step"),
        ({"step": 10**400}, "expected a step"),
        ({"step": True}, "expected a step"),
        ({"step": "7"}, "expected a step"),
        ({"step": 7.0}, "expected a step"),
        ({"verdict": "not_done"}, "expected no step with not_done, found 7"),
        ({"verdict": "cannot_judge"}, "expected no step with cannot_judge"),
        ({"verdict": "cannot_judge", "step": None}, "expected a reason"),
        ({"verdict": "cannot_judge", "step": None, "reason": " \n"}, "expected a reason"),
        ({"verdict": "cannot_judge", "step": None, "reason": 5}, "expected a reason"),
        ({"verdict": "cannot_judge", "step": None, "reason": "x" * 501}, "at most 500"),
        ({"watched": 1.01}, "expected watched between 0 and 1, found 1.01"),
        ({"watched": -0.1}, "expected watched"),
        ({"watched": True}, "expected watched"),
        ({"watched": float("nan")}, "expected watched"),
        ({"seconds": -1}, "expected seconds"),
        ({"seconds": float("inf")}, "expected seconds"),
        ({"seconds": 10**400}, "expected seconds"),
        ({"seconds": "4"}, "expected seconds"),
        ({"corrects": 4}, "expected corrects"),
    ],
)
def test_a_wrong_field_is_refused_by_name(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(Rejection, match=words):
        parse_event(a_submission(ITEM, **changes), {ITEM: HORIZON})


@pytest.mark.parametrize("step", [1, HORIZON])
def test_the_first_and_the_last_step_can_be_marked(step: int) -> None:
    assert parse_event(a_submission(ITEM, step=step), {ITEM: HORIZON}).step == step


def test_whatever_a_browser_sends_is_answered_and_kept_aside_once(store: Store) -> None:
    ana = add_person(store, "Ana").id
    messages: list[object] = [None, 3, "x", [], {}, [1], {"a": "\ud800"}, a_submission("\ud800")]
    for sent in (*messages[:3], messages, messages[4]):
        acks = submit(store, ana, sent)
        assert statuses(acks) == ["refused"] * (len(messages) if sent is messages else 1)
    assert len(rows(store, "refused")) == len(messages)
    assert rows(store, "events") == []


def test_what_is_kept_aside_is_capped(store: Store) -> None:
    ana = add_person(store, "Ana").id
    submit(store, ana, [{"uuid": "x" * 100_000}])
    assert len(rows(store, "refused")[0].raw) == 4096


def test_refused_answers_of_one_person_have_a_limit_and_hinder_no_good_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "REFUSED_LIMIT", 3)
    ana, [claim, *_] = given_items(store)
    bo = add_person(store, "Bo").id
    acks = submit(store, ana, [{"uuid": str(i)} for i in range(9)])
    assert statuses(acks) == ["refused"] * 9 and all(ack.message for ack in acks)
    assert statuses(submit(store, ana, [a_submission(claim)])) == ["saved"]
    assert statuses(submit(store, bo, [{"uuid": "0"}])) == ["refused"]
    assert [(one.annotator, one.raw) for one in ask(store, submissions.refused_answers)] == [
        *(("Ana", f'{{"uuid": "{i}"}}') for i in range(3)),
        ("Bo", '{"uuid": "0"}'),
    ]


def test_a_message_of_too_many_answers_is_looked_at_as_far_as_the_limit(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "MAX_SUBMISSIONS", 1)
    ana, [first, second, _] = given_items(store)
    sent = [a_submission(first), a_submission(second)]
    acks = submit(store, ana, sent)
    assert [(ack.uuid, ack.status) for ack in acks] == [
        (sent[0]["uuid"], "saved"),
        (sent[1]["uuid"], "refused"),
    ]
    assert "at most 1 submissions in one request" in acks[1].message
    assert statuses(submit(store, ana, sent[1:])) == ["saved"]


def test_what_is_nested_beyond_reading_is_refused_like_anything_else(store: Store) -> None:
    ana = add_person(store, "Ana").id
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for sent in (deep, [{"uuid": deep}], [{"uuid": "a" * 32, "item": "b" * 22, "step": deep}]):
        assert statuses(submit(store, ana, sent)) == ["refused"]
    assert ask(store, submissions.refused_answers)


@pytest.mark.parametrize("steps", [2**31, 2**63, 2**70])
@pytest.mark.parametrize("column", ["horizon", "takeover"])
def test_steps_that_no_column_holds_are_one_line(store: Store, column: str, steps: int) -> None:
    for put in (partial(enqueue, store), lambda items: add_reference(store, items[0], "not_done")):
        with pytest.raises(DamagedData, match="expected a horizon of 1 to 2147483647 steps"):
            put([an_item("c", **{column: steps})])


def test_a_reason_that_no_database_can_hold_is_kept_readable(store: Store) -> None:
    ana, [first, second, _] = given_items(store)
    reasons = ["the map\0 is \ud800 dark\n\u00e9", "\0\ud800"]
    sent = [
        a_submission(claim, verdict="cannot_judge", step=None, reason=reason)
        for claim, reason in zip([first, second], reasons, strict=True)
    ]
    assert statuses(submit(store, ana, sent)) == ["saved", "saved"]
    kept = [judgement.reason for judgement in ask(store, views.history, ana)]
    assert kept == ["\ufffd", "the map  is   dark \u00e9"]
    assert statuses(submit(store, ana, sent)) == ["duplicate", "duplicate"]


def test_nothing_sent_is_nothing_acknowledged(store: Store) -> None:
    assert submit(store, add_person(store, "Ana").id, []) == []


def test_an_unknown_annotator_is_refused(store: Store) -> None:
    with pytest.raises(UnknownName, match="annotator number '77'"):
        submit(store, 77, [])


def test_a_reference_is_never_extra(workspace: Any) -> None:
    workspace.settings["annotation"]["reference_rate"] = 1
    with Store.open(workspace) as store:
        add_reference(store, an_item("r"), "success", 3)
        for name in ("Ana", "Bo"):
            person = add_person(store, name).id
            [claim] = claim_items(store, person, suite=SUITE)
            assert statuses(submit(store, person, [a_submission(claim)])) == ["saved"]


def test_the_database_refuses_to_change_or_delete_an_event(store: Store) -> None:
    ana, [claim, *_] = given_items(store)
    submit(store, ana, [a_submission(claim)])
    statements = ["UPDATE events SET step = 2", "DELETE FROM events"]
    if os.environ.get("STS_DATABASE_URL"):
        statements.append("TRUNCATE events")
    for statement in statements:
        with pytest.raises((StoreError, IntegrityError), match="append-only"):
            with store.database.write() as connection:
                connection.execute(text(statement))
    assert rows(store, "events")[0].step == 7


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
fields = st.fixed_dictionaries(
    {},
    optional={
        "uuid": st.just("a" * 32) | json_values,
        "item": st.just(ITEM) | json_values,
        "verdict": st.sampled_from(["success", "not_done", "cannot_judge"]) | json_values,
        "step": st.integers(-2, HORIZON + 2) | json_values,
        "reason": json_values,
        "watched": json_values,
        "seconds": json_values,
        "corrects": json_values,
        "other": json_values,
    },
)


@given(fields | json_values)
@settings(max_examples=300, deadline=None)
def test_a_checked_submission_fits_the_table_and_everything_else_is_a_refusal(sent: Any) -> None:
    try:
        kept = parse_event(sent, {ITEM: HORIZON})
    except Rejection as refusal:
        assert str(refusal).isprintable() and len(str(refusal)) < 200
        return
    assert (kept.step is not None) == (kept.verdict in ("success", "failure"))
    assert kept.step is None or (type(kept.step) is int and 1 <= kept.step <= HORIZON)
    assert bool(kept.reason) == (kept.verdict == "cannot_judge") and len(kept.reason) <= 500
    with sqlite3.connect(":memory:") as plain:
        plain.execute("SELECT ?, ?, ?, ?, ?", (kept.uuid, kept.reason, kept.step, *kept[5:7]))
    plain.close()
