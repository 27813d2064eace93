"""Play sessions: a session stays open between a person's turns, and messages carry changes."""

from __future__ import annotations

import functools
import itertools
import json
from typing import Any

import pytest

from sts.annotations.store import AnnotationStore
from sts.annotations.types import Annotator
from sts.continuations.store import load
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.types import Suite
from sts.worlds.lambda_star.domain import Batch
from sts_annotator_app import play
from tests.annotator_app.components.test_node import check_declared
from tests.examples import scenarios
from tests.stores import add_person

TURNS = [[n % 9, 0] for n in range(8)]
two = functools.cache(lambda: tuple(scenarios(2)))


class Table:
    """A suite, a person's play session of it, and the steps that its environments have taken."""

    def __init__(
        self, workspace: Workspace, store: AnnotationStore, patch: pytest.MonkeyPatch
    ) -> None:
        self.workspace, self.store, self.steps = workspace, store, 0
        self.suite = Suite("small", 1, None, "", two(), {})
        suites.write(workspace.path("suites", "small", "1"), self.suite)
        self.plays, self.broken = play.PlaySessions(), set[str]()
        step = Batch.step

        def counted(worlds: Batch, *given: Any) -> None:
            self.steps += 1
            step(worlds, *given)

        patch.setattr(Batch, "step", counted)
        self.ann = add_person(store, "ann")
        self.begun = self.send(None)
        self.name, self.takeover = self.begun["session"], self.begun["takeover"]
        self.context = len(self.begun["frames"])

    def send(
        self, sent: dict[str, Any] | None, person: Annotator | None = None, judged: Any = ()
    ) -> dict[str, Any]:
        more: dict[str, Any] = {"plays": self.plays, "broken": self.broken, "judged": judged}
        sent = sent and {"author": "me", **sent}
        given = (self.workspace, self.store, self.suite, person or self.ann, sent)
        return play.sync_page(*given, author="me", **more)

    def turn(self, turns: Any, frames: Any = None) -> dict[str, Any]:
        """Send turns from a page that has the context, or as many `frames` as it says."""
        has = self.context if frames is None else frames
        return self.send({"session": self.name, "frames": has, "turns": turns})


@pytest.fixture
def table(workspace: Workspace, store: AnnotationStore, monkeypatch: pytest.MonkeyPatch) -> Table:
    return Table(workspace, store, monkeypatch)


def test_each_turn_steps_the_environment_once_and_sends_one_frame(table: Table) -> None:
    assert table.steps == table.takeover == table.context - 1
    check_declared("Shown", {name: one for name, one in table.begun.items() if name != "author"})
    sizes, data = [], table.begun
    for n, turn in enumerate(TURNS):
        data = table.turn([turn], table.context + n)
        assert table.steps == table.takeover + n + 1 and data["first"] == table.context + n
        assert len(data["frames"]) == 1 and data["turns"] == [turn]
        sizes.append(len(json.dumps(data)))
    assert max(sizes) < 1.2 * min(sizes)
    assert data["finished"]
    (made,) = load(table.workspace, {one.hash for one in table.suite.scenarios})
    assert made.episode.actions[table.takeover :, 0].tolist() == [move for move, _ in TURNS]


def test_repeated_message_takes_its_turn_once_and_reload_resends_everything(table: Table) -> None:
    first, again = (table.turn(TURNS[:1]) for _ in range(2))
    assert first == again and table.steps == table.takeover + 1
    whole = table.send({"session": table.name, "frames": 0, "turns": []})
    assert (whole["first"], whole["played"], whole["turns"]) == (0, 1, TURNS[:1])
    assert len(whole["frames"]) == table.context + 1 and table.steps == table.takeover + 1


def test_restarted_server_replays_the_turns_once_and_shows_the_same_frames(table: Table) -> None:
    shown = table.turn(TURNS[:3])
    table.plays = play.PlaySessions()
    lost = table.turn(TURNS[3:4], table.context + 3)
    assert (lost["first"], lost["played"], lost["received"]) == (0, 0, 0)
    assert lost["frames"] == table.begun["frames"]
    steps = table.steps
    again = table.turn(TURNS[:4])
    assert again["frames"][:3] == shown["frames"] and again["played"] == 4
    assert table.steps == steps + 4


def test_turns_taken_stay_when_another_page_sends_others(table: Table) -> None:
    table.turn([[1, 0], [2, 0]])
    other = table.turn([[3, 0]])
    assert (other["turns"], other["played"]) == ([[1, 0], [2, 0]], 2)
    assert table.turn([[1, 0]])["played"] == 2


def test_invalid_turns_and_frame_counts_take_no_step(table: Table) -> None:
    counts: list[Any] = [None, -1, 1.0, "3", True, 10**9, [4]]
    turns: list[Any] = [None, "x", [[9, 0]], [[0, 22]], [[0]], [[0.0, 0]], [7]]
    for has, made in itertools.product(counts, turns):
        data = table.send({"session": table.name, "frames": has, "turns": made})
        assert data["session"] == table.name and data["played"] == 0
    assert table.steps == table.takeover


def test_person_gets_only_observations_and_no_scenario_that_they_judged(table: Table) -> None:
    text = json.dumps(table.begun)
    assert '"cells"' in text, "the net is in the water"
    for word in ("scene", "trajectory", "takeover_hash", "parameters", "recording"):
        assert f'"{word}"' not in text
    names = {play.session_key(table.ann, one): one.hash for one in table.suite.scenarios}
    again = table.send(None, judged={names[table.name]})
    assert again["session"] in names.keys() - {table.name}


def test_turns_past_the_horizon_are_ignored(table: Table) -> None:
    data = table.send({"session": table.name, "turns": [*TURNS, *TURNS]})
    assert data["finished"] and data["played"] == len(TURNS)
    assert table.send({"session": table.name, "turns": TURNS[:1]})["finished"]


def test_least_recently_used_session_is_closed_above_the_limit(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "MAX_OPEN", 2)
    others = [add_person(table.store, name) for name in ("bob", "cy")]
    begun = [table.send(None, person) for person in others]
    steps = table.steps
    for one, person in zip(begun, others, strict=True):
        table.send({"session": one["session"], "turns": []}, person)
    assert table.steps == steps
    table.send({"session": table.name, "turns": []})
    assert table.steps == steps + table.takeover
