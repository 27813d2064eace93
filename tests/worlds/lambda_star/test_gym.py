"""Λ* in Gymnasium: its checker, seeds, worlds stepped together, and learning that learns."""

from __future__ import annotations

import copy
import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode

from sts.errors import ArgumentError, UnknownName
from sts_lambda_star import generate, rollout
from sts_lambda_star.features import feature_bounds, feature_slices, flatten_observation
from sts_lambda_star.generation import patterns
from sts_lambda_star.gym import ID, LambdaStarEnv, LambdaStarVectorEnv

PAGE = Path(__file__).resolve().parents[3] / "docs" / "learning.md"
STAY = np.full(2, 4)
SMALL: dict[str, Any] = {"size": (5, 6), "steps": 7}
TEAM = SMALL | {"team": 4, "partner": "stigmergy,random"}
KINDS = pytest.mark.parametrize(
    "settings",
    [SMALL, TEAM, SMALL | {"team": 2, "radius": 2}, {"patterns": "lambdastar-2016", "steps": 9}],
    ids=["alone", "partners", "radius-2", "2016"],
)


@KINDS
def test_environment_passes_the_checker_of_gymnasium_without_a_warning(settings):
    check_env(gymnasium.make(ID, **settings).unwrapped)


def test_environments_are_found_by_name_and_by_module_and_name():
    full = f"sts_lambda_star.gym:{ID}"
    for name in (ID, full):
        assert isinstance(gymnasium.make(name).unwrapped, LambdaStarEnv)
        assert isinstance(gymnasium.make_vec(name, num_envs=2).unwrapped, LambdaStarVectorEnv)
    code = f"import gymnasium; gymnasium.make('{full}').reset(seed=0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_seed_names_the_environments_that_generate_makes():
    env = LambdaStarEnv(**SMALL)
    worlds = generate(3, seed=6, **SMALL)
    for index in range(3):
        seen, _ = env.reset(seed=6) if index == 0 else env.reset()
        row, column = divmod(int(worlds.arrays.cells[index, 0]), 6)
        np.testing.assert_allclose(
            seen[feature_slices()["place"]], (row / 5, column / 6), rtol=1e-6
        )
        actions = rollout("random", worlds, seed=1).actions[index, :, 0]
        rewards = [env.step(move)[1] for move in actions]
        assert rewards == rollout("random", worlds, seed=1).rewards[index, :, 0].tolist()


def test_worlds_of_a_seed_come_round_again_and_are_made_once(monkeypatch):
    actions = np.random.default_rng(0).integers(0, 9, (4 * 8, 3))
    for count in (1, 2):
        env = LambdaStarEnv(worlds=count, **SMALL)
        envs = LambdaStarVectorEnv(3, worlds=count, **SMALL)
        alone = [[env.reset(seed=i)[0], *(env.reset()[0] for _ in range(3))] for i in range(3)]
        starts = [envs.reset(seed=0)[0]]
        starts += [seen for seen, *_ in map(envs.step, actions)][7::8]
        for episode, start in enumerate(starts[:4]):
            np.testing.assert_array_equal(start, starts[episode % count])
            np.testing.assert_array_equal(start, [row[episode] for row in alone])
        assert count == 1 or (starts[0] != starts[1]).any()
    made: list[int] = []
    worlds = patterns.generate_worlds

    def counted(settings, names):
        made.extend(index for _, index in names)
        return worlds(settings, names)

    monkeypatch.setattr(patterns, "generate_worlds", counted)
    env = LambdaStarEnv(worlds=3, **SMALL)
    env.reset(seed=4)
    for _ in range(8):
        env.reset()
    assert made == [0, 1, 2]
    one, other = LambdaStarEnv(**SMALL), LambdaStarEnv(**SMALL)
    unseeded = {tuple(env.reset()[0]) for env in (one, other) for _ in range(4)}
    assert len(unseeded) > 4, "unseeded environments differ"


@KINDS
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_vector_environments_agree_with_single_ones(settings, mode):
    count = 5
    together = gymnasium.make_vec(ID, num_envs=count, autoreset_mode=mode, **settings)
    single: dict[str, Any] = {
        "vectorization_mode": "sync",
        "vector_kwargs": {"autoreset_mode": mode},
    }
    singles = gymnasium.make_vec(ID, num_envs=count, **single, **settings)
    assert together.metadata["autoreset_mode"] is singles.metadata["autoreset_mode"] is mode
    for name in ("observation_space", "action_space"):
        assert getattr(together, name) == getattr(singles, name)
        assert getattr(together, f"single_{name}") == getattr(singles, f"single_{name}")
    found = [env.reset(seed=21) for env in (together, singles)]
    np.testing.assert_array_equal(found[0][0], found[1][0])
    ends = 0
    for actions in np.random.default_rng(1).integers(0, 9, (30, count)):
        ours, theirs = together.step(actions), singles.step(actions)
        for mine, other in zip(ours[:4], theirs[:4], strict=True):
            np.testing.assert_array_equal(mine, other)
            assert mine.dtype == other.dtype
        assert data_equivalence(ours[4], theirs[4], exact=True)
        ends += int(ours[3].all())
    assert ends == 30 // (settings["steps"] + (mode is AutoresetMode.NEXT_STEP))


def test_observations_lie_in_their_space_and_are_new_at_every_step():
    env = LambdaStarVectorEnv(8, **TEAM)
    seen = [env.reset(seed=3)[0]]
    env.action_space.seed(3)
    for _ in range(20):
        seen.append(env.step(env.action_space.sample())[0])
    assert all(one in env.observation_space for one in seen)
    assert not any(np.shares_memory(a, b) for a, b in zip(seen[1:], seen, strict=False))


def test_flat_observation_holds_the_observation_of_an_agent():
    horizon, where = 9, feature_slices(2)
    shown = {}

    def keep(observation):
        shown[int(observation.step[0])] = observation
        return np.random.default_rng(0).integers(0, 9, observation.cell.shape)

    environments = generate(40, seed=2, size=(5, 7), team=3, steps=horizon, radius=2)
    rollout(keep, environments)
    low, high = feature_bounds(environments.settings)
    for step, o in shown.items():
        seen = flatten_observation(o, horizon)
        assert seen.shape == (40, 3, 25 * 4 + 13) and seen.dtype == np.float32
        assert (low <= seen).all() and (seen <= high).all()
        np.testing.assert_array_equal(seen[..., where["good"]], o.good)
        np.testing.assert_array_equal(seen[..., where["evil"]], o.evil)
        np.testing.assert_array_equal(seen[..., where["others"]], o.team + o.others)
        np.testing.assert_array_equal(seen[..., where["reward"]], o.reward / 2)
        row, column = np.round(seen[..., where["place"]] * (5, 7)).astype(int).transpose(2, 0, 1)
        np.testing.assert_array_equal(row * 7 + column, o.cell)
        np.testing.assert_allclose(seen[..., where["time"]], step / horizon, rtol=1e-6)
        moved = seen[..., where["last_move"]]
        np.testing.assert_array_equal(moved.sum(-1), o.last_move >= 0)
        np.testing.assert_array_equal(moved.argmax(-1), np.maximum(o.last_move, 0))
        np.testing.assert_array_equal(seen[..., where["last_reward"]][..., 0], o.last_reward / 2)
    assert sorted(shown) == list(range(horizon))
    assert any(o.team.any() for o in shown.values())


def worlds_of(env: LambdaStarEnv) -> Any:
    assert env._session is not None
    return env._session.worlds


def cells_after(actions, **settings) -> list[int]:
    """Return the cells of all players after actions of the first."""
    env = LambdaStarEnv(team=6, **settings)
    env.reset(seed=5)
    for move in actions:
        env.step(move)
    cells: list[int] = worlds_of(env).arrays.cells[0].tolist()
    return cells


def test_partners_move_as_agents_whatever_the_learner_does_or_stand_still():
    start = cells_after([])
    for partner, actions in (("random", True), (None, False)):
        after, other = (cells_after([move] * 7, partner=partner) for move in (4, 8))
        assert after[0] == start[0] != other[0] and after[1:] == other[1:]
        assert (after[1:] != start[1:]) == actions


def test_vector_takes_a_seed_for_each_environment():
    envs = LambdaStarVectorEnv(3, **SMALL)
    row = envs.reset(seed=[9, 4, 9])[0]
    np.testing.assert_array_equal(row[0], row[2])
    np.testing.assert_array_equal(row[1], LambdaStarEnv(**SMALL).reset(seed=4)[0])
    assert envs.reset(options={"reset_mask": np.ones(3, bool)})[0].shape == row.shape


def test_finished_episode_waits_for_its_reset_without_autoreset():
    envs = LambdaStarVectorEnv(2, steps=2, autoreset_mode="Disabled")
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(STAY)
    envs.reset(seed=0)
    assert not envs.step(STAY)[3].any() and envs.step(STAY)[3].all()
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(STAY)
    envs.reset()
    envs.step(STAY)


def test_deep_copy_continues_alike():
    envs = LambdaStarVectorEnv(2, steps=4)
    envs.reset(seed=1)
    other = copy.deepcopy(envs)
    np.testing.assert_array_equal(envs.reset()[0], other.reset()[0])


def test_render_returns_text_and_pixels():
    shown = {}
    for mode in LambdaStarEnv.metadata["render_modes"]:
        env = LambdaStarEnv(size=(4, 6), team=2, render_mode=mode)
        env.reset(seed=1)
        shown[mode] = env.render()
        envs = LambdaStarVectorEnv(2, size=(4, 6), team=2, render_mode=mode)
        envs.reset(seed=1)
        np.testing.assert_array_equal(envs.render()[0], shown[mode])
    lines = shown["ansi"].splitlines()
    assert len(lines) == 4 and {"G", "E", "A", "B"} <= set(shown["ansi"])
    image, scene = shown["rgb_array"], worlds_of(env).scene[0]
    assert image.shape == (240, 360, 3) and image.dtype == np.uint8
    for which, colour in ((0, "#009E73"), (1, "#D55E00"), (2, "#0072B2")):
        row, column = divmod(int(scene[which]), 6)
        cell = image[60 * row : 60 * row + 60, 60 * column : 60 * column + 60]
        assert (cell == list(bytes.fromhex(colour[1:]))).all(-1).mean() > 0.1
    assert LambdaStarEnv().render() is None and LambdaStarVectorEnv().render() is None


@pytest.mark.parametrize(
    ("settings", "kind", "said"),
    [
        ({"size": (10, 10.0)}, ArgumentError, "whole numbers, found columns 10.0"),
        ({"radius": None}, ArgumentError, "whole numbers, found radius None"),
        ({"patterns": "spiral"}, ArgumentError, "spiral"),
        ({"partner": "random"}, ArgumentError, "a team of 2 or more, found 1"),
        ({"team": 2, "partner": "nobody"}, UnknownName, "nobody"),
        ({"worlds": 0}, ArgumentError, "1 world or more"),
        ({"render_mode": "human"}, ArgumentError, "ansi or rgb_array"),
    ],
)
def test_invalid_settings_are_refused_when_an_environment_is_made(settings, kind, said):
    for environment in (LambdaStarEnv, LambdaStarVectorEnv):
        with pytest.raises(kind, match=said):
            environment(**settings)


@pytest.mark.parametrize("move", [9, -1, 1.0, "up", None, [1], np.nan])
def test_invalid_move_is_refused(move):
    env = LambdaStarEnv()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(4)
    env.reset(seed=0)
    with pytest.raises(ArgumentError, match="0 to 8"):
        env.step(move)


@pytest.mark.parametrize(
    ("actions", "found"),
    [
        (np.zeros(1000, np.int64), r"int64\[1000\]"),
        (np.zeros((2, 2), np.float32), r"float32\[2, 2\]"),
        (np.zeros(2), r"float64\[2\]"),
        ([[1], [1, 2]], r"object\[2\]"),
        (np.array([3, 12]), "12"),
        ([1], r"int64\[1\]"),
        (7, "7"),
        (None, "None"),
    ],
)
def test_invalid_moves_of_a_vector_are_refused_by_type_shape_or_value(actions, found):
    envs = LambdaStarVectorEnv(2)
    envs.reset(seed=0)
    with pytest.raises(ArgumentError, match=rf"0 to 8.*integers of shape \(2,\), found {found}$"):
        envs.step(actions)


def test_invalid_vector_or_reset_is_refused():
    envs = LambdaStarVectorEnv(2)
    for said, call in {
        "found 0": lambda: LambdaStarVectorEnv(0),
        "NextStep, SameStep, Disabled": lambda: LambdaStarVectorEnv(2, autoreset_mode="never"),
        "expected 2 seeds, found 3": lambda: envs.reset(seed=[1, 2, 3]),
        "start together": lambda: envs.reset(options={"reset_mask": np.array([True, False])}),
    }.items():
        with pytest.raises(ArgumentError, match=said):
            call()
    with pytest.raises(gymnasium.error.ResetNeeded):
        LambdaStarVectorEnv(2, render_mode="ansi").render()


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Return the modules `learn` and `learned` of the page, saved in the current folder."""
    for title, text in re.findall(r"```python title=(\S+)\n(.*?)```", PAGE.read_text(), re.S):
        (tmp_path / title).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tuple(importlib.import_module(name) for name in ("learn", "learned"))
    for name in ("learn", "learned"):
        del sys.modules[name]


@pytest.mark.landing
def test_documented_learner_beats_chance_in_unseen_environments(page):
    learn, learned = page
    np.save(learned.WEIGHTS, learn.train(updates=25))
    unseen = generate(200, seed=0, start=1000)
    better = rollout("learned:Learned", unseen).rewards - rollout("random", unseen).rewards
    per_episode = better.mean((1, 2), np.float64)
    assert per_episode.mean() > 10 * per_episode.std(ddof=1) / np.sqrt(len(per_episode))
    assert per_episode.mean() > 0.2


def test_documented_learner_learns_the_same_from_the_same_seed(page):
    learn, _ = page
    first, again, other = (learn.train(updates=2, worlds=4, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_allclose(first, again, rtol=1e-9)
    assert not np.allclose(first, other)


def test_missing_gymnasium_names_the_extra_to_install():
    code = "import sys; sys.modules['gymnasium'] = None; import sts_lambda_star.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert done.returncode and "pip install 'standardised-test-suite[gym]'" in last
    assert last.startswith("sts.errors.MissingExtra")
