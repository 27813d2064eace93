"""The agent `random` plays in the worlds of every domain."""

import hashlib
from typing import Any

import numpy as np
import pytest

from sts import agents
from sts.cli.main import main
from sts.domains import ActionSpace, action_space, load_domain
from sts.domains.random import Random
from sts.engine.lockstep import Rollouts, play_episodes
from sts.engine.session import Team, bind_agent
from sts.errors import ArgumentError, StsError
from tests.domains import spaces
from tests.recording import record

LAMBDA_STAR: tuple[dict[str, int], ...] = (
    {},
    {"height": 8, "width": 12, "n_players": 5, "horizon": 30},
    {"n_players": 2, "radius": 2},
)
LAMBDA_STAR_DIGEST = "4d204e934096170ed382d68f80b1d03b526ef62f247bcfe9577ea256444c4cf9"
"""Digest of what `random` did when it played Λ* alone."""


def play_random(name: str, count: int = 50, steps: int = 20) -> Rollouts:
    world = load_domain(name)
    worlds = world.restore(world.generate(count, seed=1))
    players = tuple(range(worlds.rewards.shape[1]))
    team = Team(agents.load("random"), players, np.arange(count, dtype=np.uint64))
    return play_episodes(world, worlds, [team], steps=steps)


def is_silent(utterances: Any) -> bool:
    return set(utterances.ravel().tolist()) <= {0, ""}


def test_random_on_lambda_star_matches_its_golden_digest():
    found = hashlib.sha256()
    common: dict[str, Any] = {"domain": "lambda-star", "count": 20, "steps": 30, "seed": 3}
    for settings in LAMBDA_STAR:
        for one in record(agents.load("random"), settings=settings, **common):
            episode = one.episode
            for array in (episode.actions, episode.utterances, episode.rewards, episode.scene):
                found.update(np.ascontiguousarray(array).tobytes())
                found.update(str((array.dtype, array.shape)).encode())
    assert found.hexdigest() == LAMBDA_STAR_DIGEST


@pytest.mark.parametrize(
    "name", ["lambda-star", spaces.CARTPOLE, spaces.CRANE, spaces.HALL, spaces.BELLS]
)
def test_random_draws_discrete_actions_uniformly_and_is_silent(name):
    out, space = play_random(name), action_space(load_domain(name))
    every = out.actions.reshape(-1, *space.shape)
    assert space.contains(every) and is_silent(out.utterances)
    actions, counts = np.unique(every, axis=0, return_counts=True)
    possible = int(np.prod(space.high.astype(int) - space.low + 1))
    assert len(actions) == possible
    expected = len(every) / possible
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()
    np.testing.assert_allclose(out.log_probs, -np.log(possible), rtol=1e-6)


def test_random_draws_real_actions_uniformly_with_their_log_density():
    out, space = play_random(spaces.PENDULUM), action_space(load_domain(spaces.PENDULUM))
    assert space.contains(out.actions) and is_silent(out.utterances)
    share = np.sort((out.actions.ravel() + 2) / 4)
    assert np.abs(share - np.linspace(0, 1, share.size)).max() < 1.95 / np.sqrt(share.size)
    np.testing.assert_allclose(out.log_probs, -np.log(4), rtol=1e-6)


def test_log_volume_of_mixed_and_huge_bounds_is_finite_and_exact():
    huge = np.finfo(np.float64).max
    space = ActionSpace(np.dtype(np.float64), np.array([0, 5, -huge]), np.array([3, 5, huge]))
    np.testing.assert_allclose(space.log_volume, np.log(3) + np.log(2) + np.log(huge))
    drawn = space.interpolate(np.random.default_rng(0).random((9, 3)))
    assert space.contains(drawn) and (drawn[:, 1] == 5).all()


def test_random_refuses_unbounded_actions(tmp_path, capsys):
    words = ["record", "--domain", spaces.LOOSE_CRANE, "--agent", "random", "--episodes", "1"]
    assert main([*words, "--workspace", str(tmp_path / "w")]) == 2
    assert capsys.readouterr().err == (
        f"sts: agent 'random' cannot play in {spaces.LOOSE_CRANE}: its actions float32[2] are "
        "unbounded; choose another agent\n"
    )
    assert not (tmp_path / "w" / "trajectories").exists()
    assert not ActionSpace(np.dtype(np.float32), np.zeros(2), np.array([1, np.inf])).is_bounded


def test_random_is_bound_to_a_domain_without_being_changed():
    agent = agents.load("random")
    pendulum, star = (
        bind_agent(agent, load_domain(name)) for name in (spaces.PENDULUM, "lambda-star")
    )
    assert (pendulum.draws, star.draws, agent.draws) == (1, 0, 0) and vars(agent) == {}
    with pytest.raises(StsError, match="is not bound to a domain"):
        agent.act(None, agents.Instructions(("",), np.zeros(1, np.int32)), {}, np.zeros((1, 1, 0)))
    with pytest.raises(ArgumentError, match="plays only in babyai"):
        bind_agent(agents.load("babyai-blind"), load_domain("lambda-star"))
    assert type(bind_agent(Random(), load_domain("lambda-star"))) is Random
