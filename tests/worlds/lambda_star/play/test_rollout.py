"""Episodes as arrays, whichever path they take; who plays; what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import sts_lambda_star as lambda_star
from sts import agents
from sts.agents import Agent, PolicyOutput
from sts.domains.random import Random
from sts.engine import lockstep
from sts.engine.session import Team
from sts.errors import ArgumentError, DamagedState, StsError, UnknownName
from sts.numerics.streams import stream
from sts_lambda_star import generate, kernels, rollout, torus
from sts_lambda_star.agents.local_search import LocalSearch
from sts_lambda_star.agents.q_learning import QLearning
from sts_lambda_star.domain import Batch, LambdaStar
from sts_lambda_star.intelligence.score import PUBLISHED_AGENTS
from sts_lambda_star.play import episodes, teams
from sts_lambda_star.play.episodes import BEHAVIOURS
from sts_lambda_star.play.practice import LEARNERS

SMALL = generate(7, seed=4, size=(6, 5), team=3, steps=12)
WIDE = generate(7, seed=4, size=(6, 7), team=3, steps=12, radius=2)

ODD: list[tuple[int, dict[str, Any]]] = [
    (1, {"size": (3, 3), "team": 1, "steps": 2}),
    (65, {"size": (4, 3), "team": 2, "steps": 9}),
    (66, {"size": (4, 4), "team": 5, "steps": 9, "patterns": "lambdastar-2016"}),
    (3, {"size": (7, 9), "team": 4, "steps": 12, "radius": 3}),
    (5, {"size": (6, 5), "team": 3, "steps": 9, "needs": 2}),
    (2, {"size": (255, 254), "team": 2, "steps": 5}),
]


def by_hand(environments, seats, seed):
    """Return what the general path plays: `seats` are (agent, roles, parts of its stream)."""
    settings = environments.settings
    teams = []
    for name, players, parts in seats:
        keys = [stream("lambda-star score", *parts, seed, int(i)) for i in environments.index]
        teams.append(Team(agents.load(name), players, np.array(keys, np.uint64)))
    worlds = Batch(environments.copy_arrays(), settings.radius)
    return lockstep.play_episodes(LambdaStar(), worlds, teams, steps=settings.horizon)


def same(a, b):
    for field, left, right in zip(a._fields, a, b, strict=True):
        np.testing.assert_array_equal(left, right, err_msg=field)


@pytest.mark.parametrize("name", [name for name in PUBLISHED_AGENTS if name not in LEARNERS])
@pytest.mark.parametrize("environments", [SMALL, WIDE], ids=["radius-1", "radius-2"])
def test_sums_and_rollouts_are_what_lockstep_plays(name, environments):
    found = teams.total_rewards(name, environments, seed=5)
    general = by_hand(environments, [(name, (0, 1, 2), (name,))], 5)
    np.testing.assert_array_equal(found, general.rewards.sum(1, np.int64))
    played = rollout(name, environments, seed=5)
    np.testing.assert_array_equal(played.actions, general.actions)
    np.testing.assert_array_equal(played.rewards, general.rewards / 2)


@pytest.mark.parametrize("name", BEHAVIOURS)
@pytest.mark.parametrize("case", ODD, ids=str)
def test_compiled_sums_are_what_lockstep_plays_in_odd_worlds(name, case):
    count, given = case
    environments = generate(count, seed=6, **given)
    players = tuple(range(given["team"]))
    general = by_hand(environments, [(name, players, (name,))], 1)
    found = teams.total_rewards(name, environments, seed=1)
    np.testing.assert_array_equal(found, general.rewards.sum(1, np.int64))


@pytest.mark.parametrize("name", [name for name in BEHAVIOURS if name != "random"])
def test_compiled_episodes_have_no_rule_of_their_own(name, monkeypatch):
    """An agent whose only rule is replaced plays by the new rule on both paths."""
    agent = agents.load(name)
    before = teams.total_rewards(name, SMALL, seed=5)
    episodes.tabulate_answers.cache_clear()
    monkeypatch.setattr(type(agent), "_decide", lambda _, team, memory: team.sets.fill(1 << 2))
    general = by_hand(SMALL, [(name, (0, 1, 2), (name,))], 5)
    assert (general.actions == 2).all()
    found = teams.total_rewards(name, SMALL, seed=5)
    np.testing.assert_array_equal(found, general.rewards.sum(1, np.int64))
    assert (found != before).any()
    episodes.tabulate_answers.cache_clear()


@pytest.mark.parametrize("name", LEARNERS)
def test_built_in_learner_plays_as_the_general_path_rehearses_it(name):
    Anybodys = type("Anybodys", (type(agents.load(name)),), {"__module__": __name__})

    assert not teams.is_built_in_learner(teams.load_team(Anybodys))
    assert teams.is_built_in_learner(teams.load_team(name))
    for count in (0, 6):
        ours = rollout(name, SMALL, seed=2, rehearsals=count)
        theirs = rollout(Anybodys, SMALL, seed=2, rehearsals=count)
        same(ours._replace(log_probs=ours.rewards), theirs._replace(log_probs=theirs.rewards))
        assert np.isnan(ours.log_probs).all() and not np.isnan(theirs.log_probs).any()
        for agent in (name, Anybodys):
            found = teams.total_rewards(agent, SMALL, seed=2, rehearsals=count)
            np.testing.assert_array_equal(found, ours.rewards.sum(1) * 2)


def test_learners_rehearse_in_mixed_teams_too_and_others_do_not():
    worlds = generate(40, seed=3, size=(5, 5), team=2, steps=15)
    before, after = (
        rollout("q-learning,random", worlds, rehearsals=n).rewards.mean((0, 1)) for n in (0, 60)
    )
    assert after[0] > before[0] + 0.3 and abs(after[1] - before[1]) < 0.1
    same(*(rollout("oracle,random", worlds, rehearsals=n) for n in (0, 5)))


def test_threads_change_no_rollout():
    for name in ("local-search", "sarsa"):
        same(*(rollout(name, SMALL, seed=1, threads=n) for n in (1, 2)))


@pytest.mark.parametrize("name", ["random", "sarsa", "random,oracle"])
def test_too_few_rehearsals_or_threads_are_refused(name):
    for rehearsals, threads in ((-1, 1), (1, 0)):
        with pytest.raises(ArgumentError, match="0 rehearsals and 1 thread or more"):
            rollout(name, SMALL, rehearsals=rehearsals, threads=threads)


def test_changed_agent_is_played_as_it_is_though_it_shares_a_name():
    class Statue(LocalSearch):
        def act(self, observation, instructions, memory, draws):
            return PolicyOutput(np.full(observation.cell.shape, 4)), memory

    played = rollout(Statue, SMALL)
    assert (played.actions == 4).all()
    total = teams.total_rewards(Statue, SMALL, seed=0)
    np.testing.assert_array_equal(total, played.rewards.sum(1) * 2)
    assert teams.is_built_in_learner((QLearning(),))
    assert not teams.is_built_in_learner((QLearning("published"),))


def test_mixed_team_is_dealt_in_turn_and_draws_from_streams_of_its_members():
    seats = [("oracle", (0, 2), ("oracle,random", 0)), ("random", (1,), ("oracle,random", 1))]
    general = by_hand(SMALL, seats, 3)
    np.testing.assert_array_equal(rollout("oracle,random", SMALL, seed=3).actions, general.actions)
    total = teams.total_rewards("oracle,random", SMALL, seed=3)
    np.testing.assert_array_equal(total, general.rewards.sum(1, np.int64))
    twins = rollout("random,random,random", SMALL).actions
    assert len({twins[:, :, p].tobytes() for p in range(3)}) == 3


@pytest.mark.parametrize(
    "given",
    [
        "random,local-search",
        " random , sts_lambda_star.agents.local_search:LocalSearch",
        ("random", "local-search"),
        [Random, LocalSearch()],
        [["random"], LocalSearch],
    ],
)
def test_team_is_given_by_names_classes_or_agents(given):
    members = teams.load_team(given)
    assert [type(member) for member in members] == [Random, LocalSearch]
    assert teams.team_name(members) == "random,local-search"


def test_function_that_returns_moves_or_weights_is_an_agent():
    def up(observation):
        return np.full(observation.cell.shape, 1)

    def up_by_weight(observation):
        return np.eye(9)[up(observation)]

    actions, weights = rollout(up, SMALL), rollout(up_by_weight, SMALL)
    assert (actions.actions == 1).all() and (weights.actions == 1).all()
    assert np.isnan(actions.log_probs).all()
    np.testing.assert_allclose(weights.log_probs, np.log(0.99 + 0.01 / 9), rtol=1e-6)


def test_rollout_holds_every_field_of_its_episodes():
    played = rollout("local-search", SMALL, observe=True)
    assert played.observed_rewards is not None
    height, width = 6, 5
    assert [(a.dtype.name, a.shape) for a in played if a is not None] == [
        *[("int8", (7, 12, 3))] * 2,
        ("float32", (7, 12, 3)),
        ("uint16", (7, 13, 3)),
        *[("uint16", (7, 13))] * 2,
        ("float32", (7, 12, 3)),
        ("float32", (7, 12, 3, 9)),
    ]
    assert (played.utterances == 0).all() and (played.good != played.evil).all()
    for e, t, p in np.ndindex(7, 12, 3):
        before, after = int(played.cells[e, t, p]), int(played.cells[e, t + 1, p])
        assert after == torus.move_cell(before, int(played.actions[e, t, p]), height, width)
        for m in range(9):
            cell = torus.move_cell(before, m, height, width)
            objects = int(played.good[e, t]), int(played.evil[e, t])
            seen = played.observed_rewards[e, t, p, m]
            assert seen == kernels.reward_at_cell(cell, *objects, height, width) / 2
        objects = int(played.good[e, t + 1]), int(played.evil[e, t + 1])
        assert played.rewards[e, t, p] == kernels.reward_at_cell(after, *objects, height, width) / 2
    assert rollout("local-search", SMALL).observed_rewards is None


def test_log_probability_of_local_search_is_that_of_its_best_cells():
    played = rollout("local-search", SMALL, observe=True)
    assert played.observed_rewards is not None
    best = (played.observed_rewards == played.observed_rewards.max(-1, keepdims=True)).sum(-1)
    np.testing.assert_allclose(played.log_probs, np.log(0.99 / best + 0.01 / 9), rtol=1e-6)


def test_equal_seeds_agree_and_others_differ_and_environments_stay_as_they_are():
    before = [array.copy() for array in SMALL.arrays]
    same(rollout("random", SMALL, seed=1), rollout("random", SMALL, seed=1))
    assert (
        rollout("random", SMALL, seed=1).actions != rollout("random", SMALL, seed=2).actions
    ).any()
    one, other = generate(5, seed=1), generate(5, seed=2)
    assert (one.arrays.cells != other.arrays.cells).any()
    rollout("random,oracle", SMALL, observe=True)
    teams.total_rewards("random", SMALL, seed=0)
    for left, right in zip(before, SMALL.arrays, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("name", ["wisdom-of-the-crowd", "random,stigmergy"])
def test_part_of_the_environments_gives_its_part_of_the_episodes(name):
    whole: Any = rollout(name, generate(5, seed=8, team=2, steps=10), observe=True)
    part = rollout(name, generate(2, seed=8, team=2, steps=10, start=3), observe=True)
    same(type(whole)(*(array[3:] for array in whole)), part)


def test_environments_may_be_a_number_or_serialised_states():
    states = LambdaStar().generate(4, seed=0)
    same(rollout("random", 4), rollout("random", states))
    same(rollout("random", 4), rollout("random", generate(4)))


@pytest.mark.parametrize(
    ("agent", "kind", "said"),
    [
        ("clairvoyant", UnknownName, "clairvoyant"),
        ("random,,random", UnknownName, "unknown agent ''"),
        ("os:system", ArgumentError, "not an agent"),
        ([], ArgumentError, "found none"),
        (7, ArgumentError, "not an agent"),
        (None, ArgumentError, "not an agent"),
        (Agent, ArgumentError, "without arguments"),
        ("random,random,random,random", ArgumentError, "found 4 for 3"),
        (lambda o: np.zeros(3), StsError, "'policy' at step 0"),
        (lambda o: np.full(o.cell.shape, 9), StsError, "outside 0..8"),
        (lambda o: o.nothing, StsError, "'policy' failed at step 0"),
        (lambda: 1, StsError, "'policy' failed at step 0"),
    ],
)
def test_invalid_agent_is_refused(agent, kind, said):
    for play in (rollout, teams.total_rewards):
        with pytest.raises(kind, match=said) as caught:
            play(agent, SMALL, seed=0)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("environments", "kind", "said"),
    [
        (0, ArgumentError, "1 to 10000000 environments"),
        *(
            (one, ArgumentError, f"found {type(one).__name__}")
            for one in (True, 2.5, [], ["s"], b"s")
        ),
        ([b"state"], DamagedState, "other bytes"),
    ],
)
def test_invalid_environments_are_refused(environments, kind, said):
    with pytest.raises(kind, match=said):
        rollout("random", environments)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"count": 0}, "found 0"),
        ({"count": "4"}, "found '4'"),
        ({"start": -1}, "start -1"),
        ({"seed": 0.5}, "^expected whole numbers, found seed 0.5$"),
        ({"seed": None}, "found seed None"),
        ({"team": 2.0}, "found team 2.0"),
        ({"team": True}, "found team True"),
        ({"steps": "50"}, "found steps '50'"),
        ({"radius": 1.0}, "found radius 1.0"),
        ({"complexity": 5}, "two whole numbers or None, found 5$"),
        ({"complexity": (2, 3, 4)}, "two whole numbers or None"),
        ({"complexity": ("2", "3")}, "two whole numbers or None"),
        ({"size": 10}, "found 10"),
        ({"size": (10, 10, 10)}, "rows, columns"),
        ({"size": (2, 10)}, "sides from 3 to 255"),
    ],
)
def test_invalid_settings_of_environments_are_refused(settings, said):
    with pytest.raises(ArgumentError, match=said):
        generate(**({"count": 2} | settings))


@pytest.mark.parametrize("name", ["seed", "rehearsals", "threads"])
def test_non_integer_options_are_refused(name):
    for value in (None, "1", 1.5, True):
        with pytest.raises(ArgumentError, match=f"^expected whole numbers, found {name} "):
            wrong: Any = {name: value}
            rollout("random", SMALL, **wrong)


def test_repr_of_environments_and_rollouts_is_short():
    worlds = generate(4, size=(6, 5), team=2, steps=9, complexity=(3, 3))
    assert repr(worlds) == ("Environments(4 of 6x5, team=2, steps=9, K 3 to 3, paper patterns)")
    assert repr(rollout("random", worlds)) == "Rollout(episodes=4, steps=9, team=2)"


IMPORTS = """
import importlib, pkgutil, sys
import sts_lambda_star
assert not {"numpy", "numba"} & set(sys.modules), "the package is not light"
assert "rollout" in dir(sts_lambda_star)
for module in pkgutil.iter_modules(sts_lambda_star.__path__, "sts_lambda_star."):
    importlib.import_module(module.name)
assert callable(sts_lambda_star.rollout) and callable(sts_lambda_star.generate)
"""


def test_package_is_light_and_its_functions_are_not_hidden_by_modules():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with pytest.raises(AttributeError, match="no attribute 'roll'"):
        lambda_star.roll  # noqa: B018
