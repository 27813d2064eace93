"""The class of automata: what is enumerated, its codes, and its best values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sts import agents
from sts.engine import lockstep
from sts.engine.session import Team
from sts.numerics.streams import streams
from sts_analysis.measures.classes import load_class
from sts_analysis.measures.symbols.automata import Automata, AutomataClass, enumerate_automata

EVERY = enumerate_automata()
SIZE, MOVES, REWARD = (EVERY.values[name] for name in ("size", "moves", "reward"))


def test_class_has_the_environments_of_the_specification() -> None:
    assert np.bincount(SIZE).tolist() == [0, 0, 16, 1800]
    states = load_class("automata").list_environments()  # type: ignore[attr-defined]
    assert len(set(states)) == 1816 and states == AutomataClass().list_environments()


def test_random_walk_has_a_mean_reward_of_0() -> None:
    """By exact arithmetic, unlike that with which the class was enumerated."""
    for size, moves, reward in zip(SIZE, MOVES, REWARD, strict=True):
        share = solve_stationary(moves[:size].tolist())
        assert sum(p * int(r) for p, r in zip(share, reward, strict=False)) == 0


def solve_stationary(moves: list[list[int]]) -> list[Fraction]:
    """Return the stationary distribution of the random walk, by elimination."""
    size = len(moves)
    rows = [[Fraction(0)] * (size + 1) for _ in range(size)]
    for state, own in enumerate(moves):
        for target in own:
            rows[target][state] += Fraction(1, len(own))
    for state in range(size):
        rows[state][state] -= 1
    rows[-1] = [Fraction(1)] * (size + 1)
    for i in range(size):
        pivot = next(row for row in range(i, size) if rows[row][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(size):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


def test_rewards_depend_on_the_actions_from_every_state() -> None:
    worst = Automata(EVERY.values | {"reward": -REWARD})
    unused = np.arange(3) >= SIZE[:, None]
    differ = [EVERY.sum_best_rewards(n) != -worst.sum_best_rewards(n) for n in range(1, 9)]
    assert (np.any(differ, axis=0) | unused).all()


def test_codes_have_the_lengths_that_are_counted_by_hand() -> None:
    """Two states: 3 bits for their number, 4 for rewards, 1 for a symbol, and the moves."""
    lengths = AutomataClass().code_lengths
    two = SIZE == 2
    assert (lengths["table"][two] == 3 + 4 + 1 + 4).all()
    assert (lengths["table"][~two] == 3 + 6 + 2 + 12).all()
    row = int(np.flatnonzero((MOVES == [[1, 2], [2, 0], [0, 1]]).all((1, 2)))[0])
    assert lengths["successor"][row] == 3 + 6 + 2 + (1 + 3) + (1 + 3) + (1 + 3)
    assert lengths["return"][row] == 3 + 6 + 2 + (3 + 3) + (3 + 1) + (1 + 3)


@pytest.mark.parametrize("machine", ["table", "successor", "return"])
def test_codes_are_whole_bits_and_can_be_decoded(machine: str) -> None:
    lengths = AutomataClass().code_lengths[machine]
    assert (lengths == np.rint(lengths)).all()
    assert (2.0**-lengths).sum() <= 1  # Kraft


def play(name: str, steps: int) -> Any:
    classes, states = load_class("automata"), AutomataClass().list_environments()
    own = streams(("test", name), [(e,) for e in range(len(states))])
    team = Team(agents.load(name), (0,), own)
    domain = classes.domain
    return lockstep.play_episodes(domain, domain.restore(states), [team], steps=steps)


AGENTS = ("random", "symbols-constant-0", "symbols-constant-1", "symbols-win-stay")


@pytest.mark.parametrize("name", [*AGENTS, "symbols-q-table"])
def test_no_agent_gets_more_than_the_best_value_of_any_environment(name: str) -> None:
    mean = play(name, 40).rewards[:, :, 0].mean(1)
    best = AutomataClass().best_values(40)
    assert (mean <= best + 1e-12).all() and (mean < best - 0.1).any()


def test_best_value_is_reached_by_some_sequence_of_actions() -> None:
    classes = AutomataClass()
    states, steps = classes.list_environments(), 4
    sums = []
    for code in range(2**steps):
        worlds = classes.domain.restore(states)
        total = np.zeros(len(states))
        for step in range(steps):
            actions = np.full((len(states), 1), code >> step & 1, np.int8)
            worlds.step(actions, np.zeros_like(actions))
            total += worlds.rewards[:, 0]
        sums.append(total)
    np.testing.assert_allclose(np.max(sums, axis=0) / steps, classes.best_values(steps))
