"""Rooms: the clock of a live session, and what its people are sent."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from sts import agents
from sts.domains import load_domain
from sts.errors import Unavailable
from sts.live.game import Game
from sts.live.journal import read_events
from sts.live.types import Opening, Participant, Turn
from sts_annotator_app.live.rooms import AGENT_FAILED, DISK_FAILED, LEFT, Room
from tests.annotator_app.components.test_node import check_declared
from tests.waiting import wait_until

TICK = 0.06
PEOPLE = (Participant("human", "ann", "setter", 0), Participant("human", "bob", "solver", 1))


class Page:
    """The page of a person: keeps what it is sent."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.times: list[float] = []
        self.closed = ""
        self._arrived = asyncio.Event()

    async def send(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        self._arrived.set()
        self.times.append(time.monotonic())

    async def close(self, reason: str) -> None:
        self.closed = reason

    def list(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["type"] == kind]

    async def wait_for(self, kind: str, count: int = 1) -> None:
        async with asyncio.timeout(60):
            while len(self.list(kind)) < count:
                self._arrived.clear()
                await self._arrived.wait()


def make_room(path, participants=PEOPLE, *, domain="lambda-star", **changes) -> Room:
    """Return an open room whose session has 12 steps unless `changes` say otherwise."""
    room = {n: changes.pop(n) for n in ("countdown", "patience") if n in changes}
    more = {n: changes.pop(n) for n in ("load_agent",) if n in changes}
    settings = {"height": 6, "width": 6, "n_players": 3, "horizon": 50}
    world = load_domain(domain)
    (state,) = world.generate(1, seed=5, **(settings if domain == "lambda-star" else {}))
    fields = {"tick": TICK, "max_steps": 12} | changes
    opening = Opening("0" * 24, "record", domain, state, tuple(participants), **fields)
    made = Room(Game.start(path, opening, **more), keep, **({"countdown": 0.0} | room))
    made.open()
    return made


async def keep(game: Game) -> None:
    """Store nothing."""


async def play_five_steps(path) -> None:
    """Have another room play, so that what could happen meanwhile does."""
    room = make_room(path, PEOPLE[:1], max_steps=5)
    await room.enter(0, Page())
    await room.task


def test_clock_runs_only_while_all_people_are_there(tmp_path):
    async def go() -> None:
        room, ann, bob = make_room(tmp_path / "a"), Page(), Page()
        await room.enter(0, ann)
        await play_five_steps(tmp_path / "meanwhile")
        assert room.game.time == 0
        await room.enter(1, bob)
        await bob.wait_for("frame", 4)
        await room.leave(1, bob)
        at = room.game.time
        await play_five_steps(tmp_path / "later")
        assert room.game.time == at
        back = Page()
        await room.enter(1, back)
        await room.task
        assert back.list("hello")[0]["player"] == 1
        assert [frame["t"] for frame in back.list("frame")] == [*range(at, 13)]
        assert ann.list("state")[-1]["ended"] == "finished"

    asyncio.run(go())
    kinds = [event["kind"] for event in read_events(tmp_path / "a")]
    assert kinds.count("joined") == 3 and kinds.count("left") == 1


def test_session_ends_if_a_person_does_not_come_back(tmp_path):
    async def go() -> None:
        room, ann, bob = make_room(tmp_path / "a", patience=0.1, max_steps=1000), Page(), Page()
        await room.enter(0, ann)
        await room.enter(1, bob)
        await ann.wait_for("frame", 3)
        await room.leave(1, bob)
        await room.task
        assert ann.list("ended")[0]["text"] == LEFT

    asyncio.run(go())
    assert read_events(tmp_path / "a")[-1]["reason"] == "left"


def test_second_tab_takes_over_and_the_first_is_told_why(tmp_path):
    async def go() -> None:
        room, first, second = make_room(tmp_path / "a", max_steps=1000), Page(), Page()
        await room.enter(0, first)
        await room.enter(0, second)
        assert "another tab" in first.closed and second.list("hello")
        await room.leave(0, first)  # its websocket closes later
        assert room.game.ended == "" and second.list("state")[-1]["here"] == [0]
        await room.receive(0, {"type": "end"})
        await room.task

    asyncio.run(go())


class Slow(agents.Agent):
    name, version = "slow", "1"
    naps: list[float] = []

    def act(self, observation, instructions, memory, draws):
        until = time.monotonic() + (self.naps.pop(0) if self.naps else 0.0)
        wait_until(lambda: time.monotonic() >= until)
        return agents.PolicyOutput(np.zeros((1, 1), int)), memory


def test_delay_is_not_caught_up_and_is_recorded(tmp_path):
    people = [
        Participant("human", "ann", "setter", None),
        Participant("agent", "slow", "solver", 0),
    ]
    Slow.naps = [0.0, 0.0, 10 * TICK, 0.0, 0.0, 0.0]
    stepped: list[float] = []

    async def go() -> None:
        room = make_room(tmp_path / "a", people, max_steps=6, load_agent=lambda name: Slow())
        step = room.game.step

        def note(turns: Mapping[int, Turn], late_ms: float = 0.0) -> None:
            stepped.append(time.monotonic())
            step(turns, late_ms)

        room.game.step = note  # type: ignore[method-assign]
        ann = Page()
        await room.enter(0, ann)
        await room.task
        assert ann.list("frame")[4]["slow"]  # after the nap in the third step

    asyncio.run(go())
    # Two ticks, the delay, and two ticks; a clock that catches up takes no longer than the delay.
    assert stepped[-1] - stepped[0] > 12 * TICK
    late = [event["late_ms"] for event in read_events(tmp_path / "a") if event["kind"] == "step"]
    assert max(late) >= 8 * TICK * 1000


class Crashing(agents.Agent):
    name, version = "crashing", "1"

    def act(self, observation, instructions, memory, draws):
        raise ZeroDivisionError("secret place")


def test_crash_of_an_agent_ends_the_session_in_one_sentence(tmp_path):
    people = [Participant("human", "ann", "setter", None), Participant("agent", "c", "solver", 0)]

    async def go() -> None:
        room = make_room(tmp_path / "a", people, load_agent=lambda name: Crashing())
        ann = Page()
        await room.enter(0, ann)
        await room.task
        assert ann.list("ended")[0]["text"] == AGENT_FAILED
        assert "secret" not in str(ann.messages)

    asyncio.run(go())
    assert "ZeroDivisionError" in read_events(tmp_path / "a")[-1]["error"]


def test_journal_that_cannot_be_written_stops_one_session_and_no_other(tmp_path):
    async def go() -> None:
        rooms = [make_room(tmp_path / name, PEOPLE[:1], max_steps=20) for name in "ab"]
        pages = [Page(), Page()]
        for room, page in zip(rooms, pages, strict=True):
            await room.enter(0, page)
        await pages[0].wait_for("frame", 5)

        def fail(*given: Any, **fields: Any) -> None:
            raise Unavailable("disk full")

        rooms[0].game._journal.append = fail  # type: ignore[method-assign, union-attr]
        answer = await rooms[0].receive(0, {"type": "tell", "text": "Go.", "key": "k"})
        assert answer == {"type": "refused", "key": "k", "text": DISK_FAILED}
        for room in rooms:
            await room.task
        await rooms[0].leave(0, pages[0])
        assert pages[0].list("stopped")[0]["text"] == DISK_FAILED
        assert pages[1].list("state")[-1]["ended"] == "finished"

    asyncio.run(go())
    steps = [event for event in read_events(tmp_path / "a") if event["kind"] == "step"]
    assert len(steps) >= 4 and len(read_events(tmp_path / "b")) == 23


def test_ten_instructions_at_once_are_saved_in_order(tmp_path):
    async def go() -> list[dict[str, Any]]:
        room = make_room(tmp_path / "a", PEOPLE, max_steps=1000)
        ann, bob = Page(), Page()
        await room.enter(0, ann)
        await room.enter(1, bob)
        asked = [{"type": "tell", "text": f"Task {n}.", "key": f"k{n}"} for n in range(10)]
        answers = await asyncio.gather(*(room.receive(0, message) for message in [*asked, *asked]))
        for kind in ("end", "done"):
            await room.receive(0, {"type": kind})
        for number, page in enumerate((ann, bob)):
            await room.leave(number, page)
        await room.task
        return answers

    answers = asyncio.run(go())
    assert {answer["type"] for answer in answers} == {"saved"}
    texts = [event["text"] for event in read_events(tmp_path / "a") if event["kind"] == "told"]
    assert texts == [f"Task {n}." for n in range(10)]


def test_setter_who_leaves_after_the_end_can_return_and_mark(tmp_path):
    async def go() -> dict[str, Any]:
        room, ann, back = make_room(tmp_path / "a", PEOPLE[:1], max_steps=1000), Page(), Page()
        await room.enter(0, ann)
        await room.receive(0, {"type": "tell", "text": "Go."})
        await room.receive(0, {"type": "end"})
        await ann.wait_for("state", 3)
        await room.leave(0, ann)
        await play_five_steps(tmp_path / "meanwhile")
        await room.enter(0, back)
        answer = await room.receive(0, {"type": "mark", "instruction": 0, "mark": "success"})
        await room.leave(0, back)
        await room.task
        return answer

    assert asyncio.run(go())["type"] == "saved"


def test_mark_that_arrives_after_the_record_is_stored_is_refused(tmp_path):
    async def go() -> dict[str, Any]:
        room, ann = make_room(tmp_path / "a", PEOPLE[:1], patience=0.1, max_steps=1000), Page()
        await room.enter(0, ann)
        await room.receive(0, {"type": "tell", "text": "Go."})
        await room.receive(0, {"type": "end"})
        await room.task
        return await room.receive(0, {"type": "mark", "instruction": 0, "mark": "success"})

    answer = asyncio.run(go())
    assert answer["type"] == "refused" and "closed" in answer["text"]
    assert read_events(tmp_path / "a")[-1]["kind"] == "ended"


class Speaker(agents.Agent):
    name, version = "speaker", "1"

    def act(self, observation, instructions, memory, draws):
        return agents.PolicyOutput(np.zeros((1, 1), int), np.ones((1, 1), np.int8)), memory


@pytest.mark.parametrize(
    ("domain", "body"), [("overcooked", None), ("lambda-star", None), ("lambda-star", 1)]
)
def test_setter_is_sent_the_whole_scene_and_all_words(tmp_path, domain, body):
    people = [Participant("human", "ann", "setter", body), Participant("agent", "s", "solver", 0)]

    async def go() -> tuple[Room, Page]:
        room = make_room(
            tmp_path / "a", people, domain=domain, max_steps=2, load_agent=lambda name: Speaker()
        )
        ann = Page()
        await room.enter(0, ann)
        await room.receive(0, {"type": "tell", "text": "Go.", "key": "k"})
        await ann.wait_for("frame", 3)
        await room.receive(0, {"type": "done"})
        await room.leave(0, ann)
        await room.task
        return room, ann

    if domain == "overcooked":  # has no words
        people[1:] = []
    room, ann = asyncio.run(go())
    hello, frame, state = (ann.list(kind)[-1] for kind in ("hello", "frame", "state"))
    assert state["told"][0]["key"] == "k" and hello["players"] == [body, 0][: len(people)]
    if domain == "overcooked":
        layout = hello["layout"]
        assert [frame["view"][n] for n in ("height", "width")] == [
            layout["height"],
            layout["width"],
        ]
    else:
        assert frame["view"]["scene"] == room.game.scenes[-1].tolist()
        assert frame["said"] == [(0, "yes")]
    check_declared("LiveHello", hello)
    check_declared("LiveFrame", frame)
    check_declared("LiveState", state)
    check_declared("LiveTold", state["told"][0])


@pytest.mark.parametrize(
    ("domain", "expected"), [("overcooked", [3, 3, 3, 4]), ("lambda-star", [3, 4, 4, 4])]
)
def test_key_that_is_held_repeats_only_where_the_domain_says_so(tmp_path, domain, expected):
    async def go() -> None:
        person = (Participant("human", "ann", "player", 0),)
        room = make_room(tmp_path / "a", person, domain=domain, max_steps=4, tick=0.3)
        ann = Page()
        await room.enter(0, ann)
        assert await room.receive(0, {"type": "press", "move": 3}) == {"type": "key"}
        await ann.wait_for("frame", 4)  # the first is sent on entering
        await room.receive(0, {"type": "release", "move": 3})
        await room.task

    asyncio.run(go())
    events = [event for event in read_events(tmp_path / "a") if event["kind"] == "step"]
    assert [event["actions"][0] for event in events] == expected


@pytest.mark.parametrize(
    "message",
    [
        {"type": "tell", "text": 3},
        {"type": "tell"},
        {"type": "mark", "instruction": "0", "mark": "success"},
        {"type": "mark", "instruction": True, "mark": "success"},
        {"type": "press", "move": 99},
        {"type": "press", "move": 1, "say": [1]},
        {"type": "press"},
        {"type": ["tell"]},
        {},
    ],
)
def test_forged_message_is_refused_in_one_sentence_and_changes_nothing(tmp_path, message):
    async def go() -> None:
        room = make_room(tmp_path / "a", max_steps=1000)
        answer = await room.receive(0, message)
        assert answer["type"] == "refused" and "\n" not in answer["text"]
        await room.receive(0, {"type": "end"})
        await room.task

    asyncio.run(go())
    assert [event["kind"] for event in read_events(tmp_path / "a")] == ["opened", "ended"]
