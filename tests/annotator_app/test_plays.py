"""A person's session is held open between their turns: what each sends and gets is what changed."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.continuations.store import load
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.types import Suite
from sts.worlds.lambda_star.domain import Batch
from sts_annotator_app import play
from tests.examples import scenarios
from tests.stores import add_person

TURNS = [[n % 9, 0] for n in range(8)]
two = functools.cache(lambda: tuple(scenarios(2)))


class Table:
    """A server with one suite, and the steps that its worlds have taken."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace.open(str(folder)).ensure()
        self.suite = Suite("small", 1, None, "", two(), {})
        suites.write(self.workspace.path("suites", "small", "1"), self.suite)
        self.store = Store.open(self.workspace)
        self.plays, self.broken = play.PlaySessions(), set[str]()
        self.steps = 0

    def sends(self, person: Annotator, sent: dict[str, Any] | None) -> dict[str, Any]:
        return play.sync_page(
            self.workspace,
            self.store,
            self.suite,
            person,
            sent and {"author": "me", **sent},
            author="me",
            judged=(),
            plays=self.plays,
            broken=self.broken,
        )


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    made, stepped = Table(tmp_path), Batch.step

    def counted(worlds: Batch, *given: Any) -> None:
        made.steps += 1
        stepped(worlds, *given)

    monkeypatch.setattr(Batch, "step", counted)
    with made.store:
        yield made


@pytest.fixture
def ann(table: Table) -> Annotator:
    return add_person(table.store, "ann")


def test_turn_n_steps_the_world_once_and_sends_one_frame(table: Table, ann: Annotator) -> None:
    data = table.sends(ann, None)
    takeover, frames = data["takeover"], list(data["frames"])
    assert table.steps == takeover == len(frames) - 1
    sizes = []
    for n, turn in enumerate(TURNS, 1):
        message = {"session": data["session"], "frames": len(frames), "turns": [turn]}
        data = table.sends(ann, message)
        assert table.steps == takeover + n and data["first"] == len(frames)
        assert len(data["frames"]) == 1 and data["turns"] == [turn]
        frames += data["frames"]
        sizes.append(len(json.dumps(data)))
    assert max(sizes) < 1.2 * min(sizes)
    assert data["finished"]
    (made,) = load(table.workspace, {one.hash for one in table.suite.scenarios})
    assert made.episode.moves[takeover:, 0].tolist() == [move for move, _ in TURNS]


def test_a_message_that_comes_twice_makes_its_turn_once(table: Table, ann: Annotator) -> None:
    begun = table.sends(ann, None)
    message = {"session": begun["session"], "frames": len(begun["frames"]), "turns": TURNS[:1]}
    first, again = (table.sends(ann, message) for _ in range(2))
    assert first == again and table.steps == begun["takeover"] + 1


def test_a_page_opened_anew_is_sent_everything_and_steps_nothing(
    table: Table, ann: Annotator
) -> None:
    begun = table.sends(ann, None)
    message = {"session": begun["session"], "frames": len(begun["frames"]), "turns": TURNS[:1]}
    table.sends(ann, message)
    steps = table.steps
    whole = table.sends(ann, {"session": begun["session"], "frames": 0, "turns": []})
    assert (whole["first"], whole["played"], whole["turns"]) == (0, 1, TURNS[:1])
    assert len(whole["frames"]) == len(begun["frames"]) + 1 and table.steps == steps


def test_a_lost_process_makes_the_turns_again_once_and_shows_the_same(
    table: Table, ann: Annotator
) -> None:
    begun = table.sends(ann, None)
    name, context = begun["session"], len(begun["frames"])
    shown = table.sends(ann, {"session": name, "frames": context, "turns": TURNS[:3]})
    table.plays = play.PlaySessions()
    lost = table.sends(ann, {"session": name, "frames": context + 3, "turns": TURNS[3:4]})
    assert (lost["first"], lost["played"], lost["received"]) == (0, 0, 0)
    assert lost["frames"] == begun["frames"]
    steps = table.steps
    again = table.sends(ann, {"session": name, "frames": context, "turns": TURNS[:4]})
    assert again["frames"][:3] == shown["frames"] and again["played"] == 4
    assert table.steps == steps + 4


def test_turns_that_were_taken_stay_whatever_another_page_sends(
    table: Table, ann: Annotator
) -> None:
    begun = table.sends(ann, None)
    name, context = begun["session"], len(begun["frames"])
    table.sends(ann, {"session": name, "frames": context, "turns": [[1, 0], [2, 0]]})
    other = table.sends(ann, {"session": name, "frames": context, "turns": [[3, 0]]})
    assert (other["turns"], other["played"]) == ([[1, 0], [2, 0]], 2)
    behind = table.sends(ann, {"session": name, "frames": context, "turns": [[1, 0]]})
    assert behind["played"] == 2


def test_what_is_no_turn_is_not_taken_whatever_a_page_says_it_has(
    table: Table, ann: Annotator
) -> None:
    begun = table.sends(ann, None)
    frames: list[Any] = [None, -1, 1.0, "3", True, 10**9, [4]]
    turns: list[Any] = [None, "x", [[9, 0]], [[0, 22]], [[0]], [[0.0, 0]], [7]]
    for has, made in itertools.product(frames, turns):
        data = table.sends(ann, {"session": begun["session"], "frames": has, "turns": made})
        assert data["session"] == begun["session"] and data["played"] == 0
    assert table.steps == begun["takeover"]


def test_more_turns_than_there_are_to_make_end_with_the_last(table: Table, ann: Annotator) -> None:
    begun = table.sends(ann, None)
    data = table.sends(ann, {"session": begun["session"], "turns": [*TURNS, *TURNS]})
    assert data["finished"] and data["played"] == len(TURNS)
    assert table.sends(ann, {"session": begun["session"], "turns": TURNS[:1]})["finished"]


def test_of_more_plays_than_are_held_open_the_longest_unused_is_closed(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "MAX_OPEN", 2)
    people = [add_person(table.store, name) for name in ("ann", "bob", "cy")]
    begun = [table.sends(person, None) for person in people]
    steps = table.steps
    for one, person in zip(begun[1:], people[1:], strict=True):
        table.sends(person, {"session": one["session"], "turns": []})
    assert table.steps == steps
    table.sends(people[0], {"session": begun[0]["session"], "turns": []})
    assert table.steps == steps + begun[0]["takeover"]
