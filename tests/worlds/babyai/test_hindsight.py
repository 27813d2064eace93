"""What is asked of open levels in hindsight: where, how it is judged, and who does it."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts import agents
from sts.continuations.takeover import continue_all
from sts.domains import load_domain
from sts.suites.lint import lint_scenarios
from sts.suites.suite import Scenario
from sts.trajectories.trajectory import Trajectory
from sts_babyai import minigrid_names
from sts_babyai.agents.instructions import parse_steps
from sts_babyai.agents.missions import Clause
from sts_babyai.agents.missions import Thing as Named
from sts_babyai.categories import other_colour, policies, stand_or_take
from sts_babyai.categories.level_category import LevelCategory
from sts_babyai.categories.room_frames import Frame, Thing
from sts_babyai.environment import MOVES
from sts_scenarios import mining
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Category, Label
from sts_scenarios.rules.chance import OpenLoopAgent, compute_pass_rate
from sts_scenarios.rules.quality_checks import QualityCheck, check_category
from sts_scenarios.rules.validity import find_fault, is_checked
from tests.examples import on_test_side
from tests.recording import record

COLOURS = st.sampled_from(sorted(policies.COLOURS))
DOORS = st.builds(Thing, COLOURS, st.just("door"))
THINGS = st.builds(Thing, COLOURS, st.sampled_from(sorted(policies.TYPES)))
LEVELS = ("GoToLocalS6N4", "OpenDoorColor", "PutNextS6N3", "UnlockLocalDist")
RULES = {one.name: one for one in categories.load_categories("babyai") if one.controls}
NAMES = sorted(RULES)
PAIRS = ("babyai-before-or-after", "babyai-stand-or-take", "babyai-this-or-that")
EACH = pytest.mark.parametrize("name", NAMES)
NOT_DONE = Label("not_done", None)
Proposed = dict[str, list[Scenario]]


def record_episodes(level: str, count: int, **more: Any) -> list[Trajectory]:
    settings = {"level": level, "open": True} | more
    seeker = agents.load("babyai-seeker")
    return record(seeker, domain="babyai", count=count, steps=42, seed=6, settings=settings)


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    return on_test_side([one for level in LEVELS for one in record_episodes(level, 14)])


def first(category: Category, trajectories: Sequence[Trajectory]) -> list[Scenario]:
    """Return the first scenario that a category offers, or the first pair."""
    module = category.name.removeprefix("babyai-").replace("-", "_")
    plain: Category = importlib.import_module(f"sts_babyai.categories.{module}").CATEGORY
    count = 2 if plain.name in PAIRS else 1
    for one in trajectories:
        own = list(itertools.islice(plain.candidates(one, plain.context, plain.horizon), count))
        if own:
            texts = [plain.templates[0].format(**each.fields) for each in own]
            made = [
                mining.make_scenario(plain, mining.Pick(one, each), id=f"x-{n}", text=text, seed=0)
                for n, (each, text) in enumerate(zip(own, texts, strict=True))
            ]
            pair = "p" if len(made) == 2 else ""
            return [dataclasses.replace(half, pair=pair) for half in made]
    return []


@pytest.fixture(scope="module")
def proposed(trajectories: list[Trajectory]) -> Proposed:
    return {name: first(RULES[name], trajectories) for name in NAMES}


@EACH
def test_proposed_scenario_is_sound_and_fits(name: str, proposed: Proposed) -> None:
    assert len(NAMES) == 13 and len(proposed[name]) == (2 if name in PAIRS else 1)
    assert lint_scenarios([dataclasses.replace(one, pair="") for one in proposed[name]]) == []
    for one in proposed[name]:
        assert find_fault(one, RULES) is None
        assert (one.instruction.source, one.instruction.given_at) == ("curator", one.context)
        other = {key: ["grey", "lava"] for key in one.parameters}
        assert RULES[name].why_invalid(dataclasses.replace(one, parameters=other)) is not None


@EACH
def test_rule_is_used_for_no_other_words(name: str, proposed: Proposed) -> None:
    for one in proposed[name]:
        assert is_checked(one, RULES)
        told = dataclasses.replace(one.instruction, text=f"Do not: {one.instruction.text}")
        assert not is_checked(dataclasses.replace(one, instruction=told), RULES)


@EACH
def test_solver_passes_and_the_shortcut_baseline_does_not(name: str, proposed: Proposed) -> None:
    rule = RULES[name]
    assert rule.controls and isinstance(rule.controls.solver, policies.PolicyAgent)
    assert rule.controls.shortcut
    assert compute_pass_rate(rule, proposed[name], rule.controls.solver, continuations=1) == 1
    assert compute_pass_rate(rule, proposed[name], rule.controls.shortcut, continuations=1) == 0
    for one in proposed[name]:
        (made,) = continue_all([one], rule.controls.solver, seed=0, indices=[0])
        (takeover,) = mining.states_at(made.episode, (one.context,))
        rest = made.episode.slice_steps(takeover, one.context, made.episode.steps)
        label = rule.label(made.episode, one.context, one.players, one.parameters)
        assert rule.label(rest, 0, one.players, one.parameters) == label, "it reads the context"
        assert one.difficulty in ("easy", "medium", "hard")
        if name not in PAIRS:
            third = (3 * ((label.step or 0) - 1)) // one.horizon
            assert one.difficulty == ("easy", "medium", "hard")[third]


def test_only_open_levels_are_asked_about_and_the_bot_needs_a_mission(proposed: Proposed) -> None:
    (own,) = record_episodes("GoToLocal", 1, open=False)
    assert [one for rule in RULES.values() for one in rule.find_candidates(own)] == []
    (one,) = proposed["babyai-unlock"]
    (made,) = continue_all([one], agents.load("babyai-bot"), seed=0, indices=[0])
    assert set(made.episode.actions[one.context :, 0]) == {policies.DONE}


def test_agents_that_read_less_pass_less(proposed: Proposed) -> None:
    def mean(name: str) -> Any:
        agent = agents.load(name)
        return np.mean(
            [compute_pass_rate(RULES[c], proposed[c], agent, continuations=1) for c in NAMES]
        )

    rates = {name: mean(name) for name in ("babyai-reader", "babyai-reader-half", "babyai-blind")}
    assert rates["babyai-reader"] > 0.9
    assert rates["babyai-blind"] < 0.2 < rates["babyai-reader-half"] + 0.2
    assert rates["babyai-reader-half"] < rates["babyai-reader"] - 0.2


BALL, KEY, BOX, DOOR = (Thing("red", one) for one in ("ball", "key", "box", "door"))
PLACES = {(5, 5): BALL, (2, 1): KEY, (7, 7): BOX, (4, 0): DOOR}
UP, DOWN = 3, 1


def frame(me: tuple[int, int] = (3, 3), facing: int = UP, **more: Any) -> Frame:
    own = {"held": None, "things": PLACES, "doors": {(4, 0): "closed"}}
    return Frame(me, facing, **(own | {"visible": frozenset(PLACES)} | more))


def face_thing(thing: Thing) -> Frame:
    x, y = next(at for at, one in PLACES.items() if one == thing)
    return frame((x, y + 1))


NOWHERE, OTHER = frame(), {"thing": ["red", "key"]}
HELD = frame(held=BALL, things={at: it for at, it in PLACES.items() if it != BALL})


def laid(place: tuple[int, int]) -> Frame:
    return frame(things={**HELD.things, place: BALL})


DOORWAY = frame((4, 0))
BY_BALL, BY_KEY = [face_thing(BALL)] * 3, [face_thing(KEY)] * 3
FIRST = {"first": ["red", "ball"], "second": ["red", "key"]}
RED, THE_DOOR = {"thing": ["red", "ball"]}, {"thing": ["red", "door"]}
A_DOOR = Named("red", "door")
BRING = RED | {"beside": ["red", "box"]}


@pytest.mark.parametrize(
    ("name", "line", "parameters", "expected"),
    [
        ("stand-before", [NOWHERE, *BY_BALL], RED, Label("success", 3)),
        ("stand-before", [*BY_BALL, NOWHERE], RED, NOT_DONE),
        ("stand-before", [NOWHERE, *BY_KEY, *BY_BALL], RED, Label("failure", 3)),
        ("stand-before", [NOWHERE, *BY_KEY[:2], *BY_BALL], RED, Label("success", 5)),
        ("fetch", [NOWHERE, HELD], RED, Label("success", 1)),
        ("fetch", [NOWHERE, HELD], OTHER, Label("failure", 1)),
        ("fetch", [HELD, HELD, NOWHERE], RED, NOT_DONE),
        ("other-colour", [NOWHERE, HELD], RED, Label("failure", 1)),
        ("other-colour", [NOWHERE, HELD], {"thing": ["blue", "ball"]}, Label("success", 1)),
        ("other-colour", [NOWHERE, HELD], {"thing": ["blue", "key"]}, Label("failure", 1)),
        ("bring", [NOWHERE, HELD, laid((7, 6))], BRING, Label("success", 2)),
        ("bring", [NOWHERE, HELD, laid((6, 6)), HELD, laid((7, 6))], BRING, Label("failure", 2)),
        ("bring", [NOWHERE, HELD], BRING | OTHER, Label("failure", 1)),
        ("bring", [NOWHERE, HELD], BRING, NOT_DONE),
        ("open-first", [NOWHERE, frame(doors={(4, 0): "open"})], THE_DOOR, Label("success", 1)),
        ("open-first", [NOWHERE, frame(doors={(4, 0): "open"})], OTHER, Label("failure", 1)),
        ("open-first", [frame(doors={(4, 0): "open"}), NOWHERE], OTHER, NOT_DONE),
        ("go-through", [frame((4, 1)), DOORWAY, frame((4, -1))], THE_DOOR, Label("success", 2)),
        ("go-through", [frame((4, 1)), DOORWAY, frame((4, 1))], THE_DOOR, NOT_DONE),
        ("go-through", [frame((4, 1)), DOORWAY, frame((4, -1))], OTHER, Label("failure", 2)),
        ("unlock", [NOWHERE, frame(doors={(4, 0): "open"})], THE_DOOR, Label("success", 1)),
        ("unlock", [NOWHERE, NOWHERE], THE_DOOR, NOT_DONE),
        ("before-or-after", [NOWHERE, *BY_BALL[:2], *BY_KEY[:2]], FIRST, Label("success", 4)),
        ("before-or-after", [NOWHERE, *BY_KEY[:2], *BY_BALL[:2]], FIRST, Label("failure", 2)),
        ("before-or-after", [NOWHERE, face_thing(KEY), *BY_BALL[:2]], FIRST, NOT_DONE),
        ("stand-or-take", [NOWHERE, *BY_BALL * 2], RED | {"asked": "stand"}, Label("success", 6)),
        ("stand-or-take", [NOWHERE, HELD], RED | {"asked": "stand"}, Label("failure", 1)),
        ("stand-or-take", [NOWHERE, HELD], RED | {"asked": "take"}, Label("success", 1)),
    ],
)
def test_label_is_as_the_page_says(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    line: list[Frame],
    parameters: dict[str, Any],
    expected: Label,
) -> None:
    monkeypatch.setattr(LevelCategory, "replay", lambda self, episode, first: line[first:])
    nothing: Any = None
    assert RULES[f"babyai-{name}"].label(nothing, 0, (0,), parameters) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Get the red ball.", [Clause("pick-up", Named("red", "ball"))]),
        ("open the red door", [Clause("open", Named("red", "door"))]),
        (
            "Visit the red ball after a visit to the blue key.",
            [Clause("go-to", Named("blue", "key")), Clause("go-to", Named("red", "ball"))],
        ),
        ("Leave the blue key and fetch the red ball.", [Clause("pick-up", Named("red", "ball"))]),
        ("Take up a ball of any colour but red.", [Clause("other", Named("red", "ball"))]),
        ("On your left you see one thing: take it up.", [Clause("left", Named("", ""))]),
        ("Pass the red door, and no other door before it.", [Clause("through", A_DOOR)]),
        (
            "Get the red door open, by its key.",
            [Clause("pick-up", Named("red", "key")), Clause("open", Named("red", "door"))],
        ),
        ("The first door you go through must be the red door.", [Clause("through", A_DOOR)]),
        (
            "Pick up the key that fits the red door, then go to the red door and open it.",
            [Clause("pick-up", Named("red", "key")), Clause("open", A_DOOR)],
        ),
        ("Sing the red ball a song.", []),
        ("pick up the ball on your left", [Clause("left", Named("", ""))]),
        ("", []),
    ],
)
def test_many_wordings_are_read(text: str, expected: list[Clause]) -> None:
    assert parse_steps(text) == expected


def list_wordings(rule: Category) -> tuple[str, ...]:
    """Return the templates of a category, followed by those of earlier suites."""
    assert len(rule.templates) == len(rule.earlier_templates) == 3
    return (*rule.templates, *rule.earlier_templates)


@EACH
@given(data=st.data())
def test_readers_take_old_and_new_wordings_alike(name: str, data: st.DataObject) -> None:
    rule = RULES[name]
    types = DOORS if name in ("babyai-open-first", "babyai-go-through", "babyai-unlock") else THINGS
    a, b = data.draw(st.lists(types, min_size=2, max_size=2, unique=True))
    option = data.draw(st.sampled_from(sorted(stand_or_take.OPTION_TEXTS)))
    fill = {
        "a": str(a),
        "b": str(b),
        "type": a.type if a.type != "door" else "box",
        "colour": a.colour,
        "side": data.draw(st.sampled_from(("left", "right"))),
        "order": data.draw(st.sampled_from(("before", "after"))),
        "action": stand_or_take.OPTION_TEXTS[option],
        "deed": stand_or_take.EARLIER_OPTION_TEXTS[option],
    }
    (said,) = {tuple(parse_steps(text.format(**fill))) for text in list_wordings(rule)}
    assert said


@EACH
def test_solver_acts_on_old_wordings_as_on_new_ones(name: str, proposed: Proposed) -> None:
    rule = RULES[name]
    assert rule.template_fields and rule.controls and rule.controls.solver
    for one in proposed[name]:
        fill = rule.template_fields(one)
        texts = [text.format(**fill) for text in list_wordings(rule)]
        told = [dataclasses.replace(one.instruction, text=text) for text in texts]
        worded = [dataclasses.replace(one, instruction=each) for each in told]
        assert all(is_checked(each, RULES) for each in worded)
        for agent in (rule.controls.solver, agents.load("babyai-reader-half")):
            made = continue_all(worded, agent, seed=0, indices=[0])
            assert len({each.episode.actions.tobytes() for each in made}) == 1


def test_numbers_of_colours_and_types_are_those_of_the_package() -> None:
    assert policies.COLOURS == minigrid_names.COLOR_TO_IDX
    assert policies.TYPES.items() <= minigrid_names.OBJECT_TO_IDX.items()
    states = {"open": policies.OPEN, "closed": policies.CLOSED, "locked": policies.LOCKED}
    assert states == minigrid_names.STATE_TO_IDX
    names = ("LEFT", "RIGHT", "FORWARD", "PICKUP", "DROP", "TOGGLE", "DONE")
    assert [getattr(policies, name) for name in names] == list(range(len(MOVES)))


def test_open_loop_agent_may_mix_moves_and_prefer_some() -> None:
    world = load_domain("babyai")
    assert "left right forward" in categories.collect_names("babyai", "MIXES")
    assert categories.collect_names("lambda-star", "MIXES") == ()
    actions = [MOVES.index(one) for one in ("forward", "forward", "pickup")]
    mixed = OpenLoopAgent(world, actions, [0])
    seen = world.restore(world.generate(1, seed=0)).observe((0,), team=(0,), world=False)
    told = agents.Instructions(("",), np.zeros(1, np.int32))
    choice, _ = mixed.act(seen, told, {}, np.zeros((1, 1, 0)))
    assert choice.actions[0, 0].tolist() == [0, 0, 2, 1, 0, 0, 0]
    assert not mixed.deterministic


def test_quality_checks_list_the_open_loop_baseline(proposed: Proposed) -> None:
    rule = RULES["babyai-fetch"]
    rows: list[QualityCheck] = check_category(rule, proposed["babyai-fetch"], continuations=1)
    assert [one.name for one in rows] == ["open loop", "heedless", "shortcut", "solver"]


def test_excluded_thing_is_read_from_every_wording():
    for wording in list_wordings(other_colour.CATEGORY):
        thing = other_colour._parse_thing(wording.format(type="ball", colour="red"))
        assert thing == ("red", "ball")
