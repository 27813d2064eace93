"""Episodes as arrays, whichever path they take; who plays; what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from sts import agents
from sts.agents import Agent, Choice
from sts.domains.random import Random
from sts.engine import lockstep
from sts.engine.session import Team
from sts.errors import ArgumentError, DamagedState, StsError, UnknownName
from sts.numerics.streams import stream
from sts.worlds import lambda_star
from sts.worlds.lambda_star import generate, kernels, rollout, torus
from sts.worlds.lambda_star.agents.local_search import LocalSearch
from sts.worlds.lambda_star.agents.q_learning import QLearning
from sts.worlds.lambda_star.domain import Batch, LambdaStar
from sts.worlds.lambda_star.intelligence.score import PUBLISHED
from sts.worlds.lambda_star.play import teams
from sts.worlds.lambda_star.play.practice import LEARNERS

SMALL = generate(7, seed=4, size=(6, 5), team=3, steps=12)
WIDE = generate(7, seed=4, size=(6, 7), team=3, steps=12, radius=2)


def by_hand(environments, seats, seed):
    """Return what the general path plays: `seats` are (agent, roles, parts of its stream)."""
    settings = environments.settings
    teams = [
        Team(
            agents.load(name),
            roles,
            np.array(
                [stream("lambda-star score", *parts, seed, int(i)) for i in environments.index],
                np.uint64,
            ),
        )
        for name, roles, parts in seats
    ]
    worlds = Batch.from_arrays(environments.copy_arrays(), settings.radius)
    return lockstep.play(LambdaStar(), worlds, teams, steps=settings.horizon)


def same(a, b):
    for field, left, right in zip(a._fields, a, b, strict=True):
        np.testing.assert_array_equal(left, right, err_msg=field)


@pytest.mark.parametrize("name", [name for name in PUBLISHED if name not in LEARNERS])
@pytest.mark.parametrize("environments", [SMALL, WIDE], ids=["radius-1", "radius-2"])
def test_sums_and_rollouts_are_what_lockstep_plays(name, environments):
    found = teams.total_rewards(name, environments, seed=5)
    general = by_hand(environments, [(name, (0, 1, 2), (name,))], 5)
    np.testing.assert_array_equal(found, general.rewards.sum(1, np.int64))
    episodes = rollout(name, environments, seed=5)
    np.testing.assert_array_equal(episodes.moves, general.moves)
    np.testing.assert_array_equal(episodes.rewards, general.rewards / 2)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_built_in_learner_plays_as_the_general_path_rehearses_it(name):
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
    environments = generate(40, seed=3, size=(5, 5), team=2, steps=15)
    before, after = (
        rollout("q-learning,random", environments, rehearsals=count).rewards.mean((0, 1))
        for count in (0, 60)
    )
    assert after[0] > before[0] + 0.3 and abs(after[1] - before[1]) < 0.1
    same(*(rollout("oracle,random", environments, rehearsals=count) for count in (0, 5)))


def test_threads_change_no_rollout():
    for name in ("local-search", "sarsa"):
        same(*(rollout(name, SMALL, seed=1, threads=n) for n in (1, 2)))


@pytest.mark.parametrize("wrong", [{"rehearsals": -1}, {"threads": 0}])
def test_too_few_rehearsals_or_threads_are_refused(wrong):
    for play in (rollout,) if "threads" in wrong else (rollout, teams.total_rewards):
        for name in ("random", "sarsa", "random,oracle"):
            with pytest.raises(ArgumentError, match="0 rehearsals and 1 thread or more"):
                play(name, SMALL, seed=0, **wrong)


def test_an_agent_that_only_shares_a_name_is_played_as_it_is():
    class Statue(LocalSearch):
        def act(self, observation, instructions, memory, draws):
            return Choice(np.full(observation.cell.shape, 4)), memory

    episodes = rollout(Statue, SMALL)
    assert (episodes.moves == 4).all()
    np.testing.assert_array_equal(
        teams.total_rewards(Statue, SMALL, seed=0), episodes.rewards.sum(1) * 2
    )


def test_an_installed_agent_with_something_changed_is_played_as_it_is():
    assert teams.is_built_in_learner((QLearning(),))
    assert not teams.is_built_in_learner((QLearning("published"),))


def test_a_mixed_team_is_dealt_to_the_participants_in_turn():
    general = by_hand(
        SMALL,
        [
            ("oracle", (0, 2), ("oracle,random", 0)),
            ("random", (1,), ("oracle,random", 1)),
        ],
        3,
    )
    np.testing.assert_array_equal(rollout("oracle,random", SMALL, seed=3).moves, general.moves)
    np.testing.assert_array_equal(
        teams.total_rewards("oracle,random", SMALL, seed=3), general.rewards.sum(1, np.int64)
    )


def test_members_of_a_mixed_team_draw_from_streams_of_their_own():
    twins = rollout("random,random,random", SMALL).moves
    assert len({twins[:, :, p].tobytes() for p in range(3)}) == 3


@pytest.mark.parametrize(
    "given",
    [
        "random,local-search",
        " random , sts.worlds.lambda_star.agents.local_search:LocalSearch",
        ("random", "local-search"),
        [Random, LocalSearch()],
        [["random"], LocalSearch],
    ],
)
def test_a_team_is_given_by_names_classes_agents_or_several_of_them(given):
    members = teams.load_team(given)
    assert [type(member) for member in members] == [Random, LocalSearch]
    assert teams.team_name(members) == "random,local-search"


def test_a_function_is_an_agent_that_returns_moves_or_weights():
    def up(observation):
        return np.full(observation.cell.shape, 1)

    def up_by_weight(observation):
        return np.eye(9)[up(observation)]

    moves, weights = rollout(up, SMALL), rollout(up_by_weight, SMALL)
    assert (moves.moves == 1).all() and (weights.moves == 1).all()
    assert np.isnan(moves.log_probs).all()
    np.testing.assert_allclose(weights.log_probs, np.log(0.99 + 0.01 / 9), rtol=1e-6)


def test_a_rollout_holds_what_happened():
    episodes = rollout("local-search", SMALL, observe=True)
    assert episodes.around is not None
    height, width = 6, 5
    assert [(a.dtype.name, a.shape) for a in episodes if a is not None] == [
        ("int8", (7, 12, 3)),
        ("int8", (7, 12, 3)),
        ("float32", (7, 12, 3)),
        ("uint16", (7, 13, 3)),
        ("uint16", (7, 13)),
        ("uint16", (7, 13)),
        ("float32", (7, 12, 3)),
        ("float32", (7, 12, 3, 9)),
    ]
    assert (episodes.says == 0).all() and (episodes.good != episodes.evil).all()
    for e, t, p in np.ndindex(7, 12, 3):
        before, after = int(episodes.cells[e, t, p]), int(episodes.cells[e, t + 1, p])
        assert after == torus.moved(before, int(episodes.moves[e, t, p]), height, width)
        for m in range(9):
            cell = torus.moved(before, m, height, width)
            objects = int(episodes.good[e, t]), int(episodes.evil[e, t])
            seen = episodes.around[e, t, p, m]
            assert seen == kernels.reward(cell, *objects, height, width) / 2
        objects = int(episodes.good[e, t + 1]), int(episodes.evil[e, t + 1])
        assert episodes.rewards[e, t, p] == kernels.reward(after, *objects, height, width) / 2
    assert rollout("local-search", SMALL).around is None


def test_the_log_probability_of_local_search_is_by_hand_that_of_its_best_cells():
    episodes = rollout("local-search", SMALL, observe=True)
    assert episodes.around is not None
    best = (episodes.around == episodes.around.max(-1, keepdims=True)).sum(-1)
    np.testing.assert_allclose(episodes.log_probs, np.log(0.99 / best + 0.01 / 9), rtol=1e-6)


def test_equal_seeds_agree_and_others_differ():
    same(rollout("random", SMALL, seed=1), rollout("random", SMALL, seed=1))
    assert (rollout("random", SMALL, seed=1).moves != rollout("random", SMALL, seed=2).moves).any()
    one, other = generate(5, seed=1), generate(5, seed=2)
    assert (one.arrays.cells != other.arrays.cells).any()


def test_environments_are_not_written_to():
    before = [array.copy() for array in SMALL.arrays]
    rollout("random,oracle", SMALL, observe=True)
    teams.total_rewards("random", SMALL, seed=0)
    for left, right in zip(before, SMALL.arrays, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("name", ["wisdom-of-the-crowd", "random,stigmergy"])
def test_a_part_of_the_environments_gives_its_part_of_the_episodes(name):
    whole: Any = rollout(name, generate(5, seed=8, team=2, steps=10), observe=True)
    part = rollout(name, generate(2, seed=8, team=2, steps=10, start=3), observe=True)
    same(type(whole)(*(array[3:] for array in whole)), part)


def test_environments_may_be_a_number_or_serialised_states():
    states = LambdaStar().generate(4, seed=0)
    same(rollout("random", 4), rollout("random", states))
    same(rollout("random", 4), rollout("random", generate(4)))


@pytest.mark.parametrize("team", [2, 3])
def test_the_episodes_are_those_that_the_intelligence_test_scores(team):
    from sts.worlds.lambda_star.intelligence.score import score

    environments = generate(6, seed=9, team=team, steps=10)
    means = score(["rule", "local-search"], environments.settings, episodes=6, seed=9).agents
    for mean in means:
        assert mean.mean == pytest.approx(
            rollout(mean.agent, environments, seed=9).rewards.mean(dtype=np.float64)
        )


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
def test_what_cannot_play_is_refused_in_one_line(agent, kind, said):
    for play in (rollout, teams.total_rewards):
        with pytest.raises(kind, match=said) as caught:
            play(agent, SMALL, seed=0)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("environments", "kind", "said"),
    [
        (0, ArgumentError, "1 to 10000000 environments"),
        (True, ArgumentError, "found bool"),
        (2.5, ArgumentError, "found float"),
        ([], ArgumentError, "found list"),
        (["state"], ArgumentError, "found list"),
        (b"state", ArgumentError, "found bytes"),
        ([b"state"], DamagedState, "other bytes"),
    ],
)
def test_what_is_no_environment_is_refused(environments, kind, said):
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
        ({"team": "3"}, "found team '3'"),
        ({"team": True}, "found team True"),
        ({"steps": "50"}, "found steps '50'"),
        ({"radius": 1.0}, "found radius 1.0"),
        ({"complexity": 5}, "two whole numbers or None, found 5$"),
        ({"complexity": (2, 3, 4)}, "two whole numbers or None"),
        ({"complexity": ("2", "3")}, "two whole numbers or None"),
        ({"size": 10}, "found 10"),
        ({"size": (10, 10, 10)}, "rows, columns"),
        ({"size": (2, 10)}, "sides from 3 to 255"),
        ({"team": 0}, "a team of 1"),
        ({"steps": 1}, "2 to 100000 steps"),
        ({"patterns": "spiral"}, "spiral"),
        ({"complexity": (2, 60)}, "is out of range"),
        ({"radius": 5}, "expected a radius of 1 to 4"),
    ],
)
def test_environments_that_cannot_be_made_are_refused_in_words(settings, said):
    with pytest.raises(ArgumentError, match=said):
        generate(**({"count": 2} | settings))


@pytest.mark.parametrize("name", ["seed", "rehearsals", "threads"])
@pytest.mark.parametrize("value", [None, "1", 1.5, True])
def test_a_rollout_asked_for_with_what_is_no_number_is_refused_in_words(name, value):
    with pytest.raises(ArgumentError, match=f"^expected whole numbers, found {name} "):
        rollout("random", SMALL, **{name: value})


def test_environments_and_rollouts_show_themselves_in_a_line():
    worlds = generate(4, size=(6, 5), team=2, steps=9, complexity=(3, 3))
    assert repr(worlds) == ("Environments(4 of 6x5, team=2, steps=9, K 3 to 3, paper patterns)")
    assert repr(rollout("random", worlds)) == "Rollout(episodes=4, steps=9, team=2)"


IMPORTS = """
import importlib, pkgutil, sys
import sts.worlds.lambda_star
assert not {"numpy", "numba"} & set(sys.modules), "the package is not light"
assert "rollout" in dir(sts.worlds.lambda_star)
for module in pkgutil.iter_modules(sts.worlds.lambda_star.__path__, "sts.worlds.lambda_star."):
    importlib.import_module(module.name)
assert callable(sts.worlds.lambda_star.rollout) and callable(sts.worlds.lambda_star.generate)
"""


def test_the_package_is_light_and_its_functions_are_not_hidden_by_modules():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_command_starts_without_compiled_kernels():
    named = "sys, sts.cli.main, sts.worlds.lambda_star.command"
    code = f"import {named}; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_package_has_nothing_else():
    with pytest.raises(AttributeError, match="no attribute 'roll'"):
        lambda_star.roll  # noqa: B018
