"""What a reviewer's page sends and gets, without a browser."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from sts.annotations import people, submissions
from sts.annotations import reviews as store_reviews
from sts.annotations.reviewed import Queues
from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.errors import StoreError, UnknownName
from sts.storage.workspace import Workspace
from sts_annotator_app.events import UNSAVED, storage_namespace
from sts_annotator_app.reviewing.exchange import AHEAD, sync_page
from sts_annotator_app.reviewing.views import letter_for
from tests.access.attempts import attempt
from tests.annotations.examples import SUITE
from tests.annotations.test_reviewed import Team, rules
from tests.stores import ask, submit
from tests.stores import change as in_store_change


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(Workspace.open(str(tmp_path))) as opened:
        yield opened


@pytest.fixture
def team(store: Store) -> Team:
    """Six clips about which Ana and Bo disagree."""
    made = Team(store, 6)
    for n in range(6):
        made.judge(made.ana, f"c{n}", "success", 2)
        made.judge(made.bo, f"c{n}", "not_done")
    return made


def person(store: Store, name: str) -> Annotator:
    return next(one for one in ask(store, people.everybody) if one.name == name)


def shown(continuation: str) -> dict[str, Any]:
    return {"of": continuation}


def talk(store: Store, sent: object, name: str = "Rhea", **more: Any) -> dict[str, Any]:
    who = person(store, name)
    if isinstance(sent, dict):
        sent = {"author": storage_namespace("here", who.id)} | sent
    queues = Queues(store, SUITE, rules)
    given: dict[str, Any] = {"shown": shown, "broken": {}, "queues": queues} | more
    data = sync_page(store, who, sent, place="here", **given)
    json.dumps(data, allow_nan=False)
    return data


def decision(item: str, **what: Any) -> dict[str, Any]:
    fields = {"kind": "adjudication", "verdict": "failure", "step": 3, "text": ""}
    return {"uuid": uuid4().hex, "item": item} | fields | what


def test_a_page_is_sent_the_first_cases_with_letters_and_no_name(store: Store, team: Team) -> None:
    data = talk(store, None)
    assert len(data["cases"]) == AHEAD and data["queue"] == "disputes"
    assert [one["by"] for one in data["cases"][0]["said"]] == ["P", "Q"]
    text = json.dumps(data)
    # As words, since two letters stand in an opaque identifier by chance.
    assert not re.search(r"\b(Ana|Bo|random|human)\b", text)
    assert data["queues"]["disputes"] == {"waiting": 6, "done": 0, "of": 6, "own": 0, "left": 0}
    assert {one["about"] for one in data["cases"]} == {"outcome"}


def test_letters_tell_nothing_from_one_clip_to_another(store: Store) -> None:
    team = Team(store, 24)
    for n in range(24):
        team.judge(team.ana, f"c{n}", "success", 2)
        team.judge(team.bo, f"c{n}", "not_done")
    of_ana = set()
    first = person(store, "Rhea")
    for _ in range(24):
        case = talk(store, None)["cases"][0]
        of_ana.add(next(one["by"] for one in case["said"] if one["verdict"] == "success"))
        submit(store, first.id, [decision(case["episode"]["id"])])
    assert of_ana == {"P", "Q"}
    assert [letter_for(n) for n in (0, 10, 11, 23)] == ["P", "Z", "P2", "Q3"]


def test_the_rule_is_shown_where_it_is_in_question_alone(store: Store) -> None:
    team = Team(store, 3)
    for n in range(3):
        team.judge(team.ana, f"c{n}", "success", 2)
    team.judge(team.bo, "c2", "cannot_judge")
    data = talk(store, {"queue": "differences"})
    assert [case["ruled"] for case in data["cases"]] == [["not_done", None]] * 2
    [case] = talk(store, {"queue": "disputes"})["cases"]
    assert case["ruled"] is None and case["about"] == "verdict"


def test_sending_the_outbox_twice_keeps_it_once(store: Store, team: Team) -> None:
    item = talk(store, None)["cases"][0]["episode"]["id"]
    sent = {"outbox": [decision(item), decision(item, kind="note", text="see the wall")]}
    sent["outbox"].append(decision(item, kind="review", label="rigidity"))
    assert [ack["status"] for ack in talk(store, sent)["acks"]] == ["saved"] * 3
    again = talk(store, sent)
    assert [ack["status"] for ack in again["acks"]] == ["duplicate"] * 3 and again["news"] == []
    assert [
        one.verdict for one in ask(store, store_reviews.load_adjudications, SUITE).values()
    ] == ["failure"]
    assert again["queues"]["disputes"]["done"] == 1


def test_of_two_reviewers_who_decide_at_once_both_are_kept_and_told(
    store: Store, team: Team
) -> None:
    item = talk(store, None)["cases"][0]["episode"]["id"]
    talk(store, {"outbox": [decision(item, verdict="not_done", step=None)]}, "Max")
    data = talk(store, {"outbox": [], "at": item})
    assert "has just decided this clip: not completed" in data["meanwhile"]["text"]
    data = talk(store, {"outbox": [decision(item)]})
    [news] = data["news"]
    assert "Another reviewer had already decided this clip: not completed." in news["text"]
    assert "yours is later and stands" in news["text"] and "Max" not in json.dumps(data)
    assert ask(store, store_reviews.load_adjudications, SUITE)[item].by == "Rhea"
    reviews = [decision(item, kind="review", label=label) for label in ("empty", "fair")]
    for name, one in zip(("Max", "Rhea"), reviews, strict=True):
        data = talk(store, {"outbox": [one], "queue": "failures"}, name)
    assert (
        "clip: empty. Both decisions are kept; yours is later and counts" in data["news"][0]["text"]
    )
    assert len(ask(store, store_reviews.load_by_item, "review", SUITE)[item]) == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"text": "x" * 10_000_000}, "at most 500 characters, found 10000000"),
        ({"kind": "review", "label": "<b>bad</b>"}, "expected a label of imprecise"),
        ({"kind": "review", "label": ["empty"]}, "expected a label of"),
        ({"verdict": "success", "step": 0}, "a step of 1 to 40"),
        ({"kind": "verdict"}, "never assigned to this annotator"),
        ({"item": "z" * 22}, "item does not exist"),
        ({"kind": "review", "label": "empty", "item": "x" * 10_000_000}, "an item identifier"),
        ({"uuid": "1"}, "expected uuid of 32"),
    ],
)
def test_what_is_no_decision_is_refused_in_one_sentence_and_loses_nothing(
    store: Store, team: Team, change: dict[str, Any], words: str
) -> None:
    item = talk(store, None)["cases"][0]["episode"]["id"]
    sent = [decision(item) | change, decision(item)]
    refused, kept = talk(store, {"outbox": sent})["acks"]
    assert (refused["status"], kept["status"]) == ("refused", "saved")
    assert words in refused["message"] and len(refused["message"]) < 300


@attempt("Another's clip, another's answer", "an annotator sends a reviewer's decision", "refused")
def test_who_is_no_reviewer_decides_nothing_whatever_they_send(store: Store, team: Team) -> None:
    item = talk(store, None)["cases"][0]["episode"]["id"]
    for kind in ("adjudication", "review"):
        forged = decision(item, kind=kind, label="empty", role="reviewer", roles=["reviewer"])
        [ack] = talk(store, {"outbox": [forged], "roles": ["reviewer"]}, "Ana")["acks"]
        assert ack["status"] == "refused" and "only reviewers" in ack["message"]
    assert (
        ask(store, store_reviews.load_adjudications, SUITE) == {}
        and ask(store, store_reviews.load_by_item, "review", SUITE) == {}
    )


def test_a_decision_about_what_one_judged_oneself_is_refused(store: Store, team: Team) -> None:
    in_store_change(store, people.set_role, "Ana", "reviewer")
    item = talk(store, None)["cases"][0]["episode"]["id"]
    [ack] = talk(store, {"outbox": [decision(item)]}, "Ana")["acks"]
    assert ack["message"] == "this item was judged by this reviewer; leave it to another reviewer"
    assert "6 clips left to another reviewer" in talk(store, None, "Ana")["empty"]["text"]


def test_what_another_author_decided_stays_in_their_browser(
    store: Store, team: Team, caplog: pytest.LogCaptureFixture
) -> None:
    item = talk(store, None)["cases"][0]["episode"]["id"]
    author = storage_namespace("here", person(store, "Max").id)
    data = talk(store, {"author": author, "outbox": [decision(item)]})
    assert data["acks"] == [] and ask(store, store_reviews.load_adjudications, SUITE) == {}
    assert "another author" in caplog.text


@pytest.mark.parametrize(
    "sent",
    [
        "<script>",
        7,
        [],
        {},
        {"outbox": {}},
        {"outbox": [None, "x", {"kind": ["adjudication"]}], "queue": ["failures"]},
        {"queue": "<b>", "at": {"x": 1}, "again": "yes"},
        {"at": "y" * 10_000_000},
    ],
)
def test_whatever_a_page_sends_it_is_answered(store: Store, team: Team, sent: object) -> None:
    data = talk(store, sent)
    assert data["trouble"] == "" and len(data["cases"]) == AHEAD and data["queue"] == "disputes"


def test_while_the_store_is_away_nothing_is_acknowledged(
    store: Store, team: Team, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    item = talk(store, None)["cases"][0]["episode"]["id"]

    def away(*given: object, **more: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(submissions, "submit", away)
    with caplog.at_level(logging.ERROR):
        data = talk(store, {"outbox": [decision(item)]})
    assert (data["acks"], data["cases"], data["trouble"]) == ([], None, UNSAVED)


def test_a_clip_that_cannot_be_shown_is_passed_over(store: Store, team: Team) -> None:
    def only_odd(continuation: str) -> dict[str, Any]:
        if int(continuation[1:]) % 2 == 0:
            raise UnknownName("continuation", continuation, [])
        return {"of": continuation}

    broken: dict[str, str] = {}
    data = talk(store, None, shown=only_odd, broken=broken)
    assert {case["episode"]["of"] for case in data["cases"]} == {"c1", "c3", "c5"}


def test_each_empty_queue_says_so_in_words(store: Store) -> None:
    Team(store, 1)
    titles = [
        talk(store, {"queue": name})["empty"]["title"]
        for name in ("disputes", "failures", "differences")
    ]
    assert titles == [
        "No disagreements yet",
        "No failures yet",
        "No differences from automatic labels yet",
    ]
