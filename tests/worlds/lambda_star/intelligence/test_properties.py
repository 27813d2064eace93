"""Generated environments are what scores on them rest on, and what is not is found out."""

from __future__ import annotations

import functools
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sts.cli.main import main
from sts.errors import ArgumentError
from sts.worlds.lambda_star.domain import Batch
from sts.worlds.lambda_star.generation import patterns
from sts.worlds.lambda_star.generation.environments import from_states, generate
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.intelligence import soundness
from sts.worlds.lambda_star.intelligence.soundness import (
    examine,
    is_balanced,
    least_sensitivity,
    measure,
    reward_maps,
)
from sts.worlds.lambda_star.kernels import reward
from sts.worlds.lambda_star.state import State, encode, scatter
from tests.worlds.lambda_star.examples import state, states

CLASSES = (
    (Settings(3, 3, 1, 4), 4000),
    (Settings(3, 3, 9, 60), 1000),
    (Settings(4, 4, 2, 10), 4000),
    (Settings(5, 3, 3, 20), 3000),
    (Settings(4, 12, 1, 30, (3, 6)), 1000),
    (Settings(12, 5, 2, 31, (9, 20)), 1000),
    (Settings(7, 7, 4, 25, (5, 5)), 1000),
    (Settings(), 2000),
    (Settings(10, 10, 5, 50, (24, 30)), 1000),
    (Settings(12, 12, 1, 100), 400),
    (Settings(3, 3, 2, 10, None, "lambdastar-2016"), 4000),
    (Settings(5, 5, 1, 30, None, "lambdastar-2016"), 4000),
    (Settings(8, 8, 3, 40, None, "lambdastar-2016"), 2000),
    (Settings(12, 12, 2, 100, None, "lambdastar-2016"), 400),
)
QUICK = (1, 4, 7, 10, 13)
"""Of these, by place, those of the quick tier: of both kinds of patterns, small and large."""
STAY = 4


@pytest.mark.parametrize(
    ("made_to", "episodes"),
    [
        pytest.param(*one, marks=[] if place in QUICK else [pytest.mark.slow])
        for place, one in enumerate(CLASSES)
    ],
)
def test_every_generated_class_has_every_property(made_to, episodes):
    found = examine(made_to, episodes=episodes, seed=0)
    assert found.holds, found.findings
    assert {f.property for f in found.findings} >= {
        "equal K",
        "different paths",
        "symmetric rewards",
        "random agent at 0",
        "reward-sensitive",
    }
    assert found.random.standard_error is not None and found.sensitivity is not None
    assert abs(found.random.mean) <= 4 * found.random.standard_error
    assert 1 <= found.sensitivity <= max(made_to.height, made_to.width) // 2


def test_a_random_agent_expects_exactly_nothing_at_any_step():
    """On any cell equally likely, it receives the mean of the map, which is 0."""
    batch = Batch.from_arrays(
        generate(Settings(5, 7, 1, 30), seed=1, start=0, stop=50).copy_arrays(), 1
    )
    for _ in range(30):
        batch.step(np.full((50, 1), STAY, np.int8), np.zeros((50, 1), np.int8))
        rewards = reward_maps(batch.arrays.objects, 5, 7)
        assert not rewards.sum((1, 2)).any() and is_balanced(rewards).all()
        for b, (good, evil) in enumerate(batch.arrays.objects.tolist()):
            assert [reward(c, good, evil, 5, 7) for c in range(35)] == rewards[b].ravel().tolist()


def test_rewards_are_symmetric_wherever_good_and_evil_are():
    for height, width in ((3, 3), (3, 4), (4, 4), (5, 3), (6, 5)):
        pairs = np.array(list(np.ndindex(height * width, height * width)))
        assert (is_balanced(reward_maps(pairs, height, width)) | (pairs[:, 0] == pairs[:, 1])).all()


@pytest.mark.parametrize("value", [-3, -1, 1, 3])
def test_a_doctored_map_is_not_balanced(value):
    rewards = reward_maps(np.array([[0, 12], [0, 12]]), 4, 5)
    rewards[1, 3, 3] += value
    assert is_balanced(rewards).tolist() == [True, False]


def test_a_map_of_rewards_past_one_is_not_balanced_though_symmetric():
    assert is_balanced(np.array([[[3, -3, 0]], [[2, -2, 0]]])).tolist() == [False, True]


def test_participants_start_on_any_cell_and_anywhere_from_good_equally_often():
    worlds = generate(Settings(3, 3, 1, 4), seed=0, start=0, stop=4500).arrays
    cells, good = worlds.cells[:, 0], worlds.objects[:, 0]
    for found in (cells, (cells - good) % 9):
        counts = np.bincount(found, minlength=9)
        assert ((counts - 500) ** 2 / 500).sum() < 26.1, counts


def one(s: State) -> soundness.Properties:
    return measure(from_states([encode(s)]))


def still(good: int, evil: int, height: int, width: int, horizon: int) -> State:
    """A world in which nothing ever moves."""
    return state(
        height=height,
        width=width,
        good=good,
        evil=evil,
        good_pattern=(STAY,),
        evil_pattern=(STAY,),
        good_cursor=0,
        evil_cursor=0,
        step=0,
        horizon=horizon,
        cells=(0, 0, 0),
    )


def test_sensitivity_is_the_way_to_the_nearest_difference_where_nothing_moves():
    """On 9x9, Good and Evil beside each other in the middle: at most 3 steps from anywhere."""
    assert one(still(40, 41, 9, 9, 10)).sensitivity.tolist() == [3]
    assert one(still(40, 41, 9, 9, 3)).sensitivity.tolist() == [3]
    assert one(still(40, 41, 9, 9, 2)).sensitivity.tolist() == [0]
    assert one(still(0, 1, 3, 3, 1)).sensitivity.tolist() == [1]


@pytest.mark.parametrize(
    ("longest", "n"),
    [([1, 1, 1], 1), ([2, 2, 9], 2), ([2, 9, 9], 3), ([1, 2, 9], 2), ([9, 1, 1], 0), ([9], 0)],
)
def test_waits_past_the_episodes_end_do_not_count(longest, n):
    """With n = 3 only the first step has n left, so [2, 9, 9] is 3: no smaller n is enough."""
    assert least_sensitivity(np.array([longest])).tolist() == [n]


def by_definition(s: State) -> int:
    """Definition 7 to the letter: every sum of rewards that m more actions can bring."""
    batch, cells = Batch([s]), range(s.height * s.width)
    maps = []
    for _ in range(s.horizon):
        people = batch.rewards.shape
        batch.step(np.full(people, STAY, np.int8), np.zeros(people, np.int8))
        good, evil = batch.arrays.objects[0].tolist()
        maps.append([reward(c, good, evil, s.height, s.width) for c in cells])

    def beside(cell: int) -> set[int]:
        row, column = divmod(cell, s.width)
        rows = [(row + y) % s.height for y in (-1, 0, 1)]
        return {y * s.width + (column + x) % s.width for y in rows for x in (-1, 0, 1)}

    @functools.cache
    def sums(cell: int, t: int, m: int) -> frozenset[int]:
        if m == 0:
            return frozenset({0})
        return frozenset(
            maps[t][to] + more for to in beside(cell) for more in sums(to, t + 1, m - 1)
        )

    def sensitive(n: int) -> bool:
        return all(
            any(len(sums(cell, t, m)) > 1 for m in range(1, n + 1))
            for cell in cells
            for t in range(s.horizon - n + 1)
        )

    return next((n for n in range(1, s.horizon + 1) if sensitive(n)), 0)


@given(states().filter(lambda s: s.height * s.width <= 49), st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_sensitivity_is_what_the_definition_says(s, horizon):
    s = replace(s, step=0, horizon=horizon)
    assert one(s).sensitivity.tolist() == [by_definition(s)]


@pytest.mark.parametrize(
    ("height", "width", "horizon"), [(8, 8, 5), (9, 3, 3), (3, 8, 4), (7, 6, 2)]
)
def test_generated_environments_are_as_sensitive_as_the_definition_says(height, width, horizon):
    made = generate(Settings(height, width, 1, horizon), seed=0, start=0, stop=4)
    worlds = scatter(made.copy_arrays(), 1)
    assert measure(made).sensitivity.tolist() == [by_definition(s) for s in worlds]


def test_good_and_evil_of_one_walk_are_told_apart_from_those_that_only_move_alike():
    alike = state(step=0, horizon=9, good_cursor=0, evil_cursor=0, evil_pattern=(0, 5, 8))
    assert one(alike).same_moves.tolist() == [True] and one(alike).shift.tolist() != [0]
    longer = replace(alike, evil_pattern=(0, 5, 8, 0, 5, 8))
    assert one(longer).same_moves.tolist() == [True]
    assert one(replace(longer, evil_cursor=1)).same_moves.tolist() == [False]
    cells = replace(alike, kind="cells", good_pattern=(7, 2), evil_pattern=(7, 2))
    assert one(cells).shift.tolist() == [0] and one(cells).same_moves.tolist() == [False]
    assert one(replace(cells, evil_pattern=(10, 5))).shift.tolist() == [3]
    assert one(replace(cells, evil_pattern=(10, 6))).shift.tolist() == [-1]


def failures(monkeypatch, broken: State) -> set[str]:
    """What is found to fail when every environment of a class is this world."""
    made = from_states([encode(broken)] * 3)
    made = made._replace(settings=made.settings._replace(complexity=None))
    monkeypatch.setattr(soundness, "generate", lambda *asked, **span: made)
    found = examine(made.settings, episodes=3, seed=0)
    assert not found.holds or all(f.holds for f in found.findings)
    return {f.property for f in found.findings if not f.holds}


BROKEN = state(step=0, horizon=20, height=5, width=5, good_cursor=0, evil_cursor=0, cells=(0, 9, 3))


def test_unequal_complexity_is_found_out(monkeypatch):
    broken = replace(BROKEN, good_pattern=(STAY,), evil_pattern=(0, 5, 8, 7, 1))
    assert "equal K" in failures(monkeypatch, broken)


def test_complexity_out_of_range_is_found_out(monkeypatch):
    monkeypatch.setattr(patterns, "complexity_range", lambda s: (9, 12))
    found = failures(monkeypatch, replace(BROKEN, good_pattern=(STAY,), evil_pattern=(STAY,)))
    assert "K in range" in found and "equal K" not in found


def test_paths_that_are_the_same_or_not_shifted_as_published_are_found_out(monkeypatch):
    same = replace(BROKEN, kind="cells", good_pattern=(7, 2), evil_pattern=(7, 2))
    assert {"different paths", "Evil's path is Good's shifted"} <= failures(monkeypatch, same)
    shifted = replace(same, evil_pattern=(16, 11))
    assert failures(monkeypatch, shifted) <= {"random agent at 0"}


def test_rewards_out_of_reach_are_found_out():
    found = examine(Settings(20, 20, 1, 3), episodes=10, seed=0)
    assert [f.property for f in found.findings if not f.holds] == ["reward-sensitive"]
    assert found.sensitivity is None and not found.holds


def test_an_agent_that_receives_more_than_nothing_is_found_out(monkeypatch):
    def sums(agent, environments, *, seed):
        return np.arange(len(environments.index))[:, None] % 3 + 1

    monkeypatch.setattr(soundness, "total_rewards", sums)
    found = examine(Settings(5, 5, 1, 10), episodes=300, seed=0)
    assert [f.property for f in found.findings if not f.holds] == ["random agent at 0"]


def test_a_map_that_is_not_symmetric_is_found_out(monkeypatch):
    made = measure(generate(Settings(5, 5, 1, 10), seed=0, start=0, stop=20))
    doctored = made._replace(symmetric=np.arange(20) != 7)
    monkeypatch.setattr(soundness, "measure", lambda environments: doctored)
    found = examine(Settings(5, 5, 1, 10), episodes=20, seed=0)
    assert [(f.property, f.found) for f in found.findings if not f.holds] == [
        ("symmetric rewards", "19 of 20 environments")
    ]


def test_what_is_found_does_not_depend_on_how_many_are_examined_at_once(monkeypatch):
    whole = examine(Settings(5, 5, 2, 20), episodes=100, seed=3)
    monkeypatch.setattr(soundness, "SPAN", 33)
    assert examine(Settings(5, 5, 2, 20), episodes=100, seed=3) == whole
    monkeypatch.setattr(soundness, "_MAX_CELLS", 70)
    assert examine(Settings(5, 5, 2, 20), episodes=100, seed=3) == whole
    assert examine(Settings(5, 5, 2, 20), episodes=100, seed=4) != whole


def test_the_command_says_what_holds_and_fails_with_1(capsys):
    small = ["lambda-star", "check", "--size", "5x4", "--steps", "12", "--episodes", "40"]
    assert main(small) == 0
    text = capsys.readouterr().out
    assert "40 of 40 environments" in text and "FAILS" not in text and "8.570 bits" in text
    assert main([*small, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["holds"] and value["uncertainty"] == pytest.approx(np.log2(20 * 19))
    assert value["settings"]["complexity"] == value["complexity"] == [2, 12]
    assert {"mean", "standard_error"} == set(value["random"])
    assert main(["lambda-star", "check", "--size", "20x20", "--steps", "3"]) == 1
    assert "FAILS" in capsys.readouterr().out


def test_the_command_says_what_its_letters_mean(capsys):
    assert main(["lambda-star", "check", "--size", "5x5", "--episodes", "200"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for word in ("K", "same moves", "z", "n", "H(mu)"):
        assert sum(line.startswith(f"{word}: ") for line in lines) == 1, word
    assert max(map(len, lines)) <= 100
    program = ["--patterns", "lambdastar-2016", "--size", "5x5", "--episodes", "9"]
    assert main(["lambda-star", "check", *program]) == 0
    assert "same moves" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--size", "5x5", "--size", "6x6"], "--size is given twice"),
        (["--team", "5", "--team", "5"], "--team is given twice"),
        (["--steps", "5", "--steps", "6"], "--steps is given twice"),
        (["--episodes", "1"], "expected 2 environments or more, found 1"),
        (["--team", "0"], "expected a team of 1 to 100 on a 10x10 grid, found 0"),
        (["--complexity", "2-99"], "choose a range within 2 to 50"),
        (["--complexity", "few"], "expected --complexity like 2-23, found 'few'"),
        (
            ["--complexity", "2-5", "--patterns", "lambdastar-2016"],
            "do not support a complexity range",
        ),
        (["--size", "5x6", "--patterns", "lambdastar-2016"], "square"),
    ],
)
def test_what_cannot_be_checked_is_one_line(flags, said, capsys):
    assert main(["lambda-star", "check", *flags]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1


def test_too_few_environments_are_refused_before_any_is_made():
    with pytest.raises(ArgumentError, match="2 environments or more"):
        examine(Settings(), episodes=0, seed=0)
