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
from sts_lambda_star.domain import Batch
from sts_lambda_star.generation import patterns
from sts_lambda_star.generation.environments import (
    environments_from_states,
    generate_environments,
)
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.intelligence import environment_checks
from sts_lambda_star.intelligence.environment_checks import (
    check_environments,
    is_balanced,
    least_sensitivity,
    measure_properties,
    reward_maps,
)
from sts_lambda_star.kernels import reward_at_cell
from sts_lambda_star.state import State, encode
from tests.worlds.lambda_star.agents.teams import start
from tests.worlds.lambda_star.examples import batch_of, state, states

CLASSES = (  # settings and episodes; the last value is True in the quick tier
    (Settings(3, 3, 1, 4), 4000, False),
    (Settings(3, 3, 9, 60), 1000, True),
    (Settings(4, 4, 2, 10), 4000, False),
    (Settings(5, 3, 3, 20), 3000, False),
    (Settings(4, 12, 1, 30, (3, 6)), 1000, True),
    (Settings(12, 5, 2, 31, (9, 20)), 1000, False),
    (Settings(7, 7, 4, 25, (5, 5)), 1000, False),
    (Settings(), 2000, True),
    (Settings(10, 10, 5, 50, (24, 30)), 1000, False),
    (Settings(12, 12, 1, 100), 400, False),
    (Settings(3, 3, 2, 10, None, "lambdastar-2016"), 4000, True),
    (Settings(5, 5, 1, 30, None, "lambdastar-2016"), 4000, False),
    (Settings(8, 8, 3, 40, None, "lambdastar-2016"), 2000, False),
    (Settings(12, 12, 2, 100, None, "lambdastar-2016"), 400, True),
)
PROPERTIES = {
    *("equal K", "different paths", "symmetric rewards", "random agent at 0", "reward-sensitive")
}
STAY = 4


@pytest.mark.parametrize(
    ("made_to", "episodes"),
    [
        pytest.param(made_to, episodes, marks=[] if quick else [pytest.mark.slow])
        for made_to, episodes, quick in CLASSES
    ],
)
def test_every_generated_class_has_every_property(made_to, episodes):
    found = check_environments(made_to, episodes=episodes, seed=0)
    assert found.holds, found.findings
    assert {f.property for f in found.findings} >= PROPERTIES
    assert found.random.standard_error is not None and found.sensitivity is not None
    assert abs(found.random.mean) <= 4 * found.random.standard_error
    assert 1 <= found.sensitivity <= max(made_to.height, made_to.width) // 2


def test_random_agent_expects_no_reward_at_any_step():
    """On any cell equally likely, it receives the mean of the map, which is 0."""
    batch = Batch(
        generate_environments(Settings(5, 7, 1, 30), seed=1, start=0, stop=50).copy_arrays(), 1
    )
    for _ in range(30):
        batch.step(np.full((50, 1), STAY, np.int8), np.zeros((50, 1), np.int8))
        rewards = reward_maps(batch.arrays.objects, 5, 7)
        assert not rewards.sum((1, 2)).any() and is_balanced(rewards).all()
        for b, (good, evil) in enumerate(batch.arrays.objects.tolist()):
            assert [reward_at_cell(c, good, evil, 5, 7) for c in range(35)] == rewards[
                b
            ].ravel().tolist()


def test_rewards_are_balanced_for_every_placement():
    for height, width in ((3, 3), (3, 4), (4, 4), (5, 3), (6, 5)):
        pairs = np.array(list(np.ndindex(height * width, height * width)))
        assert (is_balanced(reward_maps(pairs, height, width)) | (pairs[:, 0] == pairs[:, 1])).all()


def test_balanced_maps_are_symmetric_and_pay_one_at_most():
    for value in (-3, -1, 1, 3):
        rewards = reward_maps(np.array([[0, 12], [0, 12]]), 4, 5)
        rewards[1, 3, 3] += value
        assert is_balanced(rewards).tolist() == [True, False]
    assert is_balanced(np.array([[[3, -3, 0]], [[2, -2, 0]]])).tolist() == [False, True]


def test_participants_start_on_every_cell_equally_often():
    worlds = generate_environments(Settings(3, 3, 1, 4), seed=0, start=0, stop=4500).arrays
    cells, good = worlds.cells[:, 0], worlds.objects[:, 0]
    for found in (cells, (cells - good) % 9):
        counts = np.bincount(found, minlength=9)
        assert ((counts - 500) ** 2 / 500).sum() < 26.1, counts


def one(s: State) -> environment_checks.Properties:
    return measure_properties(environments_from_states([encode(s)]))


def still(good: int, evil: int, size: int, horizon: int) -> State:
    """A world in which nothing ever moves."""
    return start(size, size, good=good, evil=evil, cells=(0,), horizon=horizon)


def test_sensitivity_is_the_distance_to_a_difference_if_nothing_moves():
    """On 9x9, Good and Evil beside each other in the middle: at most 3 steps from anywhere."""
    assert one(still(40, 41, 9, 10)).sensitivity.tolist() == [3]
    assert one(still(40, 41, 9, 3)).sensitivity.tolist() == [3]
    assert one(still(40, 41, 9, 2)).sensitivity.tolist() == [0]
    assert one(still(0, 1, 3, 1)).sensitivity.tolist() == [1]


@pytest.mark.parametrize(
    ("longest", "n"),
    [([1, 1, 1], 1), ([2, 2, 9], 2), ([2, 9, 9], 3), ([1, 2, 9], 2), ([9, 1, 1], 0), ([9], 0)],
)
def test_waits_past_the_end_of_the_episode_do_not_count(longest, n):
    """With n = 3 only the first step has n left, so [2, 9, 9] is 3: no smaller n is enough."""
    assert least_sensitivity(np.array([longest])).tolist() == [n]


def by_definition(s: State) -> int:
    """Definition 7 to the letter: every sum of rewards that m more actions can bring."""
    batch, cells = batch_of([s]), range(s.height * s.width)
    maps = []
    for _ in range(s.horizon):
        people = batch.rewards.shape
        batch.step(np.full(people, STAY, np.int8), np.zeros(people, np.int8))
        good, evil = batch.arrays.objects[0].tolist()
        maps.append([reward_at_cell(c, good, evil, s.height, s.width) for c in cells])

    def list_neighbours(cell: int) -> set[int]:
        row, column = divmod(cell, s.width)
        rows = [(row + y) % s.height for y in (-1, 0, 1)]
        return {y * s.width + (column + x) % s.width for y in rows for x in (-1, 0, 1)}

    @functools.cache
    def sums(cell: int, t: int, m: int) -> frozenset[int]:
        if m == 0:
            return frozenset({0})
        return frozenset(
            maps[t][to] + more for to in list_neighbours(cell) for more in sums(to, t + 1, m - 1)
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
def test_sensitivity_equals_its_definition(s, horizon):
    s = replace(s, step=0, horizon=horizon)
    assert one(s).sensitivity.tolist() == [by_definition(s)]


def test_shift_and_same_moves_distinguish_shared_paths_from_shared_moves():
    alike = state(step=0, horizon=9, good_cursor=0, evil_cursor=0, evil_pattern=(0, 5, 8))
    assert one(alike).same_moves.tolist() == [True] and one(alike).shift.tolist() != [0]
    longer = replace(alike, evil_pattern=(0, 5, 8, 0, 5, 8))
    assert one(longer).same_moves.tolist() == [True]
    assert one(replace(longer, evil_cursor=1)).same_moves.tolist() == [False]
    cells = replace(alike, kind="cells", good_pattern=(7, 2), evil_pattern=(7, 2))
    assert one(cells).shift.tolist() == [0] and one(cells).same_moves.tolist() == [False]
    assert one(replace(cells, evil_pattern=(10, 5))).shift.tolist() == [3]
    assert one(replace(cells, evil_pattern=(10, 6))).shift.tolist() == [-1]


BROKEN = state(step=0, horizon=20, height=5, width=5, good_cursor=0, evil_cursor=0, cells=(0, 9, 3))


SHIFTED = "Evil's path is Good's shifted"
SAME = replace(BROKEN, kind="cells", good_pattern=(7, 2), evil_pattern=(7, 2))


@pytest.mark.parametrize(
    ("broken", "found", "absent"),
    [
        (replace(BROKEN, good_pattern=(4,), evil_pattern=(0, 5, 8, 7, 1)), {"equal K"}, set()),
        (replace(BROKEN, good_pattern=(4,), evil_pattern=(4,)), {"K in range"}, {"equal K"}),
        (SAME, {"different paths", SHIFTED}, set()),
        (replace(SAME, evil_pattern=(16, 11)), set(), {"different paths", SHIFTED}),
    ],
)
def test_environments_without_a_property_are_found(monkeypatch, broken, found, absent):
    made = environments_from_states([encode(broken)] * 3)
    made = made._replace(settings=made.settings._replace(complexity=None))
    monkeypatch.setattr(environment_checks, "generate_environments", lambda *asked, **span: made)
    if "K in range" in found:
        monkeypatch.setattr(patterns, "complexity_range", lambda s: (9, 12))
    findings = check_environments(made.settings, episodes=3, seed=0)
    failed = {f.property for f in findings.findings if not f.holds}
    assert found <= failed and not absent & failed and findings.holds == (not failed)


def test_rewards_out_of_reach_are_found():
    found = check_environments(Settings(20, 20, 1, 3), episodes=10, seed=0)
    assert [f.property for f in found.findings if not f.holds] == ["reward-sensitive"]
    assert found.sensitivity is None and not found.holds


def test_doctored_rewards_are_found(monkeypatch):
    def sums(agent, environments, *, seed):
        return np.arange(len(environments.index))[:, None] % 3 + 1

    small = Settings(5, 5, 1, 10)
    made = measure_properties(generate_environments(small, seed=0, start=0, stop=20))
    with monkeypatch.context() as patch:
        patch.setattr(environment_checks, "total_rewards", sums)
        found = check_environments(small, episodes=300, seed=0)
        assert [f.property for f in found.findings if not f.holds] == ["random agent at 0"]
    doctored = made._replace(symmetric=np.arange(20) != 7)
    monkeypatch.setattr(environment_checks, "measure_properties", lambda environments: doctored)
    failed = [f for f in check_environments(small, episodes=20, seed=0).findings if not f.holds]
    assert [(f.property, f.found) for f in failed] == [
        ("symmetric rewards", "19 of 20 environments")
    ]


def test_findings_do_not_depend_on_how_many_are_examined_at_once(monkeypatch):
    whole = check_environments(Settings(5, 5, 2, 20), episodes=100, seed=3)
    monkeypatch.setattr(environment_checks, "EPISODES_PER_JOB", 33)
    assert check_environments(Settings(5, 5, 2, 20), episodes=100, seed=3) == whole
    monkeypatch.setattr(environment_checks, "_MAX_CELLS", 70)
    assert check_environments(Settings(5, 5, 2, 20), episodes=100, seed=3) == whole
    assert check_environments(Settings(5, 5, 2, 20), episodes=100, seed=4) != whole


def test_check_command_explains_its_symbols_and_fails_if_a_property_does(capsys):
    small = ["lambda-star", "check", "--size", "5x4", "--steps", "12", "--episodes", "40"]
    assert main(small) == 0
    text = capsys.readouterr().out
    assert "40 of 40 environments" in text and "FAILS" not in text and "8.570 bits" in text
    for word in ("K", "same moves", "z", "n", "H(mu)"):
        assert sum(line.startswith(f"{word}: ") for line in text.splitlines()) == 1, word
    assert main([*small, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["holds"] and value["uncertainty"] == pytest.approx(np.log2(20 * 19))
    assert value["settings"]["complexity"] == value["complexity"] == [2, 12]
    assert {"mean", "standard_error"} == set(value["random"])
    program = ["--patterns", "lambdastar-2016", "--size", "5x5", "--episodes", "9"]
    assert main(["lambda-star", "check", *program]) == 0
    assert "same moves" not in capsys.readouterr().out
    assert main(["lambda-star", "check", "--size", "20x20", "--steps", "3"]) == 1
    assert "FAILS" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--size 5x5 --size 6x6", "--size is given twice"),
        ("--team 5 --team 5", "--team is given twice"),
        ("--steps 5 --steps 6", "--steps is given twice"),
        ("--episodes 1", "expected 2 environments or more, found 1"),
        ("--team 0", "expected a team of 1 to 100 on a 10x10 grid, found 0"),
        ("--complexity few", "expected --complexity like 2-23, found 'few'"),
        ("--complexity 2-5 --patterns lambdastar-2016", "do not support a complexity range"),
    ],
)
def test_invalid_flags_print_one_line(flags, said, capsys):
    assert main(["lambda-star", "check", *flags.split()]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1
