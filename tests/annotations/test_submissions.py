"""Submissions of pages: verdicts, corrections, reviews, adjudications and notes."""

import os
import sqlite3
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from sts.annotations.answers import imports, progress, review_events, submissions, verdicts
from sts.annotations.answers.imports import read_ratings
from sts.annotations.answers.review_events import ERRORS
from sts.annotations.answers.submissions import Rejection, parse_event
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings.export import export_ratings
from sts.annotations.log.events import KINDS
from sts.annotations.people import people
from sts.annotations.queue import balance
from sts.annotations.records import Claim
from sts.annotations.vault.history import verify
from sts.errors import DamagedData, StoreError, UnknownName
from tests.access.attempts import attempt
from tests.annotations.examples import (
    HORIZON,
    SUITE,
    a_submission,
    add_people,
    an_event,
    an_item,
    claim,
    rows,
    some_items,
    statuses,
)
from tests.stores import add_person, add_reference, ask, change, enqueue, submit

ITEM = "i" * 22
NOT_DONE: dict[str, Any] = {"verdict": "not_done", "step": None}


@pytest.fixture
def ana(store) -> int:
    """A person for whom three clips are enqueued."""
    enqueue(store, some_items(3))
    return add_people(store, "Ana")[0]


@pytest.fixture
def claims(store, ana) -> list[Claim]:
    """The three clips, claimed by Ana."""
    return claim(store, ana)


@pytest.fixture
def bo(store, claims) -> int:
    """A second annotator of the same clips, who has claimed them too."""
    enqueue(store, some_items(3), required=2)
    (number,) = add_people(store, "Bo")
    claim(store, number)
    return number


@pytest.fixture
def items(store, ana, bo, claims) -> list[str]:
    """The clips' items; Ana and Bo disagree about the first."""
    every = sorted(claims, key=lambda one: one.continuation)
    submit(store, ana, [a_submission(every[0])])
    submit(store, bo, [a_submission(every[0], verdict="failure")])
    return [one.item for one in every]


@pytest.fixture
def rhea(store, items) -> int:
    """A reviewer who also judges."""
    return add_person(store, "Rhea", ["annotator", "reviewer"]).id


def test_answer_sent_again_is_acknowledged_and_kept_once(store, ana, claims) -> None:
    outbox = [a_submission(one) for one in claims[:2]]
    assert statuses(submit(store, ana, outbox)) == ["saved", "saved"]
    outbox.append(a_submission(claims[2], **NOT_DONE))
    assert statuses(submit(store, ana, outbox + outbox)) == (
        ["duplicate", "duplicate", "saved"] + ["duplicate"] * 3
    )
    assert len(rows(store, "events")) == 3 and submit(store, ana, []) == []


def test_every_field_is_kept_as_sent(store, ana, claims) -> None:
    sent = a_submission(claims[0], watched=0.25, seconds=3, extra=1, source="me", agent="x")
    submit(store, ana, [sent])
    [event] = rows(store, "events")
    kept = (event.uuid, event.item, event.verdict, event.step, event.watched, event.seconds)
    assert kept == (sent["uuid"], claims[0].item, "success", 7, 0.25, 3.0)
    assert (event.extra, event.source, event.corrects) == (0, "browser", None)


def test_correction_is_a_new_event_and_the_last_one_counts(store, ana, claims) -> None:
    first, second, _ = claims
    sent = a_submission(first)
    corrected = a_submission(first, verdict="failure", step=9, corrects=sent["uuid"])
    assert statuses(submit(store, ana, [sent, a_submission(second), corrected])) == ["saved"] * 3
    assert [
        (j.continuation, j.verdict, j.step)
        for j in ask(store, progress.load_recent_judgements, ana)
    ] == [
        (first.continuation, "failure", 9),
        (second.continuation, "success", 7),
    ]
    assert ask(store, progress.load_recent_judgements, ana, 1)[0].uuid == corrected["uuid"]
    assert [event.verdict for event in rows(store, "events")] == ["success", "success", "failure"]
    assert ask(store, progress.load_progress, SUITE).judged == 2


@attempt("Another's clip, another's answer", "a correction of what somebody else said", "rejected")
def test_correction_names_an_own_earlier_verdict_on_the_same_item(store, ana, bo, claims) -> None:
    first, second, third = claims
    theirs, mine, note = a_submission(first), a_submission(first), an_event("note", third.item)
    submit(store, bo, [theirs])
    submit(store, ana, [mine, note])
    wrong = [
        a_submission(first, corrects=uuid4().hex),
        a_submission(second, corrects=mine["uuid"]),
        a_submission(first, corrects=theirs["uuid"]),
        a_submission(first, corrects="x"),
        a_submission(third, corrects=note["uuid"]),
    ]
    assert statuses(submit(store, ana, wrong)) == ["rejected"] * 5
    assert len(rows(store, "events")) == 3


def test_used_uuid_is_refused_for_another_answer_of_the_same_person(store, ana, bo, claims) -> None:
    sent = a_submission(claims[0])
    assert statuses(submit(store, ana, [sent]) + submit(store, bo, [sent])) == ["saved", "saved"]
    [ack] = submit(store, ana, [sent | {"verdict": "failure"}])
    assert ack.status == "rejected" and "use a new uuid" in ack.message
    assert [row.message for row in rows(store, "rejected")] == [ack.message]
    assert rows(store, "events")[0].verdict == "success"


@attempt(
    "Another's clip, another's answer",
    "a verdict on a clip that was given to somebody else",
    "rejected, and kept aside",
)
def test_item_of_another_annotator_is_refused(store, claims) -> None:
    [ack] = submit(store, add_people(store, "Bo")[0], [a_submission(claims[0])])
    assert ack.message == "item was never assigned to this annotator"
    assert [row.message for row in rows(store, "rejected")] == [ack.message]


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
        *(({"step": bad}, "expected a step") for bad in (0, -3, 41, 10**400, True, "7", 7.0)),
        ({"verdict": "not_done"}, "expected no step with not_done, found 7"),
        ({"verdict": "cannot_judge"}, "expected no step with cannot_judge"),
        *(
            ({"verdict": "cannot_judge", "step": None, "reason": bad}, "expected a reason")
            for bad in (None, " \n", 5)
        ),
        ({"verdict": "cannot_judge", "step": None, "reason": "x" * 501}, "at most 500"),
        ({"watched": 1.01}, "expected watched between 0 and 1, found 1.01"),
        *(({"watched": bad}, "expected watched") for bad in (-0.1, True, float("nan"))),
        *(({"seconds": bad}, "expected seconds") for bad in (-1, float("inf"), 10**400, "4")),
        ({"corrects": 4}, "expected corrects"),
    ],
)
def test_wrong_field_is_refused_by_name(changes, words) -> None:
    with pytest.raises(Rejection, match=words):
        parse_event(a_submission(ITEM, **changes), {ITEM: HORIZON})
    for step in (1, HORIZON):
        assert parse_event(a_submission(ITEM, step=step), {ITEM: HORIZON}).step == step


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "rating"}, "expected a kind of verdict, correction, review"),
        ({"kind": 7}, "expected a kind of"),
        (
            {"kind": "review", "error_type": "bad"},
            "expected an error type of imprecise, out_of_time",
        ),
        ({"kind": "note", "text": " "}, "expected a text with a note, found ' '"),
        ({"kind": "note", "text": "x" * 501}, "at most 500 characters, found 501"),
        ({"kind": "adjudication", "verdict": "rigid"}, "expected a verdict of success"),
        ({"kind": "adjudication", "verdict": "success", "step": 41}, "step of 1 to 40"),
        ({"kind": "verdict", "verdict": "success", "step": 1, "corrects": "a" * 32}, "correction"),
        ({"kind": "correction", "verdict": "success", "step": 1}, "expected corrects of 32"),
        ({"kind": "review", "error_type": "empty", "item": "z" * 22}, "item does not exist"),
    ],
)
def test_wrong_event_of_a_reviewer_is_refused_by_name(store, rhea, items, changes, words) -> None:
    enqueue(store, some_items(3), required=3)
    assert len(claim(store, rhea)) == 3
    [ack] = submit(store, rhea, [{"uuid": uuid4().hex, "item": items[0]} | changes])
    assert ack.status == "rejected" and words in ack.message
    assert len(rows(store, "events")) == 2


def test_malformed_messages_are_answered_and_kept_aside_once(store, ana) -> None:
    messages: list[object] = [None, 3, "x", [], {}, [1], {"a": "\ud800"}, a_submission("\ud800")]
    for sent in (*messages[:3], messages, messages[4]):
        acks = submit(store, ana, sent)
        assert statuses(acks) == ["rejected"] * (len(messages) if sent is messages else 1)
    assert len(rows(store, "rejected")) == len(messages)
    submit(store, ana, [{"uuid": "x" * 100_000}])
    assert len(rows(store, "rejected")[-1].raw) == 4096
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for sent in (deep, [{"uuid": deep}], [{"uuid": "a" * 32, "item": "b" * 22, "step": deep}]):
        assert statuses(submit(store, ana, sent)) == ["rejected"]
    assert len(rows(store, "rejected")) > len(messages) + 1 and rows(store, "events") == []
    with pytest.raises(UnknownName, match="annotator number '77'"):
        submit(store, 77, [])


def test_refused_answers_are_limited_per_person(store, ana, claims, monkeypatch) -> None:
    monkeypatch.setattr(submissions, "MAX_REJECTED", 3)
    (bo,) = add_people(store, "Bo")
    acks = submit(store, ana, [{"uuid": str(i)} for i in range(9)])
    assert statuses(acks) == ["rejected"] * 9 and all(ack.message for ack in acks)
    assert statuses(submit(store, ana, [a_submission(claims[0])])) == ["saved"]
    assert statuses(submit(store, bo, [{"uuid": "0"}])) == ["rejected"]
    assert [(one.annotator, one.raw) for one in ask(store, submissions.list_rejected)] == [
        *(("Ana", f'{{"uuid": "{i}"}}') for i in range(3)),
        ("Bo", '{"uuid": "0"}'),
    ]


def test_answers_over_the_limit_of_a_message_are_refused(store, ana, claims, monkeypatch) -> None:
    monkeypatch.setattr(submissions, "MAX_SUBMISSIONS", 1)
    sent = [a_submission(one) for one in claims[:2]]
    acks = submit(store, ana, sent)
    assert [ack.uuid for ack in acks] == [one["uuid"] for one in sent]
    assert statuses(acks) == ["saved", "rejected"]
    assert "at most 1 submissions in one request" in acks[1].message
    assert statuses(submit(store, ana, sent[1:])) == ["saved"]


@pytest.mark.parametrize("steps", [2**31, 2**63, 2**70])
@pytest.mark.parametrize("column", ["horizon", "takeover"])
def test_item_with_too_many_steps_is_refused(store, column, steps) -> None:
    for put in (partial(enqueue, store), lambda items: add_reference(store, items[0], "not_done")):
        with pytest.raises(DamagedData, match="expected a horizon of 1 to 2147483647 steps"):
            put([an_item("c", **{column: steps})])


def test_unstorable_characters_of_a_reason_are_replaced(store, ana, claims) -> None:
    reasons = ["the map\0 is \ud800 dark\n\u00e9", "\0\ud800"]
    sent = [
        a_submission(one, verdict="cannot_judge", step=None, reason=reason)
        for one, reason in zip(claims, reasons, strict=False)
    ]
    assert statuses(submit(store, ana, sent)) == ["saved", "saved"]
    kept = [judgement.reason for judgement in ask(store, progress.load_recent_judgements, ana)]
    assert kept == ["\ufffd", "the map  is   dark \u00e9"]
    assert statuses(submit(store, ana, sent)) == ["duplicate", "duplicate"]


def test_event_in_the_database_cannot_be_changed_or_deleted(store, ana, claims) -> None:
    dark = {"verdict": "cannot_judge", "step": None, "reason": "too dark"}
    submit(store, ana, [a_submission(claims[0]), a_submission(claims[1], **dark)])
    statements = ["UPDATE events SET step = 2", "DELETE FROM events"]
    statements.append("UPDATE events SET verdict = 'failure', reason = '' WHERE reason <> ''")
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
        **{name: json_values for name in ("reason", "watched", "seconds", "corrects", "other")},
    },
)


@given(fields | json_values)
@settings(max_examples=3 * settings().max_examples, deadline=None)
def test_any_message_is_either_rejected_or_fits_the_table(sent: Any) -> None:
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


NUMBERS = st.one_of(
    st.none(),
    st.sampled_from([0, -0.0, 0.0, 5e-324, 2.2250738585072014e-308, 0.1, 1, 10**8]),
    st.floats(0, 1) | st.floats(0, 1e9) | st.integers(0, 10**9),
)
VERDICTS = st.sampled_from(["success", "failure", "not_done", "cannot_judge"])
BOTH = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def test_accepted_answer_verifies_on_both_databases(store, ana, claims) -> None:
    @BOTH
    @example("not_done", 1, 0.5, -0.0, "")
    @given(VERDICTS, st.integers(1, HORIZON), NUMBERS, NUMBERS, st.text(max_size=40))
    def send(verdict: str, step: int, watched: Any, seconds: Any, words: str) -> None:
        own = {"step": step if verdict in ("success", "failure") else None, "watched": watched}
        own |= {"verdict": verdict, "seconds": seconds, "reason": words}
        sent = [a_submission(claims[0], **own), an_event("note", claims[0].item, text=words)]
        assert set(statuses(submit(store, ana, sent))) <= {"saved", "extra", "rejected"}
        assert verify(store.database).findings == ()

    send()
    assert verify(store.database).events > 60


def test_accepted_import_verifies_on_both_databases(store, tmp_path) -> None:
    cells = [-0.0, 0.0, 5e-324, 0.1 + 0.2, 1e9, 1.7976931348623157e308]
    lines = [f"random,s,c{n},Ana,not_done,{cell!r}" for n, cell in enumerate(cells)]
    table = tmp_path / "them.csv"
    table.write_text("\n".join(["agent,scenario,continuation,annotator,verdict,seconds", *lines]))
    enqueue(store, some_items(len(cells)))
    assert change(store, imports.import_ratings, read_ratings(table)).added == len(cells)
    assert verify(store.database).findings == ()


@pytest.mark.parametrize("kind", KINDS[2:])
def test_review_adjudication_or_note_counts_as_no_judgement(store, ana, rhea, items, kind) -> None:
    def counted(store: AnnotationStore) -> list[Any]:
        return [
            ask(store, progress.load_progress, SUITE),
            [ask(store, balance.count_judged, person) for person in (ana, rhea)],
            ask(store, verdicts.load_human_verdicts, ["c0"]),
            ask(store, progress.load_recent_judgements, ana),
        ]

    before, sent = counted(store), an_event(kind, items[0])
    assert statuses(submit(store, rhea, [sent, sent])) == ["saved", "duplicate"]
    assert statuses(submit(store, rhea, [sent | {"text": "something else"}])) == ["rejected"]
    assert counted(store) == before and ask(store, progress.load_recent_judgements, rhea) == []


def test_only_reviewers_review_and_adjudicate_clips_that_need_it(store, ana, rhea, items) -> None:
    for kind in ("review", "adjudication"):
        [ack] = submit(store, ana, [an_event(kind, items[1])])
        assert ack.status == "rejected" and "only reviewers may send" in ack.message
    add_reference(store, some_items(3)[2], "success", 7)
    change(store, people.set_role, "Ana", "reviewer")
    for person, item, words in (
        (ana, items[0], "this item was judged by this reviewer; leave it to another reviewer"),
        (rhea, items[1], "this item has no judgements yet"),
        (rhea, items[2], "this item is a reference, whose verdict is known"),
    ):
        [ack] = submit(store, person, [an_event("adjudication", item)])
        assert ack.message == words
    enqueue(store, some_items(2), required=3)
    assert {one.item for one in claim(store, rhea, 2)} == {*items[:2]}
    assert statuses(submit(store, rhea, [an_event("adjudication", items[0])])) == ["saved"]
    [ack] = submit(store, rhea, [a_submission(items[0])])
    assert "has reviewed this item" in ack.message
    assert statuses(submit(store, rhea, [a_submission(items[1])])) == ["saved"]
    change(store, people.set_role, "Rhea", "reviewer", is_granted=False)
    assert statuses(submit(store, rhea, [an_event("review", items[0])])) == ["rejected"]


def test_note_leaves_the_clip_in_the_queue(store, ana, items) -> None:
    assert statuses(submit(store, ana, [an_event("note", items[1])])) == ["saved"]
    assert items[1] in [one.item for one in claim(store, ana)]
    [note] = ask(store, review_events.load_by_item, "note", SUITE)[items[1]]
    assert (note.author, note.continuation, note.text) == (
        "Ana",
        "c1",
        "the ring is behind the door",
    )


def test_latest_review_of_each_person_and_latest_adjudication_count(store, rhea, items) -> None:
    max_id = add_person(store, "Max", ["reviewer"]).id
    for label in ERRORS:
        submit(store, rhea, [an_event("review", items[0], error_type=label, text=f"it is {label}")])
    submit(store, max_id, [an_event("review", items[0], error_type="empty")])
    found = ask(store, review_events.load_by_item, "review", SUITE)[items[0]]
    assert [(one.author, one.error_type, one.text) for one in found] == [
        ("Rhea", "fair", "it is fair"),
        ("Max", "empty", ""),
    ]
    assert ask(store, review_events.load_by_item, "review", "other@1") == {}
    assert list(ask(store, review_events.load_by_item, "review")) == [items[0]]
    for who, decided in ((rhea, NOT_DONE), (max_id, {"step": 9}), (max_id, {"text": "see 9"})):
        submit(store, who, [an_event("adjudication", items[0], **decided)])
    [(item, one)] = ask(store, review_events.load_adjudications).items()
    assert (item, one.author, one.verdict, one.step) == (items[0], "Max", "success", 5)
    assert one.text == "see 9"


def test_adjudication_is_in_every_row_of_its_clip(workspace, store, rhea, items) -> None:
    submit(store, rhea, [an_event("adjudication", items[0])])
    table = export_ratings(workspace, SUITE, names=True).table.fillna(-1)
    columns = ["continuation", "annotator", "verdict", "adjudicated", "adjudicated_step"]
    assert table[columns].to_numpy().tolist() == [
        ["c0", "Ana", "success", "success", 5],
        ["c0", "Bo", "failure", "success", 5],
        ["c1", "", "", "", -1],
        ["c2", "", "", "", -1],
    ]
