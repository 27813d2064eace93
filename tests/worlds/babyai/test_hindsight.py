"""What is asked of open levels in hindsight: where, how it is judged, and who does it."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sts import agents
from sts.agents import Agent
from sts.continuations.takeover import continue_all
from sts.domains import domain
from sts.suites.lint import lint
from sts.suites.types import Scenario
from sts.trajectories.record import record
from sts.trajectories.types import Trajectory
from sts.worlds.babyai import library
from sts.worlds.babyai.agents.missions import Thing as Named
from sts.worlds.babyai.agents.wording import Step, parse_steps
from sts.worlds.babyai.environment import MOVES
from sts_scenarios import categories, mining
from sts_scenarios.categories.babyai import other_colour, playing, rooms
from sts_scenarios.categories.babyai.rooms import Frame, Thing
from sts_scenarios.category import Category, Label
from sts_scenarios.fitting import fault
from sts_scenarios.gates import Gate, of_pool
from sts_scenarios.mining.chance import OpenLoopAgent, pass_rate
from tests.examples import on_test_side

LEVELS = ("GoToLocalS6N4", "OpenDoorColor", "PutNextS6N3", "UnlockLocalDist")
RULES = {one.name: one for one in categories.of("babyai") if one.controls}
NAMES = sorted(RULES)
PAIRS = ("babyai-before-or-after", "babyai-stand-or-take", "babyai-this-or-that")
EACH = pytest.mark.parametrize("name", NAMES)
NOT_DONE = Label("not_done", None)


def opened(level: str, count: int, **settings: Any) -> list[Trajectory]:
    return record(
        agents.load("babyai-seeker"),
        domain="babyai",
        count=count,
        steps=42,
        seed=6,
        settings={"level": level, "open": True} | settings,
    )


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    return on_test_side([one for level in LEVELS for one in opened(level, 14)])


def first(category: Category, trajectories: Sequence[Trajectory]) -> list[Scenario]:
    """Return the first scenario that a category offers, or the first pair."""
    plain: Category = importlib.import_module(
        f"sts_scenarios.categories.babyai.{category.name.removeprefix('babyai-').replace('-', '_')}"
    ).CATEGORY
    for one in trajectories:
        every = plain.candidates(one, plain.context, plain.horizon)
        own = [each for each, _ in zip(every, range(2 if plain.name in PAIRS else 1), strict=False)]
        if own:
            picks = [mining.Pick(one, each) for each in own]
            text = plain.wordings[0]
            made = [
                mining.make_scenario(
                    plain, pick, id=f"x-{n}", text=text.format(**pick.candidate.words), seed=0
                )
                for n, pick in enumerate(picks)
            ]
            pair = "p" if len(made) == 2 else ""
            return [dataclasses.replace(half, pair=pair) for half in made]
    return []


@pytest.fixture(scope="module")
def proposed(trajectories: list[Trajectory]) -> dict[str, list[Scenario]]:
    return {name: first(RULES[name], trajectories) for name in NAMES}


def test_there_are_thirteen_and_three_of_them_are_pairs(
    proposed: dict[str, list[Scenario]],
) -> None:
    assert len(NAMES) == 13
    assert {name: len(own) for name, own in proposed.items()} == {
        name: 2 if name in PAIRS else 1 for name in NAMES
    }


@EACH
def test_what_is_asked_is_sound_and_fits(name: str, proposed: dict[str, list[Scenario]]) -> None:
    assert lint([dataclasses.replace(one, pair="") for one in proposed[name]]) == []
    for one in proposed[name]:
        assert fault(one, RULES) is None
        assert (one.instruction.source, one.instruction.given_at) == ("curator", one.takeover)
        other = {key: ["grey", "lava"] for key in one.parameters}
        assert RULES[name].fits(dataclasses.replace(one, parameters=other)) is not None


@EACH
def test_words_that_ask_for_another_thing_do_not_fit(
    name: str, proposed: dict[str, list[Scenario]]
) -> None:
    rule = RULES[name]
    assert rule.words
    for one in proposed[name]:
        for word in rule.words(one).values():
            for other in word.others[:2]:
                text = one.instruction.text.replace(word.text, other)
                told = dataclasses.replace(one.instruction, text=text)
                assert fault(dataclasses.replace(one, instruction=told), RULES) is not None, text


@EACH
def test_its_probe_does_it_by_what_it_sees_and_its_shortcut_does_not(
    name: str, proposed: dict[str, list[Scenario]]
) -> None:
    rule = RULES[name]
    assert rule.controls and rule.controls.probe and rule.controls.shortcut
    assert pass_rate(rule, proposed[name], rule.controls.probe, continuations=1) == 1
    assert pass_rate(rule, proposed[name], rule.controls.shortcut, continuations=1) == 0


@EACH
def test_what_is_attempted_is_what_is_played_and_nothing_before_takeover_is_read(
    name: str, proposed: dict[str, list[Scenario]]
) -> None:
    rule = RULES[name]
    for one in proposed[name]:
        assert rule.controls and isinstance(rule.controls.probe, playing.PolicyAgent)
        probe: Agent = rule.controls.probe
        (made,) = continue_all([one], probe, seed=0, indices=[0])
        (takeover,) = mining.states_at(made.episode, (one.takeover,))
        rest = made.episode.part(takeover, one.takeover, made.episode.steps)
        label = rule.label(made.episode, one.takeover, one.roles, one.parameters)
        assert rule.label(rest, 0, one.roles, one.parameters) == label
        assert one.difficulty in ("easy", "medium", "hard")
        if name not in PAIRS:
            third = (3 * ((label.step or 0) - 1)) // one.horizon
            assert one.difficulty == ("easy", "medium", "hard")[third]


def test_of_a_level_with_a_mission_nothing_is_asked_in_hindsight() -> None:
    (own,) = opened("GoToLocal", 1, open=False)
    assert [one for rule in RULES.values() for one in rule.moments(own)] == []


def test_the_bot_does_nothing_where_there_is_no_mission(
    proposed: dict[str, list[Scenario]],
) -> None:
    (one,) = proposed["babyai-unlock"]
    (made,) = continue_all([one], agents.load("babyai-bot"), seed=0, indices=[0])
    assert set(made.episode.moves[one.takeover :, 0]) == {playing.DONE}


def test_readers_do_what_they_read_and_those_who_read_less_do_less(
    proposed: dict[str, list[Scenario]],
) -> None:
    rates = {
        name: np.mean(
            [
                pass_rate(RULES[c], own, agents.load(name), continuations=1)
                for c, own in proposed.items()
            ]
        )
        for name in ("babyai-reader", "babyai-reader-half", "babyai-blind")
    }
    assert rates["babyai-reader"] > 0.9
    assert rates["babyai-blind"] < 0.2 < rates["babyai-reader-half"] + 0.2
    assert rates["babyai-reader-half"] < rates["babyai-reader"] - 0.2


BALL, KEY, BOX, DOOR = (Thing("red", one) for one in ("ball", "key", "box", "door"))
PLACES = {(5, 5): BALL, (2, 1): KEY, (7, 7): BOX, (4, 0): DOOR}
UP, DOWN = 3, 1


def frame(me: tuple[int, int] = (3, 3), facing: int = UP, **more: Any) -> Frame:
    own = {
        "held": None,
        "things": PLACES,
        "doors": {(4, 0): "closed"},
        "visible": frozenset(PLACES),
    }
    return Frame(me, facing, **(own | more))


def before(thing: Thing) -> Frame:
    x, y = next(at for at, one in PLACES.items() if one == thing)
    return frame((x, y + 1))


NOWHERE, OTHER = frame(), {"thing": ["red", "key"]}
HELD = frame(held=BALL, things={at: it for at, it in PLACES.items() if it != BALL})


def laid(place: tuple[int, int]) -> Frame:
    return frame(things={**HELD.things, place: BALL})


DOORWAY = frame((4, 0))
BY_BALL, BY_KEY = [before(BALL)] * 3, [before(KEY)] * 3
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
        (
            "open-first",
            [NOWHERE, frame(doors={(4, 0): "open"})],
            THE_DOOR,
            Label("success", 1),
        ),
        ("open-first", [NOWHERE, frame(doors={(4, 0): "open"})], OTHER, Label("failure", 1)),
        ("open-first", [frame(doors={(4, 0): "open"}), NOWHERE], OTHER, NOT_DONE),
        (
            "go-through",
            [frame((4, 1)), DOORWAY, frame((4, -1))],
            THE_DOOR,
            Label("success", 2),
        ),
        ("go-through", [frame((4, 1)), DOORWAY, frame((4, 1))], THE_DOOR, NOT_DONE),
        ("go-through", [frame((4, 1)), DOORWAY, frame((4, -1))], OTHER, Label("failure", 2)),
        (
            "unlock",
            [NOWHERE, frame(doors={(4, 0): "open"})],
            THE_DOOR,
            Label("success", 1),
        ),
        ("unlock", [NOWHERE, NOWHERE], THE_DOOR, NOT_DONE),
        ("before-or-after", [NOWHERE, *BY_BALL[:2], *BY_KEY[:2]], FIRST, Label("success", 4)),
        ("before-or-after", [NOWHERE, *BY_KEY[:2], *BY_BALL[:2]], FIRST, Label("failure", 2)),
        ("before-or-after", [NOWHERE, before(KEY), *BY_BALL[:2]], FIRST, NOT_DONE),
        ("stand-or-take", [NOWHERE, *BY_BALL * 2], RED | {"asked": "stand"}, Label("success", 6)),
        ("stand-or-take", [NOWHERE, HELD], RED | {"asked": "stand"}, Label("failure", 1)),
        ("stand-or-take", [NOWHERE, HELD], RED | {"asked": "take"}, Label("success", 1)),
    ],
)
def test_the_rule_is_as_the_page_says(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    line: list[Frame],
    parameters: dict[str, Any],
    expected: Label,
) -> None:
    monkeypatch.setattr(rooms, "replay_frames", lambda episode: line)
    nothing: Any = None
    assert RULES[f"babyai-{name}"].label(nothing, 0, (0,), parameters) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Get the red ball.", [Step("pick-up", Named("red", "ball"))]),
        ("open the red door", [Step("open", Named("red", "door"))]),
        (
            "Visit the red ball after a visit to the blue key.",
            [Step("go-to", Named("blue", "key")), Step("go-to", Named("red", "ball"))],
        ),
        ("Leave the blue key and fetch the red ball.", [Step("pick-up", Named("red", "ball"))]),
        ("Take up a ball of any colour but red.", [Step("other", Named("red", "ball"))]),
        ("On your left you see one thing: take it up.", [Step("left", Named("", ""))]),
        ("Pass the red door, and no other door before it.", [Step("through", A_DOOR)]),
        (
            "Get the red door open, by its key.",
            [Step("pick-up", Named("red", "key")), Step("open", Named("red", "door"))],
        ),
        ("Sing the red ball a song.", []),
        ("pick up the ball on your left", [Step("left", Named("", ""))]),
        ("", []),
    ],
)
def test_many_wordings_are_read(text: str, expected: list[Step]) -> None:
    assert parse_steps(text) == expected


def test_every_wording_of_a_category_is_read_and_asks_for_the_same(
    proposed: dict[str, list[Scenario]],
) -> None:
    for name, own in proposed.items():
        rule = RULES[name]
        assert rule.words and len(rule.wordings) >= 3
        for one in own:
            fill = {field: word.text for field, word in rule.words(one).items()}
            (said,) = {tuple(parse_steps(text.format(**fill))) for text in rule.wordings}
            assert said


def test_numbers_of_colours_and_types_are_the_package_s() -> None:
    assert playing.COLOURS == library.COLOR_TO_IDX
    assert playing.TYPES.items() <= library.OBJECT_TO_IDX.items()
    states = {"open": playing.OPEN, "closed": playing.CLOSED, "locked": playing.LOCKED}
    assert states == library.STATE_TO_IDX
    names = ("LEFT", "RIGHT", "FORWARD", "PICKUP", "DROP", "TOGGLE", "DONE")
    assert [getattr(playing, name) for name in names] == list(range(len(MOVES)))


def test_who_sees_nothing_may_mix_moves_and_make_some_of_them_more_often() -> None:
    world = domain("babyai")
    assert ("left", "right", "forward") in categories.mixes("babyai")
    assert categories.mixes("lambda-star") == ()
    mixed = OpenLoopAgent(
        world, [MOVES.index(one) for one in ("forward", "forward", "pickup")], [0]
    )
    seen = world.restore(world.generate(1, seed=0)).observe((0,), team=(0,), world=False)
    choice, _ = mixed.act(
        seen, agents.Instructions(("",), np.zeros(1, np.int32)), {}, np.zeros((1, 1, 0))
    )
    assert choice.moves[0, 0].tolist() == [0, 0, 2, 1, 0, 0, 0]
    assert not mixed.deterministic


def test_the_gates_play_the_mixes_too(proposed: dict[str, list[Scenario]]) -> None:
    rule = RULES["babyai-fetch"]
    rows: list[Gate] = of_pool(rule, proposed["babyai-fetch"], continuations=1)
    assert [one.name for one in rows] == ["open loop", "heedless", "shortcut", "probe"]


def test_the_thing_that_is_not_meant_is_read_from_every_wording():
    for wording in other_colour.CATEGORY.wordings:
        assert other_colour._parse_thing(wording.format(type="ball", colour="red")) == (
            "red",
            "ball",
        )
