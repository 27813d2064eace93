"""What BabyAI's agents promise: pure functions of what they are passed, and of fitting strength."""

from __future__ import annotations

import copy
import functools
from typing import cast

import numpy as np
import pytest

from sts import agents
from sts.agents import Instructions
from sts.domains import load_domain
from sts.domains.adapter import EnvironmentDomain
from sts.engine.lockstep import Rollouts, Script, play_episodes
from sts.engine.session import Team, bind_agent
from sts.numerics.streams import stream
from sts_babyai.agents import planning
from sts_babyai.environment import MOVES, BabyAI
from tests.examples import agents_of, instructed
from tests.worlds.babyai.examples import EACH_LEVEL, begun, numbers

NAMES = [*agents_of("babyai"), "random"]
STEPS = 20
LEVELS = ("GoToLocal", "OpenDoorColor", "PickupDist", "PutNextLocal", "OpenTwoDoors")
WORLD = cast(EnvironmentDomain, load_domain("babyai"))
STATES = functools.cache(
    lambda: [s for level in LEVELS for s in WORLD.generate(2, seed=2, level=level)]
)


def play_states(
    name: str,
    states: list[bytes],
    order: list[int] | None = None,
    other: int = 0,
    script: Script | None = None,
) -> Rollouts:
    chosen = order if order is not None else list(range(len(states)))
    streams = np.array([stream("babyai", i, other) for i in chosen], np.uint64)
    own = [states[i] for i in chosen]
    return play_episodes(
        WORLD,
        WORLD.restore(own),
        [Team(agents.load(name), (0,), streams)],
        steps=STEPS,
        script=script,
        instructions=instructed([WORLD.instruction(s) for s in own], [0] * len(own)),
    )


def assert_same(a: Rollouts, b: Rollouts, rows: list[int] | None = None) -> None:
    for name in Rollouts._fields[:-1]:
        x = getattr(a, name)
        np.testing.assert_array_equal(x if rows is None else x[rows], getattr(b, name), name)


def test_only_bots_of_the_thirteen_agents_are_privileged() -> None:
    sees = {name: agents.load(name).sees for name in NAMES}
    assert len(sees) == 13
    bots = {"babyai-bot", *(f"babyai-noisy-bot-{share}" for share in (10, 30, 60))}
    assert {name for name in NAMES if sees[name] == "world"} == bots
    assert len({agents.fingerprint(agents.load(name)) for name in NAMES}) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_agent_is_a_pure_function_of_its_observations_and_draws(name: str) -> None:
    """Whatever its batch, after forced steps too, and it changes nothing that it is passed."""
    states, own = STATES(), agents.load(name)
    assert (own.name, own.domain) == (name, "babyai" if name != "random" else own.domain)
    whole, order = play_states(name, states), list(range(len(states)))[::-1]
    assert_same(play_states(name, states, order), whole, order)
    assert_same(whole, play_states(name, states, [7]), [7])
    elsewhere = play_states(name, states, other=1)
    assert own.deterministic == np.array_equal(whole.actions, elsewhere.actions)
    assert np.isfinite(whole.log_probs).all()
    forced = np.zeros((STEPS, 1), np.bool_)
    forced[: STEPS // 2] = True
    assert_same(
        whole, play_states(name, states, script=Script(whole.actions, whole.utterances, forced))
    )
    agent, worlds = bind_agent(own, WORLD), WORLD.restore(states)
    texts = ("", *dict.fromkeys(map(WORLD.instruction, states)))
    told = Instructions(
        texts, np.array([texts.index(WORLD.instruction(s)) for s in states], np.int32)
    )
    memory, before = agent.initial_state(len(states), 1), worlds.states()
    seen = worlds.observe((0,), team=(0,), world=agent.sees == "world")
    kept, draws = copy.deepcopy(memory), np.zeros((len(states), 1, agent.draws))
    first, second = (agent.act(seen, told, memory, draws)[0] for _ in range(2))
    np.testing.assert_array_equal(first.actions, second.actions)
    np.testing.assert_equal(memory, kept)
    assert worlds.states() == before


@pytest.mark.parametrize("count", [8, pytest.param(20, marks=pytest.mark.slow)])
def test_success_falls_with_noise_and_blind_agents_beat_only_chance(count: int) -> None:
    states = [s for level in LEVELS for s in WORLD.generate(count, seed=9, level=level)]
    order = ["bot", *(f"noisy-bot-{n}" for n in (10, 30, 60)), "blind"]
    names = {name: f"babyai-{name}" for name in (*order, "seeker")} | {"random": "random"}
    rate = {
        short: (play_states(name, states).rewards > 0).any((1, 2)).mean()
        for short, name in names.items()
    }
    rates = [rate[name] for name in (*order, "random")]
    assert rates[0] > 0.95
    assert rates == sorted(rates, reverse=True) and len(set(rates)) >= 5
    assert rate["blind"] + 0.2 < rate["seeker"]


def test_bot_advice_depends_on_the_moves_alone() -> None:
    actions = np.random.default_rng(4).integers(0, len(MOVES), 12)
    for level in ("GoTo", "UnblockPickup", "PutNextLocal", "GoToSeqS5R2"):
        watched = begun(level, 6)
        for move in actions:
            fresh = BabyAI()
            fresh.restore(watched.state())
            assert planning.advise(watched) == planning.advise(fresh)
            watched.step((int(move),))


def test_plan_is_made_again_when_a_world_starts_again() -> None:
    world = begun("GoToLocal", 1)
    planning.advise(world)
    world.reset(2, "PutNextLocal")
    assert planning.advise(world) == planning.advise(begun("PutNextLocal", 2))


@EACH_LEVEL
def test_bot_has_advice_on_every_level_after_random_moves(level: str) -> None:
    actions = np.random.default_rng(1).integers(0, len(MOVES), 30)
    world = begun(level, 4, "".join(map(str, actions)))
    assert 0 <= planning.advise(world) < len(MOVES)
    found = planning.find_solution(world, 10)
    assert found is None or len(found) <= 10


def test_bot_drops_another_carried_thing_first() -> None:
    world = begun("PutNextS5N2Carrying", 1)
    assert world.minigrid_env.carrying is not None
    assert planning.find_solution(world, 60)


def test_blind_agent_tries_only_the_actions_of_the_mission() -> None:
    blind = agents.load("babyai-blind")
    texts = ("", "open the red door", "put a ball next to a key", "go to a box")
    worlds = WORLD.restore(WORLD.generate(4, seed=0))
    seen = worlds.observe((0,), team=(0,), world=False)
    choice, _ = blind.act(seen, Instructions(texts, np.arange(4, dtype=np.int32)), {}, np.zeros(0))
    tried = [
        numbers(*(m for m, w in zip(MOVES, row, strict=True) if w)) for row in choice.actions[:, 0]
    ]
    wander = numbers("left", "right", "forward")
    assert tried == [wander, wander + numbers("toggle"), wander + numbers("pickup", "drop"), wander]
