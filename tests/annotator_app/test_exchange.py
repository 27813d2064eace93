"""What a player sends and gets, without a browser."""

from __future__ import annotations

import base64
import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sts.annotations import submissions, views
from sts.annotations.store import Store
from sts.annotations.types import Annotator, Item
from sts.domains import Picture, domain
from sts.episodes import Instruction
from sts.errors import StoreError, UnknownName
from sts.storage.workspace import Workspace
from sts.viewer.payload import build_payload
from sts_annotator_app import events
from sts_annotator_app.events import MAX_BROKEN, MIN_EPISODES, storage_namespace, sync_page
from sts_annotator_app.pages import guide
from sts_annotator_app.remaining import RemainingWork
from tests.access.attempts import attempt
from tests.stores import add_person, ask, claim_items
from tests.stores import enqueue as in_store_enqueue

SUITE = "made-up@1"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(Workspace.open(str(tmp_path))) as opened:
        yield opened


@pytest.fixture
def ann(store: Store) -> Annotator:
    return add_person(store, "ann")


def enqueue(store: Store, count: int) -> None:
    common: dict[str, Any] = {
        "suite": SUITE,
        "scenario": "s",
        "category": "c",
        "kind": "instruction",
    }
    in_store_enqueue(
        store,
        (
            Item(
                f"c{n}",
                clip=f"c{n}",
                agent="a",
                scenario_hash=f"{n}",
                horizon=5,
                takeover=3,
                **common,
            )
            for n in range(count)
        ),
    )


def shown(continuation: str) -> dict[str, Any]:
    return {"of": continuation}


def talk(store: Store, who: Annotator, sent: object, **more: Any) -> dict[str, Any]:
    if isinstance(sent, dict):
        sent = {"author": storage_namespace("here", who.id)} | sent
    given: dict[str, Any] = {"shown": shown, "broken": {}, "remaining": RemainingWork()} | more
    data = sync_page(store, who, sent, suite=SUITE, place="here", **given)
    json.dumps(data, allow_nan=False)
    return data


def answer(item: str, digit: str = "1", **more: Any) -> dict[str, Any]:
    return {"uuid": digit * 32, "item": item, "verdict": "not_done"} | more


def test_three_episodes_come_at_once_under_opaque_names(store: Store, ann: Annotator) -> None:
    enqueue(store, 5)
    data = talk(store, ann, None)
    assert len(data["queue"]) == 3
    assert {one["of"] for one in data["queue"]} <= {f"c{n}" for n in range(5)}
    assert not {one["id"] for one in data["queue"]} & {f"c{n}" for n in range(5)}


def test_sending_the_outbox_twice_saves_it_once(store: Store, ann: Annotator) -> None:
    enqueue(store, 2)
    item = talk(store, ann, None)["queue"][0]["id"]
    sent = {"outbox": [answer(item)], "beat": 1}
    assert [ack["status"] for ack in talk(store, ann, sent)["acks"]] == ["saved"]
    again = talk(store, ann, sent)
    assert [ack["status"] for ack in again["acks"]] == ["duplicate"]
    assert again["counts"]["done"] == 1 and item not in {one["id"] for one in again["queue"]}


@pytest.mark.parametrize(
    "sent", ["", 7, [], {}, {"outbox": None}, {"outbox": "x"}, {"outbox": {"uuid": 1}}, {"beat": 3}]
)
def test_a_message_without_an_outbox_is_a_sign_of_life(
    store: Store, ann: Annotator, sent: object
) -> None:
    enqueue(store, 1)
    data = talk(store, ann, sent)
    assert data["acks"] == [] and len(data["queue"]) == 1


@attempt(
    "Another's clip, another's answer",
    "an outbox is replayed in another's session, or names no author",
    "ignored; it stays in the browser that it is of",
)
def test_what_another_author_did_is_ignored_and_neither_acknowledged_nor_kept(
    store: Store, ann: Annotator, caplog: pytest.LogCaptureFixture
) -> None:
    enqueue(store, 2)
    ben = add_person(store, "ben")
    item = talk(store, ann, None)["queue"][0]["id"]
    for author in (
        storage_namespace("here", ann.id),
        storage_namespace("there", ben.id),
        "",
        None,
        5,
        ["x"],
    ):
        data = talk(store, ben, {"author": author, "outbox": [answer(item)]})
        assert data["acks"] == [] and data["author"] == storage_namespace("here", ben.id)
    assert ask(store, views.history, ben.id, 10) == [] and caplog.text.count("another author") == 6
    assert [ack["status"] for ack in talk(store, ann, {"outbox": [answer(item)]})["acks"]] == [
        "saved"
    ]


@pytest.mark.parametrize(
    "bad",
    [None, 3, "x", [], {}, {"uuid": 5}, answer("nowhere"), answer("ITEM", verdict="fine"),
     answer("ITEM", verdict="success"), answer("ITEM", verdict="success", step=0),
     answer("ITEM", verdict="success", step=6), answer("ITEM", verdict="cannot_judge"),
     answer("ITEM", seconds="long"), answer("ITEM", corrects="f" * 32)],
)  # fmt: skip
def test_bad_answers_are_refused_and_good_ones_beside_them_saved(
    store: Store, ann: Annotator, bad: Any
) -> None:
    enqueue(store, 2)
    first, second = (one["id"] for one in talk(store, ann, None)["queue"])
    if isinstance(bad, dict) and bad.get("item") == "ITEM":
        bad = bad | {"item": first}
    acks = talk(store, ann, {"outbox": [bad, answer(second, "2")]})["acks"]
    assert [ack["status"] for ack in acks] == ["refused", "saved"]
    assert acks[0]["message"]


def test_a_failing_store_acknowledges_nothing_and_names_no_path(
    store: Store, ann: Annotator, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    enqueue(store, 1)

    def fail(*_: object, **more: object) -> None:
        raise StoreError("annotation database /secret/place is locked")

    monkeypatch.setattr(submissions, "submit", fail)
    with caplog.at_level(logging.ERROR):
        data = talk(store, ann, {"outbox": [answer("x" * 22)]})
    assert data["acks"] == [] and data["queue"] is None
    assert "cannot save" in data["trouble"] and "/secret" not in json.dumps(data)
    assert "/secret/place is locked" in caplog.text


class Blank:
    """Shows continuations but for those in `blank`, and counts how often it was asked for these."""

    def __init__(self, blank: set[str]) -> None:
        self.blank, self.asked = blank, 0

    def __call__(self, continuation: str) -> dict[str, Any]:
        if continuation in self.blank:
            self.asked += 1
            raise UnknownName("continuation", continuation, [])
        return shown(continuation)


def test_what_cannot_be_shown_is_left_out_and_three_others_come_in_its_place(
    store: Store, ann: Annotator
) -> None:
    enqueue(store, 10)
    first = {one["of"] for one in talk(store, ann, None)["queue"]}
    blank, broken = Blank(first), dict[str, str]()
    data = talk(store, ann, None, shown=blank, broken=broken)
    assert len(data["queue"]) == MIN_EPISODES and not {one["of"] for one in data["queue"]} & first
    assert (data["counts"]["done"], data["counts"]["broken"]) == (0, 3) and not data["trouble"]
    talk(store, ann, {"outbox": []}, shown=blank, broken=broken)
    assert blank.asked == 3 and set(broken) == first, "what is known to fail is not tried again"


def test_where_nothing_can_be_shown_the_page_says_so_to_everybody(
    store: Store, ann: Annotator
) -> None:
    enqueue(store, 2)
    blank, broken = Blank({"c0", "c1"}), dict[str, str]()
    empty = talk(store, ann, None, shown=blank, broken=broken, runs=True)["empty"]
    assert empty["title"] == "2 episodes cannot be displayed"
    assert "unknown continuation" in empty["text"] and "sts annotate" in empty["text"]
    other = add_person(store, "bob")  # for whom nothing is left: ann holds both
    empty = talk(store, other, None, shown=blank, broken=broken)["empty"]
    assert empty["title"] == "2 episodes cannot be displayed"
    assert "tell the study lead" in empty["text"] and "c0" not in empty["text"]


def test_one_exchange_tries_few_that_fail_and_the_next_ones_find_what_can_be_shown(
    store: Store, ann: Annotator
) -> None:
    enqueue(store, 40)
    blank, broken = Blank({f"c{n}" for n in range(39)}), dict[str, str]()
    queue: list[Any] = []
    for n in range(1, 5):
        queue = talk(store, ann, None, shown=blank, broken=broken)["queue"]
        assert blank.asked <= MAX_BROKEN * n
    assert [one["of"] for one in queue] == ["c39"] and len(broken) == 39


def test_what_could_not_be_shown_is_free_for_others_once_it_can(tmp_path: Path) -> None:
    now = [0.0]
    with Store.open(Workspace.open(str(tmp_path)), clock=lambda: now[0]) as store:
        ann, bob = add_person(store, "ann"), add_person(store, "bob")
        enqueue(store, 20)
        blank, broken = Blank({f"c{n}" for n in range(20)}), dict[str, str]()
        for _ in range(3):
            talk(store, ann, None, shown=blank, broken=broken)
        assert len(broken) == 20
        for _ in range(20):  # started again; her page has stayed open
            now[0] += 60
            assert len(talk(store, ann, {"outbox": []})["queue"]) == MIN_EPISODES
        assert len(talk(store, bob, None)["queue"]) == MIN_EPISODES


def test_where_clips_are_plenty_twenty_come_and_each_is_sent_once(
    store: Store, ann: Annotator
) -> None:
    enqueue(store, 300)
    first = talk(store, ann, None)
    assert len(first["queue"]) == 20 and not first["more"]
    ids = [one["id"] for one in first["queue"]]
    sent = {"outbox": [answer(ids[0])], "has": ids}
    after = talk(store, ann, sent)["queue"]
    assert after[:19] == [{"id": one} for one in ids[1:]]
    (new,) = after[19:]
    assert new["of"] and new["id"] not in ids
    assert all("of" in one for one in talk(store, ann, {"has": "all"})["queue"])


@pytest.mark.parametrize("limit", ["MAX_CHARS", "MAX_SECONDS"])
def test_large_episodes_come_three_at_a_time_and_the_next_ones_when_they_are_here(
    store: Store, ann: Annotator, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue(store, 100)
    monkeypatch.setattr(events, limit, -1)
    here: list[str] = []
    for n in (3, 6, 9):
        data = talk(store, ann, {"has": here})
        assert [one["id"] for one in data["queue"] if "of" not in one] == here
        here = [one["id"] for one in data["queue"]]
        assert len(here) == n and data["more"]
    assert not talk(
        store, ann, {"has": [one.item for one in claim_items(store, ann.id, suite=SUITE)]}
    )["more"]


def test_the_day_is_counted_from_the_midnight_of_who_is_at_the_page(tmp_path: Path) -> None:
    clock = [time.time() - 3600.0]
    with Store.open(Workspace.open(str(tmp_path)), clock=lambda: clock[0]) as store:
        ann = add_person(store, "ann")
        enqueue(store, 5)
        first, second = (one["id"] for one in talk(store, ann, None)["queue"][:2])
        talk(store, ann, {"outbox": [answer(first, seconds=20.0)]})
        clock[0] += 3600.0
        sent = {"outbox": [answer(second, "2", seconds=7.5)]}
        now = time.time()
        assert talk(store, ann, sent | {"midnight": now - 1800})["counts"] == {
            "done": 2, "broken": 0, "left": 3, "today": 1, "seconds": 7.5,
        }  # fmt: skip
        assert talk(store, ann, {"midnight": now - 7200})["counts"]["seconds"] == 27.5
        for odd in (None, "x", now + 900, 0, float("-inf"), True, [now]):
            assert talk(store, ann, {"midnight": odd})["counts"]["today"] >= 0


def test_a_page_opened_anew_is_given_the_latest_judgements_to_correct(
    store: Store, ann: Annotator
) -> None:
    enqueue(store, 3)
    item = talk(store, ann, None)["queue"][0]["id"]
    talk(store, ann, {"outbox": [answer(item, verdict="success", step=2)]})
    (previous,) = talk(store, ann, None)["previous"]
    assert previous["uuid"] == "1" * 32 and previous["episode"]["id"] == item
    assert previous["mark"] == {"verdict": "success", "step": 2, "reason": None}
    assert talk(store, ann, {"outbox": []})["previous"] == []


def test_no_work_yet_and_no_work_left_are_told_apart(store: Store, ann: Annotator) -> None:
    assert talk(store, ann, None)["empty"]["title"] == "No episodes yet"
    enqueue(store, 1)
    item = talk(store, ann, None)["queue"][0]["id"]
    data = talk(store, ann, {"outbox": [answer(item)]})
    assert data["queue"] == []
    assert data["empty"]["title"] == "All done, thank you"
    assert "You have annotated 1 episode." in data["empty"]["text"]


def test_who_comes_when_all_is_judged_is_thanked_for_nothing(store: Store, ann: Annotator) -> None:
    enqueue(store, 1)
    item = talk(store, ann, None)["queue"][0]["id"]
    talk(store, ann, {"outbox": [answer(item)]})
    empty = talk(store, add_person(store, "late"), None)["empty"]
    assert empty["title"] == "Your queue is empty"
    assert "judged 0" not in empty["text"]


def test_a_namespace_is_one_persons_in_one_workspace() -> None:
    assert (
        len({storage_namespace("a", 1), storage_namespace("a", 2), storage_namespace("b", 1)}) == 3
    )
    assert "/home" not in storage_namespace("/home/ann", 1)


def test_an_episode_holds_what_a_judge_may_see_and_nothing_else() -> None:
    names, auras = ("Good", "Evil", "A", "B"), ((0, 1), (1, -1))
    picture = Picture("drawn", 20, 30, names, ("G", "E", "A", "B"), (2, 3), {"auras": auras})
    scene = np.array([[599, 0, 1, 2], [300, 0, 1, 2]], np.uint16)
    says = np.array([[0, 21]], np.int8)
    data = build_payload(
        drawing="grid", picture=picture, scene=scene, says=says, takeover=0, evaluated=(1,),
        tokens=("", "yes"), instructions=[Instruction("go", "a", 0, "setter")],
    )  # fmt: skip
    assert np.array_equal(np.frombuffer(base64.b64decode(data["scene"]), "<u2"), scene.ravel())
    assert base64.b64decode(data["says"]) == bytes([0, 21])
    assert data["judged"] == [3]
    assert (data["drawing"], data["details"]) == ("grid", {"auras": auras})
    assert set(data) == {
        "drawing", "height", "width", "names", "glyphs", "judged", "details", "steps",
        "takeover", "horizon", "scene", "says", "texts", "tokens", "instructions",
    }  # fmt: skip


def test_the_guide_is_there_where_a_world_is_not_at_hand() -> None:
    text = guide.build_guide(["lambda-star", "nowhere"])
    assert domain("lambda-star").guide in text and guide.PLACEHOLDER not in text
