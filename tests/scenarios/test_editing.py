"""Edits of a scenario derive everything that depends on the change, and list what differs."""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts.errors import ArgumentError, ReplayMismatch
from sts.suites.lint import lint_scenarios
from sts.suites.suite import Scenario
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.draft import editing
from sts_scenarios.draft.editing import Edit, Editor, add_scenario
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Candidate, Category
from tests.examples import on_test_side, recorded
from tests.mined import mine

EVERY = {c.name: c for c in categories.installed_categories(["lambda-star"]).values()}
WHERE, SHADOW = EVERY["where-is-good"], EVERY["shadow-evil"]


@functools.cache
def by_id() -> dict[str, Trajectory]:
    world: dict[str, Any] = {"team": 2, "steps": 50, "height": 8, "width": 9}
    made = on_test_side(
        recorded(count=40, seed=5, **world) + recorded("random", count=20, seed=6, **world)
    )
    return {one.id: one for one in made}


@functools.cache
def mined() -> tuple[Scenario, ...]:
    rules = [*EVERY.values()]
    return tuple(mine([*by_id().values()], rules, per_category=1, seed=0).scenarios)


def one_of(category: str) -> tuple[Scenario, Trajectory]:
    found = next(s for s in mined() if s.category == category)
    return found, by_id()[found.trajectory]


@pytest.mark.parametrize("category", ["shadow-evil", "count-others", "when-evil"])
def test_steps_that_fit_are_those_at_which_the_edit_would_be_valid(
    category: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editing, "MAX_SEARCH_S", float("inf"))
    before, trajectory = one_of(category)
    editor, shorter = Editor(before, trajectory), {"horizon": before.horizon - 1}
    last = trajectory.episode.steps - before.horizon + 1
    valid = [
        step
        for step in range(before.context, last + 1)
        if editor.preview(shorter | {"takeover": step}).fault is None
    ]
    assert 0 < len(valid) < last and editor.find_steps(shorter) == valid
    assert editor.find_steps(shorter | {"takeover": 999}) == valid
    assert editor.find_steps({"context": -5}) == editor.find_steps({"partner": "none"}) == []


def find_candidates(
    category: Category, trajectory: Trajectory, before: Scenario
) -> dict[int, Candidate]:
    """Return the candidates of a category for the scenario's player, by step."""
    return {
        c.step: c for c in category.find_candidates(trajectory) if c.player == before.players[0]
    }


def unasked(category: Category) -> tuple[Scenario, Trajectory, int]:
    """Return a scenario, its recording, and a step of that at which its category does not ask."""
    every = mine([*by_id().values()], [category], per_category=99, seed=0)
    for before in every.scenarios:
        trajectory = by_id()[before.trajectory]
        if free := sorted({*range(10, 38)} - {*find_candidates(category, trajectory, before)}):
            return before, trajectory, free[0]
    raise AssertionError(f"{category.name} asks at every step")


def edit(before: Scenario, changes: dict[str, Any], category: Category | None = None) -> Edit:
    rule = category or EVERY[before.category]
    editor = Editor(before, by_id()[before.trajectory], [rule])
    return editor.preview({"category": rule.name} | changes)


def test_empty_edit_and_tags_keep_the_scenario():
    assert {s.category for s in mined()} == set(EVERY)
    for before in mined():
        made = edit(before, {})
        assert made.changes == {} and made.fault is None
        assert made.scenario.row_hash == before.row_hash
        tagged = edit(before, {"tags": ["wrap"]}).scenario
        done = "done-in-recording" in before.tags
        assert tagged.tags == ("wrap", "done-in-recording")[: 1 + done]
        assert tagged.hash == before.hash


@given(data=st.data())
def test_edited_scenario_that_fits_can_be_frozen(data: st.DataObject) -> None:
    before = data.draw(st.sampled_from(mined()))
    context, length = data.draw(st.integers(0, 15)), data.draw(st.integers(1, 20))
    step = data.draw(st.integers(context, 50 - length))
    made = edit(before, {"context": context, "horizon": length, "takeover": step})
    assert (made.scenario.context, made.scenario.horizon) == (context, length)
    assert made.scenario.context_start + context == step
    assert lint_scenarios([dataclasses.replace(made.scenario, pair="")]) == []
    assert EVERY[before.category].why_invalid(made.scenario) == made.fault


def test_preview_does_not_depend_on_earlier_previews(monkeypatch):
    every = mine([*by_id().values()], [WHERE], per_category=9, seed=0).scenarios
    before = next(s for s in every if find_candidates(SHADOW, by_id()[s.trajectory], s))
    trajectory = by_id()[before.trajectory]
    asks = next(iter(find_candidates(SHADOW, trajectory, before)))
    shadow = {"category": "shadow-evil", "takeover": asks, "horizon": 12}
    changes: list[dict[str, Any]] = [{"takeover": step} for step in (30, 12, 45, 11)]
    changes += [shadow, {"horizon": 9}, {"context": 3}, {"player": 1}, {"template": 1}, {}]
    tried = Editor(before, trajectory)
    fresh = [Editor(before, trajectory).preview(one) for one in changes]
    begun: list[object] = []
    monkeypatch.setattr(
        "sts_scenarios.draft.editing.replay_worlds", lambda *given: begun.append(given)
    )
    for change, made in zip(changes, fresh, strict=True):
        again = tried.preview(change)
        assert again.scenario.row_hash == made.scenario.row_hash and again[1:] == made[1:]
    assert begun == []  # the replay continued from where it was
    one = fresh[4].scenario
    assert fresh[4].label == SHADOW.label(one.recording, one.context, one.players, one.parameters)


def test_edit_of_a_recording_that_does_not_replay_is_refused_each_time():
    before, trajectory = one_of("shadow-evil")
    actions = trajectory.episode.actions.copy()
    actions[3] = (actions[3] + 1) % 9
    episode = dataclasses.replace(trajectory.episode, actions=actions)
    tried = Editor(before, dataclasses.replace(trajectory, episode=episode))
    for _ in range(2):
        with pytest.raises(ReplayMismatch, match="trajectory .*step 3"):
            tried.preview({"horizon": 9})


def test_answer_and_difficulty_follow_the_new_takeover():
    before, trajectory = one_of("where-is-good")
    there = find_candidates(WHERE, trajectory, before)
    assert len(there) > 1
    for step, candidate in there.items():
        made = edit(before, {"takeover": step})
        assert made.scenario.parameters == candidate.parameters
        assert made.scenario.difficulty == candidate.difficulty
        assert made.fault is None
        assert ("parameters" in made.changes) == (candidate.parameters != before.parameters)


def by_turns(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yield the candidates of shadow-evil, which asks for three steps and four in turn."""
    for one in SHADOW.candidates(trajectory, context, horizon):
        steps = 3 + one.step % 2
        yield dataclasses.replace(one, parameters={"steps": steps}, fields={"steps": str(steps)})


def test_wording_follows_the_parameters_and_a_custom_text_stays():
    before, trajectory = one_of("shadow-evil")
    category = dataclasses.replace(SHADOW, candidates=by_turns)
    every = find_candidates(category, trajectory, before).values()
    other = next(c for c in every if c.parameters != before.parameters)
    made = edit(before, {"takeover": other.step}, category).scenario
    texts = [wording.format(**other.fields) for wording in category.templates]
    assert made.instruction.text in texts
    for number, text in enumerate(texts):
        assert edit(made, {"template": number}, category).scenario.instruction.text == text
    typed = edit(made, {"instruction": "Go {there} and on."}, category).scenario
    again = edit(typed, {"horizon": before.horizon + 1}, category).scenario
    assert typed.instruction.text == again.instruction.text == "Go {there} and on."


def test_wording_is_filled_at_a_step_without_a_candidate():
    before, _, free = unasked(SHADOW)
    assert SHADOW.template_fields is not None
    words = SHADOW.template_fields(before)
    for number, wording in enumerate(SHADOW.templates):
        made = edit(before, {"takeover": free, "template": number})
        assert made.scenario.instruction.text == wording.format(**words)


def test_another_category_asks_its_own_question_at_the_same_step():
    before, _ = one_of("next-move")
    made = edit(before, {}, WHERE)
    assert (made.scenario.category, made.scenario.kind) == ("where-is-good", "question")
    assert made.scenario.instruction.text == WHERE.templates[0]
    assert made.scenario.id == before.id and made.fault is None
    assert "answer" in made.scenario.parameters


def test_edit_to_a_step_without_a_candidate_is_unfit_or_refused():
    before, trajectory, free = unasked(WHERE)
    assert edit(before, {"takeover": free}).fault == "Good is not in sight at the takeover"
    asks = find_candidates(SHADOW, trajectory, before)
    step = next(t for t in range(10, 40) if t not in asks)
    changes = {"category": "shadow-evil", "takeover": step, "horizon": 12}
    expected = f"shadow-evil has no candidate for player .* {step} .* at: .*{max(asks)}"
    with pytest.raises(ArgumentError, match=expected):
        Editor(before, trajectory).preview(changes)


def test_links_and_provenance_outlive_an_edit():
    before, _ = one_of("clean-take")
    linked = dataclasses.replace(before, pair="p", dialogue="s", turn=2, replaces="clean-take-00")
    made = edit(linked, {"horizon": 12}).scenario
    assert (made.pair, made.dialogue, made.turn) == ("p", "s", 2)
    assert made.provenance == before.provenance


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"takeover": 49}, "expected a takeover from 10 to 35, as trajectory"),
        ({"takeover": 9}, "expected a takeover from 10 to 35"),
        ({"takeover": -1, "context": 0}, "expected a takeover from 0"),
        ({"context": -1}, "expected a context of 0 steps or more"),
        ({"horizon": 0}, "a horizon of 1 or more"),
        ({"horizon": 10**9}, "expected at most 50 steps, as trajectory"),
        ({"player": 2}, "expected a player from 0 to 1, found 2"),
        ({"player": "0"}, "player: expected int, found '0'"),
        ({"takeover": True}, "takeover: expected int"),
        ({"template": 3}, "expected a template from 0 to 2, found 3"),
        ({"instruction": " "}, "expected an instruction of one line"),
        ({"instruction": "a\nb"}, "expected an instruction of one line"),
        ({"instruction": "x" * 2001}, "expected an instruction of one line"),
        ({"instruction": "a", "template": 0}, "an instruction or a template, found both"),
        ({"tags": ["a\x1b"]}, "expected tags"),
        ({"tags": [1]}, "expected tags"),
        ({"state": "00"}, "expected a change of takeover, context"),
    ],
)
def test_invalid_change_is_refused(changes, found):
    with pytest.raises(ArgumentError, match=found) as error:
        edit(one_of("clean-take")[0], changes)
    assert "\n" not in str(error.value)


def test_scenario_is_added_only_where_its_category_asks():
    before, trajectory, free = unasked(WHERE)
    step = before.step
    chosen = {"takeover": step, "player": before.players[0], "category": "where-is-good"}
    made = add_scenario(trajectory, WHERE, chosen, id="where-is-good-77", author="p-1")
    assert (made.scenario.id, made.fault) == ("where-is-good-77", None)
    assert made.scenario.parameters == before.parameters and lint_scenarios([made.scenario]) == []
    with pytest.raises(ArgumentError, match="has no candidate for player .* it has at: "):
        add_scenario(trajectory, WHERE, chosen | {"takeover": free}, id="x-01", author="p-1")
