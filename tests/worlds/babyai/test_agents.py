"""What BabyAI's agents promise: pure functions of what they are passed, and of fitting strength."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import cast

import numpy as np
import pytest

from sts import agents
from sts.agents import Instructions
from sts.domains import domain
from sts.domains.adapted import Adapted
from sts.engine.lockstep import Played, Script, play
from sts.engine.session import Team, fit
from sts.errors import ArgumentError
from sts.numerics.streams import stream
from sts.worlds.babyai.agents import planning
from sts.worlds.babyai.environment import MOVES, BabyAI
from tests.examples import agents_of, instructed
from tests.worlds.babyai.examples import EACH_LEVEL, begun, numbers

OWN = agents_of("babyai")
NAMES = [*OWN, "random"]
STEPS = 20
LEVELS = ("GoToLocal", "OpenDoorColor", "PickupDist", "PutNextLocal", "OpenTwoDoors")
HAPPENED = Played._fields[:-1]
WORLD = cast(Adapted, domain("babyai"))
each = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def states() -> list[bytes]:
    """Two worlds of each of five levels."""
    world = WORLD
    return [s for level in LEVELS for s in world.generate(2, seed=2, level=level)]


@pytest.fixture(scope="module")
def whole(states: list[bytes]) -> Callable[[str], Played]:
    """What an agent does in all of them."""
    return functools.cache(lambda name: played(name, states))


def played(name: str, states: list[bytes], order: list[int] | None = None, **more: int) -> Played:
    world = WORLD
    chosen = order if order is not None else list(range(len(states)))
    streams = np.array([stream("babyai", i, more.get("other", 0)) for i in chosen], np.uint64)
    own = [states[i] for i in chosen]
    return play(
        world,
        world.restore(own),
        [Team(agents.load(name), (0,), streams)],
        steps=STEPS,
        told=instructed([world.instruction(s) for s in own], [0] * len(own)),
    )


def assert_same(a: Played, b: Played, rows: list[int] | None = None) -> None:
    for name in HAPPENED:
        x = getattr(a, name)
        np.testing.assert_array_equal(x if rows is None else x[rows], getattr(b, name), name)


def test_there_are_thirteen_of_which_those_shown_the_world_are_not_ranked() -> None:
    sees = {name: agents.load(name).sees for name in NAMES}
    assert len(sees) == 13
    assert {name for name in NAMES if sees[name] == "world"} == {
        "babyai-bot",
        *(f"babyai-noisy-bot-{share}" for share in (10, 30, 60)),
    }


@pytest.mark.parametrize("name", OWN)
def test_an_agent_is_found_under_its_own_name_and_plays_babyai_only(name: str) -> None:
    agent = agents.load(name)
    assert (agent.name, agent.domain) == (name, "babyai")
    elsewhere = domain("lambda-star")
    settings = {"height": 5, "width": 5, "participants": 1, "horizon": 5}
    worlds = elsewhere.restore(elsewhere.generate(1, seed=0, **settings))
    with pytest.raises(ArgumentError, match="babyai"):
        play(elsewhere, worlds, [Team(agent, (0,), np.zeros(1, np.uint64))], steps=2)


def test_no_two_share_a_fingerprint() -> None:
    assert len({agents.fingerprint(agents.load(name)) for name in NAMES}) == len(NAMES)


@each
def test_episodes_do_not_depend_on_order_or_split_of_their_batch(
    name: str, states: list[bytes], whole: Callable[[str], Played]
) -> None:
    order = list(range(len(states)))[::-1]
    assert_same(played(name, states, order), whole(name), order)
    assert_same(whole(name), played(name, states, [7]), [7])


@each
def test_only_what_is_not_deterministic_depends_on_its_stream(
    name: str, states: list[bytes], whole: Callable[[str], Played]
) -> None:
    once, elsewhere = whole(name), played(name, states, other=1)
    assert agents.load(name).deterministic == np.array_equal(once.moves, elsewhere.moves)
    assert np.isfinite(once.log_probs).all()


@each
def test_forced_steps_warm_an_agent_as_own_steps_do(
    name: str, states: list[bytes], whole: Callable[[str], Played]
) -> None:
    world, free = WORLD, whole(name)
    forced = np.zeros((STEPS, 1), np.bool_)
    forced[: STEPS // 2] = True
    streams = np.array([stream("babyai", i, 0) for i in range(len(states))], np.uint64)
    again = play(
        world,
        world.restore(states),
        [Team(agents.load(name), (0,), streams)],
        steps=STEPS,
        script=Script(free.moves, free.says, forced),
        told=instructed([world.instruction(s) for s in states], [0] * len(states)),
    )
    assert_same(free, again)


@each
def test_acting_changes_nothing_and_is_repeatable(name: str, states: list[bytes]) -> None:
    world, agent = WORLD, fit(agents.load(name), WORLD)
    worlds = world.restore(states)
    texts = ("", *dict.fromkeys(world.instruction(s) for s in states))
    ids = np.array([texts.index(world.instruction(s)) for s in states], np.int32)
    memory, before = agent.begin(len(states), 1), worlds.states()
    seen = worlds.observe((0,), team=(0,), world=agent.sees == "world")
    kept = copy.deepcopy(memory)
    draws = np.zeros((len(states), 1, agent.draws))
    first, _ = agent.act(seen, Instructions(texts, ids), memory, draws)
    second, _ = agent.act(seen, Instructions(texts, ids), memory, draws)
    np.testing.assert_array_equal(first.moves, second.moves)
    np.testing.assert_equal(memory, kept)
    assert worlds.states() == before


def test_more_noise_is_less_success_and_the_blind_beat_chance_alone() -> None:
    world = WORLD
    states = [s for level in LEVELS for s in world.generate(20, seed=9, level=level)]
    order = ["bot", *(f"noisy-bot-{n}" for n in (10, 30, 60)), "blind"]
    names = {name: f"babyai-{name}" for name in (*order, "seeker")} | {"random": "random"}
    rate = {
        short: (played(name, states).rewards > 0).any((1, 2)).mean()
        for short, name in names.items()
    }
    rates = [rate[name] for name in (*order, "random")]
    assert rates[0] > 0.95
    assert rates == sorted(rates, reverse=True) and len(set(rates)) >= 5
    assert rate["blind"] + 0.2 < rate["seeker"]


def test_the_bot_is_a_function_of_the_moves_however_it_comes_to_know_them() -> None:
    moves = np.random.default_rng(4).integers(0, len(MOVES), 12)
    for level in ("GoTo", "UnblockPickup", "PutNextLocal", "GoToSeqS5R2"):
        watched = begun(level, 6)
        for move in moves:
            fresh = BabyAI()
            fresh.restore(watched.state())
            assert planning.advise(watched) == planning.advise(fresh)
            watched.step((int(move),))


def test_a_world_that_starts_anew_is_planned_anew() -> None:
    world = begun("GoToLocal", 1)
    planning.advise(world)
    world.reset(2, "PutNextLocal")
    assert planning.advise(world) == planning.advise(begun("PutNextLocal", 2))


@EACH_LEVEL
def test_after_thirty_random_moves_the_bot_still_has_an_answer_on_every_level(level: str) -> None:
    moves = np.random.default_rng(1).integers(0, len(MOVES), 30)
    world = begun(level, 4, "".join(map(str, moves)))
    assert 0 <= planning.advise(world) < len(MOVES)
    found = planning.find_solution(world, 10)
    assert found is None or len(found) <= 10


def test_a_bot_that_carries_something_else_drops_it_first() -> None:
    world = begun("PutNextS5N2Carrying", 1)
    assert world.live.carrying is not None
    assert planning.find_solution(world, 60)


def test_the_seeker_turns_and_walks_to_what_it_sees() -> None:
    seeker = agents.load("babyai-seeker")
    world = WORLD
    (state,) = world.generate(1, seed=2, level="GoToLocal")
    text = world.instruction(state)
    worlds = world.restore([state])
    memory = seeker.begin(1, 1)
    for _ in range(30):
        seen = worlds.observe((0,), team=(0,), world=False)
        told = Instructions(("", text), np.array([1], np.int32))
        choice, memory = seeker.act(seen, told, memory, np.zeros((1, 1, 0)))
        moves = np.asarray(choice.moves[:, :, :].argmax(-1), np.int8)
        worlds.step(moves, np.zeros((1, 1), np.int8))
        if worlds.rewards[0, 0]:
            break
    assert worlds.rewards[0, 0] == 1


def test_the_blind_try_only_what_the_mission_s_verbs_need() -> None:
    blind = agents.load("babyai-blind")
    texts = ("", "open the red door", "put a ball next to a key", "go to a box")
    worlds = WORLD.restore(WORLD.generate(4, seed=0))
    seen = worlds.observe((0,), team=(0,), world=False)
    choice, _ = blind.act(seen, Instructions(texts, np.arange(4, dtype=np.int32)), {}, np.zeros(0))
    tried = [
        numbers(*(m for m, w in zip(MOVES, row, strict=True) if w)) for row in choice.moves[:, 0]
    ]
    wander = numbers("left", "right", "forward")
    assert tried == [
        wander,
        wander + numbers("toggle"),
        wander + numbers("pickup", "drop"),
        wander,
    ]
