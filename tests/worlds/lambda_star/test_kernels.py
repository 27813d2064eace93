"""The world's rules, against plain Python over every placement on small grids."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sts_lambda_star import kernels, torus
from sts_lambda_star.domain import Batch
from sts_lambda_star.features import feature_slices, flatten_observation
from sts_lambda_star.state import TOKENS, State
from tests.worlds.lambda_star.agents.teams import start
from tests.worlds.lambda_star.examples import batch_of, state, states

GRIDS = ((3, 3), (3, 5), (4, 4), (5, 4), (6, 7))
STAY = 4


def plain_distance(a: int, b: int, height: int, width: int) -> int:
    """The fewest king's moves on the torus, by looking at every image of `b`."""
    row, column = divmod(a, width)
    other_row, other_column = divmod(b, width)
    return min(
        max(abs(row - other_row - i * height), abs(column - other_column - j * width))
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
    )


def plain_reward(cell: int, good: int, evil: int, height: int, width: int) -> float:
    """Chmait et al. 2016, section 4.1.2, in whole rewards."""
    total = 0.0
    for sign, other in ((1, good), (-1, evil)):
        d = plain_distance(cell, other, height, width)
        total += sign / (d + 1) if d < 2 else 0
    return total


def plain_paid(s: State, me: int, cell: int, good: int, evil: int, cells: list[int]) -> float:
    """The reward of player `me` on a cell, the others on `cells`, if `s.needs` must be near."""
    size = s.height, s.width
    where = [cell if p == me else c for p, c in enumerate(cells)]
    total = 0.0
    for sign, other in ((1, good), (-1, evil)):
        if sum(plain_distance(c, other, *size) < 2 for c in where) >= s.needs:
            d = plain_distance(cell, other, *size)
            total += sign / (d + 1) if d < 2 else 0
    return total


def plain_move(cell: Any, move: Any, height: int, width: int) -> Any:
    """One cell and move, or an array of each."""
    row, column = divmod(cell, width)
    return (row + move // 3 - 1) % height * width + (column + move % 3 - 1) % width


@pytest.mark.parametrize(("height", "width"), GRIDS)
def test_distances_are_toroidal_chebyshev(height, width):
    for a, b in itertools.product(range(height * width), repeat=2):
        found = torus.distance(a, b, height, width)
        assert found == plain_distance(a, b, height, width) == torus.distance(b, a, height, width)
    assert torus.distance(0 * 5 + 2, 4 * 5 + 2, 5, 5) == 1, "the paper's example"


@pytest.mark.parametrize(("height", "width"), GRIDS)
def test_moves_wrap_round_every_border(height, width):
    for cell, move in itertools.product(range(height * width), range(9)):
        assert torus.move_cell(cell, move, height, width) == plain_move(cell, move, height, width)


@pytest.mark.parametrize("width", [3, 100, 254, 255])
def test_players_on_every_cell_of_the_largest_grids_step_exactly(width):
    cells, moves = np.arange(255 * width), np.arange(255 * width) % 9
    world = batch_of([start(255, width, good=0, evil=255 * width - 1, cells=(0,))])
    batch = world.select(np.zeros(cells.size, np.intp))
    batch.arrays.cells[:, 0] = cells
    batch.step(moves.astype(np.int8)[:, None], np.zeros((cells.size, 1), np.int8))
    moved = plain_move(cells, moves, 255, width)
    away = [torus.distance(moved, other, 255, width) for other in (0, 255 * width - 1)]
    good, evil = (np.maximum(0, 2 - d) for d in away)
    assert (batch.arrays.cells[:, 0] == moved).all()
    assert (batch.arrays.rewards[:, 0] == good - evil).all()


@pytest.mark.parametrize(("height", "width"), GRIDS)
def test_rewards_are_the_papers_for_every_placement(height, width):
    cells = range(height * width)
    for good, evil in itertools.product(cells, repeat=2):
        found = [kernels.reward_at_cell(cell, good, evil, height, width) / 2 for cell in cells]
        assert found == [plain_reward(cell, good, evil, height, width) for cell in cells]


def worlds(good: int, evil: int, good_move: int, evil_move: int, count: int = 1) -> Batch:
    """Return 5x5 worlds that differ in their stream alone."""
    patterns = {"good_pattern": (good_move,) * 2, "evil_pattern": (evil_move,) * 3}
    begun = start(5, 5, good=good, evil=evil, cells=(0, 19, 3), **patterns)
    return batch_of([replace(begun, seed=seed) for seed in range(count)])


def stepped(batch: Batch) -> Batch:
    shape = batch.arrays.cells.shape
    batch.step(np.full(shape, STAY, np.int8), np.zeros(shape, np.int8))
    return batch


RIGHT, LEFT = 5, 3


def test_every_pair_of_moves_from_every_placement_follows_the_clash_rule():
    for evil, good_move, evil_move in itertools.product(range(25), range(9), range(9)):
        good = 12
        if evil == good:
            continue
        batch = stepped(worlds(good, evil, good_move, evil_move))
        good_to = plain_move(good, good_move, 5, 5)
        evil_to = plain_move(evil, evil_move, 5, 5)
        now = tuple(batch.arrays.objects[0].tolist())
        drawn = int(batch.arrays.counter[0])
        if good_to != evil_to:
            assert (now, drawn) == ((good_to, evil_to), 0)
        elif good == good_to or evil == evil_to:
            assert (now, drawn) == ((good, evil), 0)
        else:
            assert now in ((good_to, evil), (good, evil_to)) and drawn == 1
        assert now[0] != now[1]
        assert batch.arrays.cursor[0].tolist() == [1, 1]


def test_disputed_cell_is_drawn_evenly_and_again_in_each_dispute():
    count = 4000
    batch = worlds(11, 13, RIGHT, LEFT, count=count)
    first = stepped(batch).arrays.objects.copy()
    good_moved = int((first[:, 0] == 12).sum())
    assert 2 * (good_moved - count / 2) ** 2 / (count / 2) < 10.83, good_moved
    batch.arrays.objects[:] = (11, 13)
    second = stepped(batch).arrays.objects
    assert (batch.arrays.counter == 2).all()
    assert (first != second).any() and (first == second).all(1).any()


def test_cursors_go_round_their_patterns():
    batch = worlds(0, 12, STAY, STAY)
    seen = [stepped(batch).arrays.cursor[0].tolist() for _ in range(7)]
    assert seen == [[1, 1], [0, 2], [1, 0], [0, 1], [1, 2], [0, 0], [1, 1]]


def test_cell_patterns_lead_anywhere():
    cells = {"good_pattern": (19, 0), "evil_pattern": (7,), "good_cursor": 0, "evil_cursor": 0}
    batch = batch_of([state(kind="cells", **cells)])
    assert [stepped(batch).arrays.objects[0].tolist() for _ in range(2)] == [[19, 7], [0, 7]]


@given(states(), st.data())
@settings(max_examples=60, deadline=None)
def test_step_moves_participants_then_objects_and_rewards_the_new_map(s, data):
    people = len(s.cells)
    actions = data.draw(st.lists(st.integers(0, 8), min_size=people, max_size=people))
    utterances = data.draw(st.lists(st.integers(0, 21), min_size=people, max_size=people))
    batch = batch_of([s])
    batch.step(np.array([actions], np.int8), np.array([utterances], np.int8))
    a, size = batch.arrays, (s.height, s.width)
    good, evil = a.objects[0].tolist()
    expected = [plain_move(c, m, *size) for c, m in zip(s.cells, actions, strict=True)]
    assert a.cells[0].tolist() == expected
    assert a.actions[0].tolist() == actions and a.utterances[0].tolist() == utterances
    found = (batch.rewards[0] / 2).tolist()
    assert found == [plain_paid(s, p, c, good, evil, expected) for p, c in enumerate(expected)]
    assert a.step[0] == s.step + 1


def plain_sight(s: State, me: int, team: set[int]) -> dict[str, list[int]]:
    """What player `me` sees, cell by cell."""
    k, size = s.radius, (s.height, s.width)
    row, column = divmod(s.cells[me], s.width)
    out: dict[str, list[int]] = {n: [] for n in ("good", "evil", "team", "others", "reward")}
    for y, x in itertools.product(range(-k, k + 1), repeat=2):
        cell = (row + y) % s.height * s.width + (column + x) % s.width
        there = [p for p, c in enumerate(s.cells) if c == cell and p != me]
        out["good"].append(cell == s.good)
        out["evil"].append(cell == s.evil)
        out["team"].append(sum(p in team for p in there))
        out["others"].append(sum(p not in team for p in there))
        paid = plain_paid(s, me, cell, s.good, s.evil, list(s.cells))
        out["reward"].append(int(2 * paid))
    out["heard"] = [0] * len(TOKENS)
    for p, c in enumerate(s.cells):
        if p != me and s.utterances[p] and plain_distance(c, s.cells[me], *size) <= k:
            out["heard"][s.utterances[p]] += 1
    return out


@given(states(), st.data())
@settings(max_examples=settings().max_examples, deadline=None)
def test_observations_hold_the_neighbourhood(s, data):
    people = range(len(s.cells))
    players = data.draw(st.lists(st.sampled_from(people), min_size=1, unique=True))
    team = data.draw(st.sets(st.sampled_from(people)))
    seen = batch_of([s]).observe(players, team=sorted(team), world=False)
    for i, me in enumerate(players):
        for name, expected in plain_sight(s, me, team).items():
            assert getattr(seen, name)[0, i].tolist() == expected, name
        assert seen.cell[0, i] == s.cells[me]
        assert seen.last_move[0, i] == s.actions[me]
        assert seen.last_said[0, i] == s.utterances[me]
        assert seen.last_reward[0, i] == s.rewards[me]
    assert (seen.height[0], seen.width[0], seen.step[0]) == (s.height, s.width, s.step)
    assert seen.good_next is None and seen.evil_next is None


@given(states())
@settings(max_examples=60, deadline=None)
def test_world_view_adds_the_cells_intended_next_and_changes_nothing(s):
    batch = batch_of([s])
    before = batch.states()
    seen = batch.observe([0], team=[0], world=True)
    assert batch.states() == before
    for cell, pattern, cursor, found in (
        (s.good, s.good_pattern, s.good_cursor, seen.good_next),
        (s.evil, s.evil_pattern, s.evil_cursor, seen.evil_next),
    ):
        entry = pattern[cursor]
        expected = entry if s.kind == "cells" else plain_move(cell, entry, s.height, s.width)
        assert found is not None and found.tolist() == [expected]


def test_crowd_in_one_cell_is_counted_in_full():
    people = 1000
    crowd = state(
        cells=(7,) * people, actions=(-1,) * people, utterances=(1,) * people, rewards=(0,) * people
    )
    worlds = batch_of([crowd])
    seen = worlds.observe((0,), team=range(500), world=False)
    assert seen.team[0, 0].tolist() == [0, 0, 0, 0, 499, 0, 0, 0, 0]
    assert seen.others[0, 0, STAY] == 500 and seen.heard[0, 0, 1] == 999
    others = flatten_observation(seen, 50)[0, 0, feature_slices()["others"]]
    assert others.tolist() == [0, 0, 0, 0, 999, 0, 0, 0, 0]
