"""The playground: the paper's example and policy, balance, collisions, and what is seen."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from sts_analysis.measures.symbols.playground import (
    LONGEST,
    MOVES,
    SIDE,
    Playground,
    PlaygroundClass,
)

LEFT, RIGHT, UP, DOWN, STAY = range(5)
CELLS = list(product(range(SIDE), repeat=2))


def make(
    players: list[tuple[int, ...]],
    good: tuple[int, ...],
    evil: tuple[int, ...],
    paths: tuple[tuple[int, ...], tuple[int, ...]] = ((STAY,), (STAY,)),
) -> Playground:
    padded = [(*path, *[0] * (LONGEST - len(path))) for path in paths]
    values: dict[str, Any] = {
        "cells": [(player, good, evil) for player in players],
        "paths": [padded for _ in players],
        "lengths": [[len(path) for path in paths] for _ in players],
        "stream": range(len(players)),
    }
    return Playground(values)


def move(worlds: Playground, actions: Any) -> None:
    given = np.broadcast_to(actions, len(worlds.values["step"])).astype(np.int8)[:, None]
    worlds.step(given, np.zeros_like(given))


def test_example_of_the_paper_has_the_reward_of_its_formula() -> None:
    """The paper prints .83 = 1 - 1/6; the distance between (4, 3) and (6, 7) is 4.472."""
    worlds = make([(4, 3)], good=(4, 3), evil=(6, 7))
    move(worlds, STAY)
    assert worlds.rewards[0, 0] == pytest.approx(1 - 1 / (1 + 20**0.5))
    assert worlds.rewards[0, 0] == pytest.approx(0.8173, abs=5e-5)


def test_policy_of_the_paper_is_always_on_good_and_gets_less_than_1() -> None:
    """At random until the reward is more than .5, then left; Good goes left, and Evil right."""
    gains = []
    for row in range(1, SIDE):
        worlds = make(CELLS, good=(2, 0), evil=(7, row), paths=((LEFT,), (RIGHT,)))
        generator = np.random.default_rng(row)
        found = np.zeros(len(CELLS), np.bool_)
        for _ in range(1500):
            found |= worlds.rewards[:, 0] > 0.5
            move(worlds, np.where(found, LEFT, generator.integers(0, 5, len(CELLS))))
        assert found.all()
        cycle = []
        for _ in range(SIDE):
            move(worlds, LEFT)
            cycle.append(worlds.rewards[:, 0])
        np.testing.assert_array_equal(worlds.values["cells"][:, 0], worlds.values["cells"][:, 1])
        gains.append(np.mean(cycle, axis=0))
    assert np.ptp(gains, axis=1).max() < 1e-12  # for all starts of the player
    assert np.mean(gains) == pytest.approx(0.762, abs=5e-4)
    assert (round(np.min(gains), 2), round(np.max(gains), 2)) == (0.69, 0.82)


def test_mean_reward_of_a_random_player_is_exactly_0() -> None:
    """It is in every cell with the same probability, wherever Good and Evil are."""
    for evil in CELLS[1:]:
        worlds = make(CELLS, good=(0, 0), evil=evil)
        move(worlds, STAY)
        assert worlds.rewards.sum() == pytest.approx(0, abs=1e-12)
        assert np.ptp(worlds.rewards) > 0.5


def test_player_enters_on_the_other_side_and_sees_the_limit() -> None:
    worlds = make([(0, 4)], good=(8, 4), evil=(0, 5))
    good, evil, limit = worlds.see()[0].T
    assert good.tolist() == [True, False, False, False]
    assert evil.tolist() == [False, False, True, False]
    assert limit.tolist() == [True, False, False, False]
    move(worlds, LEFT)
    assert worlds.values["cells"][0, 0].tolist() == [8, 4]
    assert worlds.see()[0, :, 2].tolist() == [False, True, False, False]


def test_symbol_is_another_for_all_that_can_be_seen() -> None:
    found: dict[int, bytes] = {}
    for good, evil in product(CELLS, repeat=2):
        if good != evil:
            worlds = make([(0, 0), (4, 8), (8, 3), (5, 5)], good, evil)
            symbols = worlds.observe((0,), team=(0,), world=False).symbol[:, 0]
            for symbol, seen in zip(symbols.tolist(), worlds.see(), strict=True):
                assert found.setdefault(symbol, seen.tobytes()) == seen.tobytes()
    assert len({*found.values()}) == len(found) and max(found) < Playground.n_symbols


def test_good_and_evil_are_never_in_one_cell_and_either_can_give_way() -> None:
    """They meet in the middle cell; which one keeps its own depends on the state alone."""
    worlds = make([(0, 0)] * 400, good=(3, 4), evil=(5, 4), paths=((RIGHT,), (LEFT,)))
    again = Playground.restore(worlds.states())
    move(worlds, STAY)
    move(again, STAY)
    assert worlds.states() == again.states()
    gives_way = (worlds.values["cells"][:, 1] == (3, 4)).all(1)
    assert (worlds.values["cells"][gives_way, 2] == (4, 4)).all()
    assert (worlds.values["cells"][~gives_way, 1] == (4, 4)).all()
    assert 150 < gives_way.sum() < 250


@pytest.mark.parametrize("paths", [((STAY,), (LEFT,)), ((RIGHT,), (STAY,))])
def test_object_that_stays_keeps_its_cell(paths: Any) -> None:
    worlds = make([(0, 0)] * 20, good=(3, 4), evil=(4, 4), paths=paths)
    for _ in range(3):
        move(worlds, STAY)
    assert (worlds.values["cells"][:, 1:] == [(3, 4), (4, 4)]).all()


def test_chosen_environments_are_new_and_as_complex_as_asked() -> None:
    classes = PlaygroundClass()
    used: set[bytes] = set()
    assert classes.highest is not None
    for low in (6.0, 15.0, 51.0, classes.highest - 1):
        for run in range(20):
            key = (0, run)
            one = classes.choose(low, low + 1, n_players=1, key=key, used=used)
            assert one is not None and low <= one.complexity <= low + 1 + 1e-9
            assert classes.choose(low, low + 1, n_players=1, key=key, used=used) == one
            assert one.state not in used
            used.add(one.state)
            other = classes.choose(low, low + 1, n_players=1, key=key, used=used)
            assert other is not None and other.state not in used
    worlds = Playground.restore(sorted(used))
    lengths, paths = worlds.values["lengths"], worlds.values["paths"]
    assert lengths.max() == LONGEST and lengths.min() == 1
    for own, size in zip(paths.reshape(-1, LONGEST), lengths.ravel(), strict=True):
        path = own[:size].tolist()
        assert all(path != path[:n] * (size // n) for n in range(1, size) if size % n == 0)
    for _ in range(300):
        assert (worlds.values["cells"][:, 1] != worlds.values["cells"][:, 2]).any(1).all()
        move(worlds, MOVES.index("up"))


def test_simplest_environment_has_two_moves_of_33_bits_each() -> None:
    """One bit for the length 1, and log2(5) for the move."""
    one = PlaygroundClass().choose(6, 7, n_players=1, key=(0,), used=set())
    assert one is not None and one.complexity == pytest.approx(2 * (1 + np.log2(5)))
