"""Messages of the reviewer's page, without a browser."""

from __future__ import annotations

import json
import logging
import re
from typing import Any
from uuid import uuid4

import pytest

from sts.annotations.answers import review_events as store_reviews
from sts.annotations.answers import submissions
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings.review_queues import ReviewQueues
from sts.annotations.people import people
from sts.annotations.records import Annotator
from sts.errors import StoreError, UnknownName
from sts_annotator_app.annotating import UNSAVED, storage_namespace
from sts_annotator_app.reviewing.sync import AHEAD, sync_page
from sts_annotator_app.reviewing.views import format_letter
from tests.access.attempts import attempt
from tests.annotations.examples import SUITE
from tests.annotations.test_review_queues import Team, rules
from tests.stores import ask, change, submit


@pytest.fixture
def item(store: AnnotationStore) -> str:
    """The first of six clips about which Ana and Bo disagree."""
    team = Team(store, 6)
    for n in range(6):
        team.judge(team.ana, f"c{n}", "success", 2)
        team.judge(team.bo, f"c{n}", "not_done")
    return str(talk(store, None)["cases"][0]["episode"]["id"])


def person(store: AnnotationStore, name: str) -> Annotator:
    return next(one for one in ask(store, people.list_people) if one.name == name)


def talk(store: AnnotationStore, sent: object, name: str = "Rhea", **more: Any) -> dict[str, Any]:
    """Return the answer to a message of a person's page."""
    own = person(store, name)
    if isinstance(sent, dict):
        sent = {"author": storage_namespace("here", own.id)} | sent
    given: dict[str, Any] = {"load_episode": lambda name: {"of": name}, "broken": {}} | more
    data = sync_page(
        store, own, sent, workspace_path="here", queues=ReviewQueues(store, SUITE, rules), **given
    )
    json.dumps(data, allow_nan=False)
    return data


def decision(item: str, **changes: Any) -> dict[str, Any]:
    fields = {"kind": "adjudication", "verdict": "failure", "step": 3, "text": ""}
    return {"uuid": uuid4().hex, "item": item} | fields | changes


def decided(store: AnnotationStore) -> dict[str, Any]:
    return {**ask(store, store_reviews.load_adjudications, SUITE)}


def test_page_receives_the_first_cases_with_letters_instead_of_names(
    store: AnnotationStore, item: str
) -> None:
    data = talk(store, None)
    assert len(data["cases"]) == AHEAD and data["queue"] == "disputes"
    assert [one["by"] for one in data["cases"][0]["said"]] == ["P", "Q"]
    text = json.dumps(data)
    # As words, since two letters stand in an opaque identifier by chance.
    assert not re.search(r"\b(Ana|Bo|random|human)\b", text)
    assert data["queues"]["disputes"] == {"waiting": 6, "done": 0, "of": 6, "own": 0, "left": 0}
    assert {one["about"] for one in data["cases"]} == {"outcome"}


def test_letters_do_not_link_clips(store: AnnotationStore) -> None:
    team = Team(store, 24)
    for n in range(24):
        team.judge(team.ana, f"c{n}", "success", 2)
        team.judge(team.bo, f"c{n}", "not_done")
    of_ana, first = set(), person(store, "Rhea")
    for _ in range(24):
        case = talk(store, None)["cases"][0]
        of_ana.add(next(one["by"] for one in case["said"] if one["verdict"] == "success"))
        submit(store, first.id, [decision(case["episode"]["id"])])
    assert of_ana == {"P", "Q"}
    assert [format_letter(n) for n in (0, 10, 11, 23)] == ["P", "Z", "P2", "Q3"]


def test_automatic_label_is_shown_only_when_it_is_in_question(store: AnnotationStore) -> None:
    team = Team(store, 3)
    for n in range(3):
        team.judge(team.ana, f"c{n}", "success", 2)
    team.judge(team.bo, "c2", "cannot_judge")
    data = talk(store, {"queue": "differences"})
    assert [case["ruled"] for case in data["cases"]] == [["not_done", None]] * 2
    [case] = talk(store, {"queue": "disputes"})["cases"]
    assert case["ruled"] is None and case["about"] == "verdict"


def test_outbox_sent_twice_is_saved_once(store: AnnotationStore, item: str) -> None:
    sent = {"outbox": [decision(item), decision(item, kind="note", text="see the wall")]}
    sent["outbox"].append(decision(item, kind="review", error_type="rigidity"))
    assert [ack["status"] for ack in talk(store, sent)["acks"]] == ["saved"] * 3
    again = talk(store, sent)
    assert [ack["status"] for ack in again["acks"]] == ["duplicate"] * 3 and again["news"] == []
    assert [one.verdict for one in decided(store).values()] == ["failure"]
    assert again["queues"]["disputes"]["done"] == 1


def test_simultaneous_decisions_of_two_reviewers_are_both_kept_and_shown(
    store: AnnotationStore, item: str
) -> None:
    talk(store, {"outbox": [decision(item, verdict="not_done", step=None)]}, "Max")
    data = talk(store, {"outbox": [], "at": item})
    assert "has just decided this clip: not completed" in data["meanwhile"]["text"]
    data = talk(store, {"outbox": [decision(item)]})
    [news] = data["news"]
    assert "Another reviewer had already decided this clip: not completed." in news["text"]
    assert "yours is later and stands" in news["text"] and "Max" not in json.dumps(data)
    assert decided(store)[item].author == "Rhea"
    for name, label in (("Max", "empty"), ("Rhea", "fair")):
        sent = {"outbox": [decision(item, kind="review", error_type=label)], "queue": "failures"}
        data = talk(store, sent, name)
    [news] = data["news"]
    assert "clip: empty. Both decisions are kept; yours is later and counts" in news["text"]
    assert len(ask(store, store_reviews.load_by_item, "review", SUITE)[item]) == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"text": "x" * 10_000_000}, "at most 500 characters, found 10000000"),
        ({"kind": "review", "error_type": "<b>bad</b>"}, "expected an error type of imprecise"),
        ({"kind": "review", "error_type": ["empty"]}, "expected an error type of"),
        ({"verdict": "success", "step": 0}, "a step of 1 to 40"),
        ({"kind": "verdict"}, "never assigned to this annotator"),
        ({"item": "z" * 22}, "item does not exist"),
        ({"kind": "review", "error_type": "empty", "item": "x" * 10_000_000}, "an item identifier"),
        ({"uuid": "1"}, "expected uuid of 32"),
    ],
)
def test_invalid_decision_is_refused_and_the_next_one_saved(
    store: AnnotationStore, item: str, changes: dict[str, Any], words: str
) -> None:
    sent = [decision(item) | changes, decision(item)]
    refused, kept = talk(store, {"outbox": sent})["acks"]
    assert (refused["status"], kept["status"]) == ("rejected", "saved")
    assert words in refused["message"] and len(refused["message"]) < 300


@attempt("Another's clip, another's answer", "an annotator sends a reviewer's decision", "rejected")
def test_annotators_cannot_decide_as_reviewers(store: AnnotationStore, item: str) -> None:
    for kind in ("adjudication", "review"):
        forged = decision(item, kind=kind, error_type="empty", role="reviewer", roles=["reviewer"])
        [ack] = talk(store, {"outbox": [forged], "roles": ["reviewer"]}, "Ana")["acks"]
        assert ack["status"] == "rejected" and "only reviewers" in ack["message"]
    assert decided(store) == {} == ask(store, store_reviews.load_by_item, "review", SUITE)


def test_reviewer_cannot_decide_a_clip_they_judged(store: AnnotationStore, item: str) -> None:
    change(store, people.set_role, "Ana", "reviewer")
    [ack] = talk(store, {"outbox": [decision(item)]}, "Ana")["acks"]
    assert ack["message"] == "this item was judged by this reviewer; leave it to another reviewer"
    assert "6 clips left to another reviewer" in talk(store, None, "Ana")["empty"]["text"]


def test_decision_of_another_author_stays_in_the_browser(
    store: AnnotationStore, item: str, caplog: pytest.LogCaptureFixture
) -> None:
    author = storage_namespace("here", person(store, "Max").id)
    data = talk(store, {"author": author, "outbox": [decision(item)]})
    assert data["acks"] == [] and decided(store) == {}
    assert "another author" in caplog.text


@pytest.mark.parametrize(
    "sent",
    [
        *("<script>", 7, [], {}, {"outbox": {}}, {"at": "y" * 10_000_000}),
        {"outbox": [None, "x", {"kind": ["adjudication"]}], "queue": ["failures"]},
        {"queue": "<b>", "at": {"x": 1}, "again": "yes"},
    ],
)
def test_malformed_message_is_answered_with_the_queue(
    store: AnnotationStore, item: str, sent: object
) -> None:
    data = talk(store, sent)
    assert data["trouble"] == "" and len(data["cases"]) == AHEAD and data["queue"] == "disputes"


def test_failing_store_acknowledges_nothing(
    store: AnnotationStore,
    item: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def away(*given: object, **more: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(submissions, "save_submissions", away)
    with caplog.at_level(logging.ERROR):
        data = talk(store, {"outbox": [decision(item)]})
    assert (data["acks"], data["cases"], data["trouble"]) == ([], None, UNSAVED)


def test_clip_that_cannot_be_shown_is_skipped(store: AnnotationStore, item: str) -> None:
    def only_odd(continuation: str) -> dict[str, Any]:
        if int(continuation[1:]) % 2 == 0:
            raise UnknownName("continuation", continuation, [])
        return {"of": continuation}

    data = talk(store, None, load_episode=only_odd)
    assert {case["episode"]["of"] for case in data["cases"]} == {"c1", "c3", "c5"}


def test_empty_queues_have_titles(store: AnnotationStore) -> None:
    Team(store, 1)
    queues = ("disputes", "failures", "differences")
    titles = [talk(store, {"queue": name})["empty"]["title"] for name in queues]
    assert titles == [
        *("No disagreements yet", "No failures yet", "No differences from automatic labels yet")
    ]
