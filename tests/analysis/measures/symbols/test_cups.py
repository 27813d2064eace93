"""Cups: balance, which needs an even number of them, and sensitivity."""

from __future__ import annotations

from collections import deque
from itertools import product

import numpy as np
import pytest

from sts_analysis.measures.symbols.cups import COUNTS, MOST, Cups, CupsClass


def make_cups(count: int, colours: list[tuple[int, ...]], step: int = 0) -> Cups:
    black = [(*own, *[0] * (MOST - count)) for own in colours]
    return Cups({"black": black, "count": [count] * len(black), "step": [step] * len(black)})


def press(cups: Cups, button: int) -> Cups:
    actions = np.full((len(cups.values["count"]), 1), button, np.int8)
    cups.step(actions, np.zeros_like(actions))
    return cups


def find_reachable(start: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """Return the colours that some actions lead to, after any number of rounds, with the reward."""
    count, found, left = len(start), {}, deque([(start, 0)])
    seen = {(start, 0)}
    while left:
        colours, phase = left.popleft()
        for button in range(count):
            cups = press(make_cups(count, [colours], phase), button)
            new = tuple(cups.values["black"][0, :count].tolist())
            found[new] = float(cups.rewards[0, 0])
            if (key := (new, (phase + 1) % count)) not in seen:
                seen.add(key)
                left.append(key)
    return found


@pytest.mark.parametrize(("count", "balanced"), [(4, True), (5, False), (6, True)])
def test_random_player_has_a_mean_reward_of_0_only_if_the_number_is_even(
    count: int, balanced: bool
) -> None:
    """Each step is a permutation of what can be reached, so all of it has the same probability."""
    start = (1, *[0] * (count - 1))
    found = find_reachable(start)
    assert {sum(colours) % 2 for colours in found} == {1}
    assert len(found) == 2 ** (count - 1)
    assert (sum(found.values()) == 0) is balanced


@pytest.mark.parametrize("count", COUNTS)
def test_any_actions_have_a_mean_reward_of_0_over_the_initial_colours(count: int) -> None:
    cups = make_cups(count, list(product((0, 1), repeat=count)))
    for button in (0, 3, 3, 7, 1, 0, 5, 2, 6):
        assert press(cups, button).rewards.sum() == 0
    assert cups.rewards.any()


def test_two_unlike_cups_would_never_bring_a_reward() -> None:
    assert {*find_reachable((1, 0)).values()} == {0}


def test_rewards_depend_on_the_actions_from_every_start() -> None:
    classes = CupsClass()
    states = classes.list_environments()
    assert len(set(states)) == 16 + 64 + 256
    sums = []
    for buttons in np.random.default_rng(0).integers(0, MOST, (40, 8)):
        cups = Cups.restore(states)
        sums.append(np.sum([press(cups, button).rewards for button in buttons], axis=0))
    assert (np.max(sums, axis=0) > np.min(sums, axis=0)).all()


def test_symbol_shows_all_cups_and_their_number() -> None:
    symbols = (
        CupsClass()
        .domain.restore(CupsClass().list_environments())
        .observe((0,), team=(0,), world=False)
    )
    assert len(np.unique(symbols.symbol)) == len(symbols.symbol)
    assert symbols.symbol.max() < symbols.n_symbols
