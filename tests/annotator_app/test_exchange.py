"""Messages of the annotator's page, without a browser."""

from __future__ import annotations

import base64
import json
import logging
import time
from typing import Any

import numpy as np
import pytest

from sts.annotations.answers import progress, submissions
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.log.events import CLOSING, REOPENING, append_suite_event
from sts.annotations.people import deal, exclusions
from sts.annotations.records import Annotator, Item
from sts.domains import SceneLayout, load_domain
from sts.errors import StoreError, UnknownName
from sts_annotator_app import annotating, state
from sts_annotator_app.annotating import (
    MAX_BROKEN,
    MORE,
    storage_namespace,
    sync_page,
)
from sts_annotator_app.pages import guide
from tests.access.attempts import attempt
from tests.annotations.examples import an_item
from tests.annotator_app.components.test_node import check_declared
from tests.annotator_app.payloads import build_payload
from tests.stores import add_person, add_reference, ask, change, claim_items
from tests.stores import enqueue as in_store_enqueue

SUITE = "made-up@1"


@pytest.fixture
def ann(store: AnnotationStore) -> Annotator:
    return add_person(store, "ann")


def made_up(n: int) -> Item:
    return an_item(f"c{n}", suite=SUITE, scenario_hash=f"{n}", horizon=5, takeover=3)


def enqueue(store: AnnotationStore, count: int) -> None:
    in_store_enqueue(store, map(made_up, range(count)))


def show(continuation: str) -> dict[str, Any]:
    return {"of": continuation}


CLAIMED = 3
"""Episodes that a person is assigned at a time from a short queue."""


def talk(store: AnnotationStore, person: Annotator, sent: object, **more: Any) -> dict[str, Any]:
    """Return the answer to a message of a person's page."""
    if isinstance(sent, dict):
        sent = {"author": storage_namespace("here", person.id)} | sent
    given: dict[str, Any] = {"load_episode": show, "broken": {}} | more
    data = sync_page(
        store,
        person,
        sent,
        suite=SUITE,
        workspace_path="here",
        count_remaining=lambda: ask(store, progress.load_progress, SUITE).remaining,
        **given,
    )
    json.dumps(data, allow_nan=False)
    return data


def queued(store: AnnotationStore, person: Annotator) -> list[str]:
    """Return the items that a page is sent."""
    return [one["id"] for one in talk(store, person, None)["queue"]]


def answer(item: str, digit: str = "1", **more: Any) -> dict[str, Any]:
    return {"uuid": digit * 32, "item": item, "verdict": "not_done"} | more


def statuses(data: dict[str, Any]) -> list[str]:
    return [ack["status"] for ack in data["acks"]]


def test_three_episodes_arrive_under_opaque_names(store: AnnotationStore, ann: Annotator) -> None:
    enqueue(store, 5)
    names = {f"c{n}" for n in range(5)}
    data = talk(store, ann, None)
    assert len(data["queue"]) == 3
    assert {one["of"] for one in data["queue"]} <= names
    assert not {one["id"] for one in data["queue"]} & names


def test_outbox_sent_twice_is_saved_once(store: AnnotationStore, ann: Annotator) -> None:
    enqueue(store, 2)
    item = queued(store, ann)[0]
    sent = {"outbox": [answer(item)], "beat": 1}
    assert statuses(talk(store, ann, sent)) == ["saved"]
    again = talk(store, ann, sent)
    assert statuses(again) == ["duplicate"]
    assert again["counts"]["done"] == 1 and item not in {one["id"] for one in again["queue"]}


def test_each_answer_of_a_person_reduces_what_remains(
    store: AnnotationStore, ann: Annotator, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue(store, 5)
    other, counted = add_person(store, "other"), store.now()
    monkeypatch.setattr(state, "get_store", lambda: store)
    monkeypatch.setattr(state, "_count_all_remaining", lambda: (130, counted))
    outbox = [answer(item, str(n)) for n, item in enumerate(queued(store, ann)[:2])]
    talk(store, ann, {"outbox": outbox})
    assert [state.count_remaining(person) for person in (ann, other)] == [128, 130]


@pytest.mark.parametrize(
    "sent", ["", 7, [], {}, {"outbox": None}, {"outbox": "x"}, {"outbox": {"uuid": 1}}, {"beat": 3}]
)
def test_message_without_an_outbox_is_answered(
    store: AnnotationStore, ann: Annotator, sent: object
) -> None:
    enqueue(store, 1)
    data = talk(store, ann, sent)
    assert data["acks"] == [] and len(data["queue"]) == 1


@attempt(
    "Another's clip, another's answer",
    "an outbox is replayed in another's session, or names no author",
    "ignored; it stays in its author's browser",
)
def test_answers_of_another_author_are_ignored(
    store: AnnotationStore, ann: Annotator, caplog: pytest.LogCaptureFixture
) -> None:
    enqueue(store, 2)
    ben = add_person(store, "ben")
    item = queued(store, ann)[0]
    others = [storage_namespace("here", ann.id), storage_namespace("there", ben.id)]
    for author in (*others, "", None, 5, ["x"]):
        data = talk(store, ben, {"author": author, "outbox": [answer(item)]})
        assert data["acks"] == [] and data["author"] == storage_namespace("here", ben.id)
    assert (
        ask(store, progress.load_recent_judgements, ben.id, 10) == []
        and caplog.text.count("another author") == 6
    )
    assert statuses(talk(store, ann, {"outbox": [answer(item)]})) == ["saved"]


@pytest.mark.parametrize(
    "bad",
    [
        *(None, 3, "x", [], {}, {"uuid": 5}, answer("nowhere"), answer("ITEM", verdict="fine")),
        answer("ITEM", verdict="success"),
        *(answer("ITEM", verdict="success", step=step) for step in (0, 6)),
        answer("ITEM", verdict="cannot_judge"),
        *(answer("ITEM", seconds="long"), answer("ITEM", corrects="f" * 32)),
    ],
)
def test_invalid_answer_is_refused_and_the_next_one_saved(
    store: AnnotationStore, ann: Annotator, bad: Any
) -> None:
    enqueue(store, 2)
    first, second = queued(store, ann)
    if isinstance(bad, dict) and bad.get("item") == "ITEM":
        bad = bad | {"item": first}
    data = talk(store, ann, {"outbox": [bad, answer(second, "2")]})
    assert statuses(data) == ["rejected", "saved"] and data["acks"][0]["message"]


def test_failing_store_acknowledges_nothing_and_names_no_path(
    store: AnnotationStore,
    ann: Annotator,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object, **more: object) -> None:
        raise StoreError("annotation database /secret/place is locked")

    enqueue(store, 1)
    monkeypatch.setattr(submissions, "save_submissions", fail)
    with caplog.at_level(logging.ERROR):
        data = talk(store, ann, {"outbox": [answer("x" * 22)]})
    assert data["acks"] == [] and data["queue"] is None
    assert "cannot save" in data["trouble"] and "/secret" not in json.dumps(data)
    assert "/secret/place is locked" in caplog.text


class Blank:
    """Shows continuations except those in `blank`, and counts the requests for these."""

    def __init__(self, blank: set[str]) -> None:
        self.blank, self.asked = blank, 0
        self.known: dict[str, Any] = {"load_episode": self, "broken": dict[str, str]()}

    def __call__(self, continuation: str) -> dict[str, Any]:
        if continuation in self.blank:
            self.asked += 1
            raise UnknownName("continuation", continuation, [])
        return show(continuation)


def test_episodes_that_cannot_be_shown_are_replaced_by_others(
    store: AnnotationStore, ann: Annotator
) -> None:
    enqueue(store, 10)
    first = {one["of"] for one in talk(store, ann, None)["queue"]}
    blank = Blank(first)
    data = talk(store, ann, None, **blank.known)
    assert len(data["queue"]) == CLAIMED and not {one["of"] for one in data["queue"]} & first
    assert (data["counts"]["done"], data["counts"]["broken"]) == (0, 3) and not data["trouble"]
    talk(store, ann, {"outbox": []}, **blank.known)
    assert blank.asked == 3 and {*blank.known["broken"]} == first, "known failures are not retried"


def test_page_without_any_episode_to_show_says_so_to_everyone(
    store: AnnotationStore, ann: Annotator
) -> None:
    enqueue(store, 2)
    blank = Blank({"c0", "c1"})
    empty = talk(store, ann, None, **blank.known, is_lead=True)["empty"]
    assert empty["title"] == "2 episodes cannot be displayed"
    assert "unknown continuation" in empty["text"] and "sts annotate" in empty["text"]
    other = add_person(store, "bob")  # for whom nothing is left: ann holds both
    empty = talk(store, other, None, **blank.known)["empty"]
    assert empty["title"] == "2 episodes cannot be displayed"
    assert "tell the study lead" in empty["text"] and "c0" not in empty["text"]


def test_each_exchange_tries_few_broken_episodes_until_one_can_be_shown(
    store: AnnotationStore, ann: Annotator
) -> None:
    enqueue(store, 40)
    blank = Blank({f"c{n}" for n in range(39)})
    queue: list[Any] = []
    for n in range(1, 5):
        queue = talk(store, ann, None, **blank.known)["queue"]
        assert blank.asked <= MAX_BROKEN * n
    assert [one["of"] for one in queue] == ["c39"] and len(blank.known["broken"]) == 39


def test_repaired_episodes_are_free_for_other_annotators(
    store: AnnotationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(store, "now", lambda: now[0])
    ann, bob = add_person(store, "ann"), add_person(store, "bob")
    enqueue(store, 20)
    blank = Blank({f"c{n}" for n in range(20)})
    for _ in range(3):
        talk(store, ann, None, **blank.known)
    assert len(blank.known["broken"]) == 20
    for _ in range(20):  # the server was restarted; her page has stayed open
        now[0] += 60
        assert len(talk(store, ann, {"outbox": []})["queue"]) == CLAIMED
    assert len(talk(store, bob, None)["queue"]) == CLAIMED


def test_answers_are_acknowledged_before_new_episodes_are_drawn(
    store: AnnotationStore, ann: Annotator
) -> None:
    enqueue(store, 300)
    first = talk(store, ann, None)
    assert len(first["queue"]) == 20 and not first["more"]
    ids = [one["id"] for one in first["queue"]]
    after = talk(store, ann, {"has": ids[:1]})["queue"]
    assert after[0] == {"id": ids[0]} and len(after) == 20
    known = [{"id": one} for one in ids[1:]]
    acknowledged = talk(store, ann, {"outbox": [answer(ids[0])], "has": ids[1:]})
    assert (acknowledged["queue"], acknowledged["more"]) == (known, True)
    after = talk(store, ann, {"has": ids[1:]})["queue"]
    assert after[:19] == known
    (new,) = after[19:]
    assert new["of"] and new["id"] not in ids
    assert all("of" in one for one in talk(store, ann, {"has": "all"})["queue"])


@pytest.mark.parametrize("limit", ["MAX_CHARS", "MAX_SECONDS"])
def test_large_episodes_arrive_one_at_a_time(
    store: AnnotationStore, ann: Annotator, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue(store, 100)
    monkeypatch.setattr(annotating, limit, -1)
    here: list[str] = []
    for n in (1, 2, 3):
        data = talk(store, ann, {"has": here})
        assert [one["id"] for one in data["queue"] if "of" not in one] == here
        here = [one["id"] for one in data["queue"]]
        assert len(here) == n and data["more"]
    everything = [one.item for one in claim_items(store, ann.id, suite=SUITE)]
    assert not talk(store, ann, {"has": everything})["more"]


def test_today_begins_at_midnight_of_the_page(
    store: AnnotationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [time.time() - 3600.0]
    monkeypatch.setattr(store, "now", lambda: clock[0])
    ann = add_person(store, "ann")
    enqueue(store, 5)
    first, second = queued(store, ann)[:2]
    talk(store, ann, {"outbox": [answer(first, seconds=20.0)]})
    clock[0] += 3600.0
    sent = {"outbox": [answer(second, "2", seconds=7.5)]}
    now = time.time()
    counts = {"done": 2, "broken": 0, "left": 3, "today": 1, "seconds": 7.5}
    assert talk(store, ann, sent | {"midnight": now - 1800})["counts"] == counts
    assert talk(store, ann, {"midnight": now - 7200})["counts"]["seconds"] == 27.5
    for odd in (None, "x", now + 900, 0, float("-inf"), True, [now]):
        assert talk(store, ann, {"midnight": odd})["counts"]["today"] >= 0


def test_reopened_page_receives_the_latest_judgements_to_correct(
    store: AnnotationStore, ann: Annotator
) -> None:
    enqueue(store, 3)
    item = queued(store, ann)[0]
    talk(store, ann, {"outbox": [answer(item, verdict="success", step=2)]})
    (previous,) = talk(store, ann, None)["previous"]
    assert previous["uuid"] == "1" * 32 and previous["episode"]["id"] == item
    assert previous["mark"] == {"verdict": "success", "step": 2, "reason": None}
    assert talk(store, ann, {"outbox": []})["previous"] == []


def test_empty_states_depend_on_the_work_done(store: AnnotationStore, ann: Annotator) -> None:
    assert talk(store, ann, None)["empty"]["title"] == "No episodes yet"
    enqueue(store, 1)
    data = talk(store, ann, {"outbox": [answer(*queued(store, ann))]})
    assert data["queue"] == []
    assert data["empty"]["title"] == "All done, thank you"
    assert data["empty"]["text"] == "You have annotated 1 episode. Judging is complete."
    empty = talk(store, add_person(store, "late"), None)["empty"]
    assert empty["title"] == "Your queue is empty" and "judged 0" not in empty["text"]


def test_page_of_a_closed_study_keeps_the_open_episode_and_says_so(store, ann) -> None:
    lead, ben = add_person(store, "lead", ["lead"]), add_person(store, "ben")
    enqueue(store, 5)
    item, *_ = queued(store, ann)
    change(store, append_suite_event, lead.id, SUITE, CLOSING, "enough")
    assert queued(store, ann) == [item] and queued(store, ben) == []
    data = talk(store, ann, {"outbox": [answer(item)]})
    assert statuses(data) == ["saved"] and data["queue"] == []
    assert data["empty"]["title"] == "This study is closed"
    change(store, append_suite_event, lead.id, SUITE, REOPENING, "more funds")
    assert len(queued(store, ben)) == 3


@pytest.mark.parametrize("completion", ["", "C0DE", "https://platform.example/done?cc=C0DE"])
def test_completion_is_shown_once_the_clips_asked_for_are_judged(workspace, completion) -> None:
    workspace.settings["annotation"] |= {"clips_per_person": 2, "completion": completion}
    with AnnotationStore.open(workspace) as store:
        ann = add_person(store, "ann")
        enqueue(store, 5)
        first, second = queued(store, ann)
        data = talk(store, ann, {"outbox": [answer(first)]})
        assert len(data["queue"]) == 1 and "C0DE" not in str(data)
        empty = talk(store, ann, {"outbox": [answer(second, "2")]})["empty"]
        assert empty["title"] == "All done, thank you" and MORE not in empty["text"]
        assert empty.get("link", "") == (completion if "://" in completion else "")
        assert (completion in empty["text"]) is ("://" not in completion)


def test_completion_is_hidden_from_excluded_and_idle_people(workspace) -> None:
    workspace.settings["annotation"] |= {"completion": "C0DE"}
    with AnnotationStore.open(workspace) as store:
        ann, idle = add_person(store, "ann"), add_person(store, "idle")
        lead = add_person(store, "lead", ("lead",))
        enqueue(store, 3)
        items = queued(store, ann)
        talk(store, ann, {"outbox": [answer(items[0])]})
        change(store, exclusions.set_excluded, "ann", lead, "test")
        assert "C0DE" not in str(talk(store, ann, None)) and queued(store, ann) == []
        change(store, exclusions.set_excluded, "ann", lead, "a mistake", withdraw=True)
        sent = [answer(item, digit) for item, digit in zip(queued(store, ann), "23", strict=True)]
        done = talk(store, ann, {"outbox": sent})
        assert "Your completion code is C0DE" in done["empty"]["text"]
        assert "C0DE" not in str(talk(store, idle, None))


def test_closed_study_offers_no_training(workspace) -> None:
    workspace.settings["annotation"]["training"] = 2
    with AnnotationStore.open(workspace) as store:
        ann, lead = add_person(store, "ann"), add_person(store, "lead", ["lead"])
        for number in range(2):
            add_reference(store, made_up(number), "failure", 2)
        assert talk(store, ann, None)["training"]["size"] == 2 and len(queued(store, ann)) == 2
        change(store, append_suite_event, lead.id, SUITE, CLOSING, "enough")
        data = talk(store, ann, None)
    assert data["queue"] == [] and data["empty"]["title"] == "This study is closed"


def test_storage_namespace_is_unique_to_a_person_and_workspace() -> None:
    assert len({storage_namespace(*one) for one in (("a", 1), ("a", 2), ("b", 1))}) == 3
    assert "/home" not in storage_namespace("/home/ann", 1)


def test_payload_holds_only_the_fields_that_a_judge_may_see() -> None:
    names, auras = ("Good", "Evil", "A", "B"), ((0, 1), (1, -1))
    picture = SceneLayout("drawn", 20, 30, names, ("G", "E", "A", "B"), (2, 3), {"auras": auras})
    scene = np.array([[599, 0, 1, 2], [300, 0, 1, 2]], np.uint16)
    data = build_payload(
        "grid", picture, scene, np.array([[0, 21]], np.int8),
        tokens=("", "yes"), takeover=0, player=1, text="go",
    )  # fmt: skip
    assert np.array_equal(np.frombuffer(base64.b64decode(data["scene"]), "<u2"), scene.ravel())
    assert base64.b64decode(data["says"]) == bytes([0, 21])
    assert data["judged"] == [3]
    check_declared("Payload", data | {"id": "a string"})
    assert (data["drawing"], data["details"]) == ("grid", {"auras": auras})
    assert set(data) == {
        "drawing", "height", "width", "names", "glyphs", "judged", "details", "steps",
        "takeover", "horizon", "scene", "says", "texts", "tokens", "instructions",
    }  # fmt: skip


TEXTS = {"done": "The ball is held.", "guideline": "Carried is held, too."}


def test_texts_of_a_category_judged_by_the_instruction_alone_are_never_sent(
    store: AnnotationStore, ann: Annotator
) -> None:
    add_person(store, "ben")
    names = [f"category-{n}" for n in range(5)]
    every = [an_item(f"{n}.{i}", suite=SUITE, category=n) for n in names for i in range(2)]
    in_store_enqueue(store, every)

    def load_with_criterion(continuation: str) -> dict[str, Any]:
        marks = {"cells": [3], "sight": True}
        return {"of": continuation, "criterion": {**marks, **TEXTS}}

    seen: dict[str, set[str]] = {}

    def note(data: dict[str, Any]) -> None:
        for episode in [*data["queue"], *(one["episode"] for one in data["previous"])]:
            criterion = episode["criterion"]
            assert criterion["cells"] == [3] and criterion["sight"] is True
            assert {name: criterion[name] for name in TEXTS} in (TEXTS, dict.fromkeys(TEXTS, ""))
            seen.setdefault(episode["of"].partition(".")[0], set()).add(criterion["done"])

    for number in range(len(every)):
        data = talk(store, ann, None, load_episode=load_with_criterion)
        note(data)
        talk(
            store,
            ann,
            {"outbox": [answer(data["queue"][0]["id"], f"{number}")]},
            load_episode=load_with_criterion,
        )
    note(talk(store, ann, None, load_episode=load_with_criterion))
    withheld = {name for name, texts in seen.items() if texts == {""}}
    assert {*seen} == {*names} and all(len(texts) == 1 for texts in seen.values())
    assert withheld == {*names} - ask(store, deal.list_seen, ann.id) and len(withheld) == 1


def test_guide_mentions_the_criterion_only_to_those_who_see_one() -> None:
    with_it, without = (guide.build_guide([], rubric=rubric) for rubric in (True, False))
    assert "*Live*" in with_it and "*Live*" not in guide.build_guide([], live=False)
    assert "Success criterion" in with_it and "edge cases" in with_it and "<!--" not in with_it
    assert "criterion" not in without.lower() and "edge cases" not in without
    assert all("*marked cell*" in text for text in (with_it, without))


def test_guide_explains_the_verdicts_and_only_the_domains_of_the_suite() -> None:
    text = guide.build_guide(["lambda-star", "nowhere"])
    assert load_domain("lambda-star").guide in text and guide.PLACEHOLDER not in text
    assert load_domain("lambda-star").guide not in guide.build_guide(["nowhere"])
    verdicts = ("Success", "Failure", "Not completed", "Can't judge")
    assert text.count("\n| ") == 5 and all(f"\n| {verdict} |" in text for verdict in verdicts)
