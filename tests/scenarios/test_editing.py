"""An edit derives again whatever depends on it, and says what is another than before."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts.engine import replay
from sts.errors import ArgumentError, ReplayMismatch
from sts.suites.lint import lint
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts_scenarios import categories, mining
from sts_scenarios.category import Candidate, Category
from sts_scenarios.editing import Edited, Editor, added
from tests.examples import on_test_side, recorded

EVERY = {c.name: c for c in categories.installed(["lambda-star"]).values()}


@functools.cache
def by_id() -> dict[str, Trajectory]:
    made = on_test_side(recorded(count=40, team=2, steps=50, height=8, width=9, seed=5))
    return {one.id: one for one in made}


@functools.cache
def mined() -> tuple[Scenario, ...]:
    rules = [*EVERY.values()]
    return tuple(mining.mine([*by_id().values()], rules, per_category=2, seed=0).scenarios)


def one_of(category: str) -> tuple[Scenario, Trajectory]:
    found = next(s for s in mined() if s.category == category)
    return found, by_id()[found.trajectory]


def unasked(category: str) -> tuple[Scenario, Trajectory, int]:
    """Return a scenario, its recording, and a moment of that at which its category does not ask."""
    every = mining.mine([*by_id().values()], [EVERY[category]], per_category=99, seed=0)
    for before in every.scenarios:
        trajectory = by_id()[before.trajectory]
        asked = EVERY[category].moments(trajectory)
        there = {c.moment for c in asked if c.role == before.roles[0]}
        if none := [t for t in range(10, 38) if t not in there]:
            return before, trajectory, none[0]
    raise AssertionError(f"{category} asks at every moment")


def edited(
    before: Scenario, trajectory: Trajectory, category: Category, changes: dict[str, Any]
) -> Edited:
    return Editor(before, trajectory, [category]).preview({"category": category.name} | changes)


def test_no_change_is_the_same_scenario() -> None:
    assert {s.category for s in mined()} == set(EVERY)
    for before in mined():
        made = edited(before, by_id()[before.trajectory], EVERY[before.category], {})
        assert made.changes == {} and made.fault is None
        assert made.scenario.row_hash == before.row_hash


@given(data=st.data())
def test_whatever_fits_after_an_edit_can_be_frozen(data: st.DataObject) -> None:
    before = data.draw(st.sampled_from(mined()))
    trajectory, steps = by_id()[before.trajectory], 50
    context, length = data.draw(st.integers(0, 15)), data.draw(st.integers(1, 20))
    moment = data.draw(st.integers(context, steps - length))
    changes = {"context": context, "length": length, "takeover": moment}
    made = edited(before, trajectory, EVERY[before.category], changes)
    assert (made.scenario.takeover, made.scenario.horizon) == (context, length)
    assert made.scenario.context_start + context == moment
    assert lint([dataclasses.replace(made.scenario, pair="")]) == []
    assert EVERY[before.category].fits(made.scenario) == made.fault


def test_a_preview_is_the_same_whatever_was_tried_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, trajectory = one_of("where-is-good")
    tried = Editor(before, trajectory)
    begun = []
    real = replay.along

    def watched(*given: Any) -> Any:
        begun.append(given)
        return real(*given)

    changes: list[dict[str, Any]] = [{"takeover": moment} for moment in (30, 12, 45, 11)]
    asks = next(
        c.moment for c in EVERY["shadow-evil"].moments(trajectory) if c.role == before.roles[0]
    )
    changes += [
        {"length": 9},
        {"context": 3},
        {"category": "shadow-evil", "takeover": asks, "length": 12},
    ]
    changes += [{"role": 1}, {"wording": 1}, {}]
    fresh = [Editor(before, trajectory).preview(one) for one in changes]
    monkeypatch.setattr("sts_scenarios.editing.along", watched)
    for change, made in zip(changes, fresh, strict=True):
        again = tried.preview(change)
        assert again.scenario.row_hash == made.scenario.row_hash
        assert again[1:] == made[1:]
    assert begun == []  # the replay went on from where it was
    label = EVERY["shadow-evil"].label
    shadow = fresh[6]
    asked = shadow.scenario
    assert shadow.label == label(asked.recording, asked.takeover, asked.roles, asked.parameters)


def test_what_leaves_its_recording_is_refused_as_often_as_it_is_tried() -> None:
    before, trajectory = one_of("shadow-evil")
    moves = trajectory.episode.moves.copy()
    moves[3] = (moves[3] + 1) % 9
    harmed = dataclasses.replace(
        trajectory, episode=dataclasses.replace(trajectory.episode, moves=moves)
    )
    tried = Editor(before, harmed)
    for _ in range(2):
        with pytest.raises(ReplayMismatch, match="trajectory .*step 3"):
            tried.preview({"length": 9})


def test_the_answer_is_that_of_the_new_takeover() -> None:
    before, trajectory = one_of("where-is-good")
    category = EVERY["where-is-good"]
    there = {c.moment: c for c in category.moments(trajectory) if c.role == before.roles[0]}
    assert len(there) > 1
    for moment, candidate in there.items():
        made = edited(before, trajectory, category, {"takeover": moment})
        assert made.scenario.parameters == candidate.parameters
        assert made.scenario.difficulty == candidate.difficulty
        assert made.fault is None
        changed = candidate.parameters != before.parameters
        assert ("parameters" in made.changes) == changed


def by_turns(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yield the moments of shadow-evil, which asks for three steps and four in turn."""
    for one in EVERY["shadow-evil"].candidates(trajectory, context, horizon):
        steps = 3 + one.moment % 2
        yield dataclasses.replace(one, parameters={"steps": steps}, words={"steps": str(steps)})


def test_a_wording_follows_what_is_asked_and_words_of_ones_own_stay() -> None:
    before, trajectory = one_of("shadow-evil")
    category = dataclasses.replace(EVERY["shadow-evil"], candidates=by_turns)
    other = next(
        c
        for c in category.moments(trajectory)
        if c.role == before.roles[0] and c.parameters != before.parameters
    )
    made = edited(before, trajectory, category, {"takeover": other.moment})
    assert made.scenario.instruction.text in [w.format(**other.words) for w in category.wordings]
    for number, wording in enumerate(category.wordings):
        chosen = edited(made.scenario, trajectory, category, {"wording": number})
        assert chosen.scenario.instruction.text == wording.format(**other.words)
    typed = edited(made.scenario, trajectory, category, {"text": "Go {there} and on."})
    assert typed.scenario.instruction.text == "Go {there} and on."
    again = edited(typed.scenario, trajectory, category, {"length": before.horizon + 1})
    assert again.scenario.instruction.text == "Go {there} and on."


def test_a_wording_is_filled_where_the_category_asks_nothing_too() -> None:
    before, trajectory, none = unasked("shadow-evil")
    category = EVERY["shadow-evil"]
    assert category.words is not None
    words = {field: word.text for field, word in category.words(before).items()}
    for number, wording in enumerate(category.wordings):
        made = edited(before, trajectory, category, {"takeover": none, "wording": number})
        assert made.scenario.instruction.text == wording.format(**words)


def test_another_category_asks_its_own_at_the_same_moment() -> None:
    before, trajectory = one_of("next-move")
    made = edited(before, trajectory, EVERY["where-is-good"], {"category": "where-is-good"})
    assert (made.scenario.category, made.scenario.kind) == ("where-is-good", "question")
    assert made.scenario.instruction.text == EVERY["where-is-good"].wordings[0]
    assert made.scenario.id == before.id and made.fault is None
    assert "answer" in made.scenario.parameters


def test_an_unfit_takeover_is_said_to_be_one() -> None:
    before, trajectory, none = unasked("where-is-good")
    made = edited(before, trajectory, EVERY["where-is-good"], {"takeover": none})
    assert made.fault == "Good is not in sight at the takeover"


def test_another_category_that_asks_nothing_there_says_where_it_does() -> None:
    before, trajectory = one_of("where-is-good")
    asks = {c.moment for c in EVERY["shadow-evil"].moments(trajectory) if c.role == before.roles[0]}
    none = next(t for t in range(10, 40) if t not in asks)
    with pytest.raises(
        ArgumentError, match=f"shadow-evil has no candidate for role .* {none} .* at: "
    ) as error:
        Editor(before, trajectory).preview(
            {"category": "shadow-evil", "takeover": none, "length": 12}
        )
    assert str(max(asks)) in str(error.value)


def test_tags_are_set_and_what_the_rule_found_stays() -> None:
    for before in mined():
        made = edited(
            before, by_id()[before.trajectory], EVERY[before.category], {"tags": ["wrap"]}
        )
        done = "done-in-recording" in before.tags
        assert made.scenario.tags == ("wrap", "done-in-recording")[: 1 + done]
        assert made.scenario.hash == before.hash


def test_links_and_provenance_outlive_an_edit() -> None:
    before, trajectory = one_of("clean-take")
    linked = dataclasses.replace(before, pair="p", series="s", turn=2, replaces="clean-take-00")
    made = edited(linked, trajectory, EVERY["clean-take"], {"length": 12})
    assert (made.scenario.pair, made.scenario.series, made.scenario.turn) == ("p", "s", 2)
    assert made.scenario.provenance == before.provenance


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"takeover": 49}, "expected a takeover from 10 to 35, as trajectory"),
        ({"takeover": 9}, "expected a takeover from 10 to 35"),
        ({"takeover": -1, "context": 0}, "expected a takeover from 0"),
        ({"context": -1}, "expected a context of 0 steps or more"),
        ({"length": 0}, "a length of 1 or more"),
        ({"length": 10**9}, "expected a takeover from"),
        ({"role": 2}, "expected a role from 0 to 1, found 2"),
        ({"role": "0"}, "role: expected int, found '0'"),
        ({"takeover": True}, "takeover: expected int"),
        ({"wording": 3}, "expected a wording from 0 to 2, found 3"),
        ({"text": " "}, "expected an instruction of one line"),
        ({"text": "a\nb"}, "expected an instruction of one line"),
        ({"text": "x" * 2001}, "expected an instruction of one line"),
        ({"text": "a", "wording": 0}, "a text or a wording, found both"),
        ({"tags": ["a\x1b"]}, "expected tags"),
        ({"tags": [1]}, "expected tags"),
        ({"state": "00"}, "expected a change of takeover, context"),
    ],
)
def test_a_change_that_is_none_is_one_line(changes: dict[str, object], found: str) -> None:
    before, trajectory = one_of("clean-take")
    with pytest.raises(ArgumentError, match=found) as error:
        edited(before, trajectory, EVERY["clean-take"], changes)
    assert "\n" not in str(error.value)


def test_a_scenario_is_added_where_its_category_asks_and_nowhere_else() -> None:
    before, trajectory, none = unasked("where-is-good")
    category = EVERY["where-is-good"]
    moment = before.context_start + before.takeover
    chosen = {"takeover": moment, "role": before.roles[0], "category": "where-is-good"}
    made = added(trajectory, category, chosen, id="where-is-good-77")
    assert (made.scenario.id, made.fault) == ("where-is-good-77", None)
    assert made.scenario.parameters == before.parameters
    assert lint([made.scenario]) == []
    with pytest.raises(ArgumentError, match="has no candidate for role .* it has at: "):
        added(trajectory, category, chosen | {"takeover": none}, id="x-01")
