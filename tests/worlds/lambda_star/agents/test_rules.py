"""The rules of the reactive behaviours, each against cases worked by hand.

A grid of rewards in halves stands for the world, so that a case shows all that a rule can see.
"""

from __future__ import annotations

import numpy as np
import pytest

from sts import agents
from sts.errors import ArgumentError
from sts_lambda_star import kernels, torus
from sts_lambda_star.agents import (
    bidding,
    binary_tree,
    dictatorship,
    imitation,
    stigmergy,
    wisdom_of_the_crowd,
)
from sts_lambda_star.state import MOVES
from tests.agents.test_contract import assert_same, cases, play_cases, rows
from tests.worlds.lambda_star.agents.teams import (
    acted,
    decided,
    game,
    grid,
    start,
    to,
    view_rewards,
)
from tests.worlds.lambda_star.examples import batch_of

ANY = set(MOVES)
LAST = 1 - 2.0**-53
NOTHING = grid(9, 9, {})
REACTIVE = (
    *("random", "local-search", "oracle", "imitation", "stigmergy", "wisdom-of-the-crowd"),
    *("bidding", "dictatorship", "binary-tree"),
)
QUIRKS = [stigmergy.Stigmergy(marks="lasting"), imitation.Imitation(guide="each-role")]

quirks = pytest.mark.parametrize("agent", QUIRKS, ids=lambda agent: agent.name)


def algorithm_2(reward: np.ndarray, cells: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return bool[R, 9], the best marked moves, by NumPy for the whole team at once."""
    long = torus.side_length(reward.shape[-1])
    mark = 0.5 * reward.max(-1) + 0.5 * reward.min(-1)
    within = torus.move_cell(cells[:, None], np.arange(9), height, width)
    side = np.arange(long // 2 - 1, long // 2 + 2)
    near = (side[:, None] * long + side).ravel()
    fake = np.zeros(within.shape)
    for player, cell in enumerate(cells):
        seen = torus.distance(within, cell, height, width) <= long // 2
        fake = np.where(seen, mark[player], fake)
    values = reward[:, near] + fake
    best: np.ndarray = values == values.max(-1, keepdims=True)
    return best


@pytest.mark.parametrize(("height", "width", "radius"), [(3, 4, 1), (6, 5, 1), (9, 9, 2)])
def test_stigmergy_marks_as_algorithm_2_does(height, width, radius):
    rng = np.random.default_rng(8)
    for _ in range(60):
        good, evil = rng.choice(height * width, 2, replace=False)
        cells = rng.integers(0, height * width, 4)
        values = [
            kernels.reward_at_cell(c, good, evil, height, width) for c in range(height * width)
        ]
        rewards = np.array(values).reshape(height, width)
        found = decided(stigmergy.mark_for_a_step, rewards, cells, radius=radius)
        seen = view_rewards(rewards, cells, radius)
        expected = algorithm_2(seen, cells, height, width)
        assert found == [{MOVES[m] for m in np.flatnonzero(row)} for row in expected]


def test_one_step_mark_is_not_read_at_another_step():
    agent = stigmergy.Stigmergy()
    assert agent.begin(np.array([[0, 6]]), np.array([5]), np.array([5])) == {}


def test_lasting_mark_averages_the_old_mark_the_reward_and_the_fake_reward():
    # Rewards 1 and -0.5 are in sight of cell 7: r* = 0.4 (1 - 0.5) = 0.2.
    rewards, marks = grid(5, 6, {(1, 1): 2, (1, 2): -1}), np.zeros(30)
    assert decided(stigmergy.choose_lasting, rewards, [7], marks[None]) == [{"stay"}]
    expected = np.zeros(30)
    expected[[0, 1, 2, 6, 7, 8, 12, 13, 14]] = 0.2 / 3
    expected[7], expected[8] = 1.2 / 3, -0.3 / 3
    np.testing.assert_allclose(marks, expected, atol=1e-15)
    decided(stigmergy.choose_lasting, rewards, [7], marks[None])
    assert marks[7] == pytest.approx((0.4 + 1 + 0.2) / 3)
    assert marks[0] == pytest.approx((0.2 / 3 + 0.2) / 3)


@pytest.mark.parametrize("rewards", [{}, {(1, 1): 1, (1, 2): -1}])
def test_lasting_marks_stay_where_the_best_and_worst_in_sight_cancel(rewards):
    marks = np.arange(30.0)
    left = decided(stigmergy.choose_lasting, grid(5, 6, rewards), [7], marks[None])
    # Of the cells in reach of cell 7, number 14 down to the right is marked highest.
    assert left == [{"down-right"}]
    np.testing.assert_array_equal(marks, np.arange(30.0))


def test_lasting_marks_are_remembered_and_made_by_each_role_in_turn():
    worlds = batch_of([start(6, 6, good=14, evil=35, cells=(14, 14))])
    _, memory = acted(QUIRKS[0], worlds, (0, 1))
    # r* = 0.4 (1 + 0.5) = 0.6, so twice F = (F + 1 + 0.6) / 3 from 0.
    assert memory["marks"][0, 14] == pytest.approx((1.6 / 3 + 1.6) / 3)
    _, memory = acted(QUIRKS[0], worlds, (0,), memory)
    assert memory["marks"][0, 14] == pytest.approx(((1.6 / 3 + 1.6) / 3 + 1.6) / 3)


def test_crowd_halves_old_values_at_each_reward_and_keeps_them_without_one():
    values = np.zeros(25)
    rewards = grid(5, 5, {(1, 1): 2, (1, 2): -1})
    for expected in ([1, -0.5], [1.5, -0.75], [1.75, -0.875]):
        decided(wisdom_of_the_crowd.choose_moves, rewards, [12], values[None])
        assert values[[6, 7]].tolist() == expected
    decided(wisdom_of_the_crowd.choose_moves, grid(5, 5, {}), [6], values[None])
    assert values[[6, 7]].tolist() == [1.75, -0.875]


def test_crowd_learns_from_each_role_in_turn_and_heads_for_the_best_cell():
    values = np.zeros(25)
    decided(wisdom_of_the_crowd.choose_moves, grid(5, 5, {(1, 1): 2}), [6, 12], values[None])
    assert values[6] == 1.5
    values = np.zeros(56)
    values[50], values[3] = 0.5, 0.25
    cells, nothing = [0, 27, 50, 11], grid(7, 8, {})
    left = decided(wisdom_of_the_crowd.choose_moves, nothing, cells, values[None])
    assert left == [to(cell, 50, nothing) for cell in cells]
    values, rewards = np.zeros(49), grid(7, 7, {(1, 1): 2})  # all of a wide sight is valued
    left = decided(wisdom_of_the_crowd.choose_moves, rewards, [24], values[None], radius=2)
    assert values[8] == 1.0 and left == [{"up-left"}]


@pytest.mark.parametrize("tied", [range(35), [4, 9, 30, 34]])
def test_each_role_of_the_crowd_draws_its_own_among_equal_cells(tied):
    values, nothing = np.zeros(35), grid(5, 7, {})
    values[list(tied)] = 1.0
    us = np.array([*(np.arange(len(tied)) / len(tied)), LAST])
    left = decided(
        wisdom_of_the_crowd.choose_moves, nothing, [16] * us.size, values[None], draws=us
    )
    assert left == [to(16, goal, nothing) for goal in (*tied, tied[-1])]


@pytest.mark.parametrize("value", [-1.0, 0.0])
def test_crowd_never_heads_for_a_cell_beyond_its_grid(value):
    values, us = np.zeros(100), np.array([0.0, LAST])
    values[:9] = value
    left = decided(wisdom_of_the_crowd.choose_moves, grid(3, 3, {}), [4, 4], values[None], draws=us)
    assert left == [{"up-left"}, {"down-right"}]


def test_last_of_equal_bidders_wins_and_all_go_there():
    rewards = grid(8, 8, {(1, 1): 1, (6, 6): 1})
    bids, cells = np.array(bidding.NO_BID), [0, 18, 45, 20]
    left = decided(bidding.Bidding(), rewards, cells, {"bids": bids[None]})
    assert bids.tolist() == [54, 1]
    assert left == [to(cell, 54, rewards) for cell in cells]


def test_target_of_the_highest_bid_stays_until_the_bid_is_matched():
    bids, cells = np.array([7, 2]), [54, 0]
    for reward, target in ((1, 7), (0, 7), (2, 54)):
        rewards = grid(8, 8, {(6, 6): reward})
        left = decided(bidding.Bidding(), rewards, cells, {"bids": bids[None]})
        assert bids.tolist() == [target, 2]
        assert left == [to(cell, target, rewards) for cell in cells]


@pytest.mark.parametrize("reward", [-2, -1, 0])
@pytest.mark.parametrize("move", range(9))
def test_first_bid_is_always_taken_and_drawn_evenly_among_equal_cells(reward, move):
    bids, draws = np.array(bidding.NO_BID), np.array([0.99, (move + 0.5) / 9])
    left = decided(
        bidding.Bidding(),
        np.full((6, 6), reward),
        [35, 14],
        {"bids": bids[None]},
        draws=draws,
    )
    assert bids.tolist() == [torus.move_cell(14, move, 6, 6), reward]
    assert left[1] == {MOVES[move]}


def test_bid_is_for_a_cell_in_reach_and_kept_for_an_episode():
    bids, rewards = np.array(bidding.NO_BID), grid(7, 7, {(1, 1): 2, (3, 4): 1})
    left = decided(bidding.Bidding(), rewards, [24], {"bids": bids[None]}, radius=2)
    assert bids.tolist() == [25, 1] and left == [{"right"}]
    agent, worlds = bidding.Bidding(), batch_of([start(9, 9, good=0, evil=40, cells=(1,))])
    _, memory = acted(agent, worlds, (0,))
    assert memory["bids"].tolist() == [[0, 2]]
    worlds.arrays.cells[0, 0] = 60
    choice, memory = acted(agent, worlds, (0,), memory)
    assert memory["bids"].tolist() == [[0, 2]] and agent.initial_state(1, 1) == {}
    assert {MOVES[choice.actions[0, 0].argmax()]} == to(60, 0, NOTHING)


def test_all_go_where_the_dictator_wants_evenly_among_its_best_cells():
    rewards, cells = grid(8, 8, {(1, 2): 1, (6, 6): 2}), [9, 54, 45, 17]
    left = decided(dictatorship.Dictatorship(), rewards, cells, {})
    assert left == [to(cell, 10, rewards) for cell in cells] and left[0] == {"right"}
    rewards = grid(4, 4, {(1, 1): 1, (1, 3): 1})
    for u, move, goal in (
        (0.0, "left", 5),
        (0.49, "left", 5),
        (0.5, "right", 7),
        (LAST, "right", 7),
    ):
        left = decided(dictatorship.Dictatorship(), rewards, [6, 0], {}, draws=np.array([u, 0.9]))
        assert left == [{move}, to(0, goal, rewards)]


@pytest.mark.parametrize(
    ("rewards", "followed"),
    [
        ((0, 0, 0, 0, 0, 0), (0, 1, 2, 3, 4, 5)),
        ((2, 2, 2, 2, 2, 2), (0, 1, 2, 3, 4, 5)),
        ((0, 1, 0, 0, 0, 0), (1, 1, 2, 3, 4, 5)),
        ((0, 0, 1, 0, 0, 0), (2, 1, 2, 3, 4, 5)),
        ((0, 1, 1, 0, 0, 0), (1, 1, 2, 3, 4, 5)),
        ((0, 1, 2, 0, 0, 0), (2, 1, 2, 3, 4, 5)),
        ((1, 1, 2, 0, 0, 0), (2, 1, 2, 3, 4, 5)),
        ((1, 0, 1, 2, 2, 2), (0, 3, 5, 3, 4, 5)),
        ((0, 0, 0, 1, 2, 0), (0, 4, 2, 3, 4, 5)),
        ((-1, 0, 0, -1, 0, 1), (1, 1, 5, 3, 4, 5)),
    ],
)
def test_tree_node_follows_its_better_child_only_if_better_than_itself(rewards, followed):
    """Of two equal children the first; nobody follows a grandchild, however well off."""
    cells = [65, 13, 21, 61, 109, 69]  # so far apart that each sees but the reward it stands on
    world = np.full((12, 12), -2)
    world.ravel()[cells] = rewards
    left = decided(binary_tree.BinaryTree(), world, cells, {})
    assert left == [to(c, cells[f], world) for c, f in zip(cells, followed, strict=True)]
    for node, children in ((0, (1, 2)), (1, (3, 4)), (2, (5,))):
        ways = [to(cells[node], cells[other], world).pop() for other in (node, *children)]
        assert len(set(ways)) == len(ways)


@pytest.mark.parametrize("move", range(9))
def test_tree_node_draws_its_target_evenly_among_its_best_cells(move):
    draws = np.array([(move + 0.5) / 9])
    assert decided(binary_tree.BinaryTree(), NOTHING, [12], {}, draws=draws) == [{MOVES[move]}]


def test_guide_starts_with_the_last_role_and_moves_once_a_step():
    worlds = batch_of([start(9, 9, good=20, evil=0, cells=(80, 22, 60))])
    _, memory = acted(imitation.Imitation(), worlds, (0, 1, 2))
    assert memory["guide"].tolist() == [[torus.move_cell(60, 0, 9, 9)]]
    guide, cells, rule = np.array([20]), [80, 22, 20], imitation.Imitation()
    for good_next, expected in ((0, 10), (0, 0), (1, 1), (1, 1)):
        left = decided(rule, NOTHING, cells, {"guide": guide[None]}, good_next=good_next)
        assert guide.tolist() == [expected]
        assert expected != 10 or left == [ANY, ANY, {"up-left"}]
    rewards = grid(9, 9, {(4, 4): 2})  # out of the guide's reach all are local searchers
    guide, cells = np.array([0]), [50, 0, 8]
    left = decided(rule, rewards, cells, {"guide": guide[None]}, good_next=0)
    assert left == [{"up-left"}, {"stay"}, {"right"}]


def test_guide_of_the_program_moves_before_each_role():
    # From row 2, column 2 it goes by (1, 1) to (0, 0) and then stays. The first role sees it after
    # one move, the second, in row 2, no more after two.
    for agent, at, expected in (
        (QUIRKS[1], 0, [{"up-left"}, ANY, {"up"}]),
        (imitation.Imitation(), 10, [{"up-left"}, {"up"}, {"right"}]),
    ):
        guide, cells = np.array([20]), [20, 19, 9]
        left = decided(agent, NOTHING, cells, {"guide": guide[None]}, good_next=0)
        assert guide.tolist() == [at] and left == expected


def test_imitator_that_has_found_the_guide_keeps_with_it():
    pattern = tuple(np.random.default_rng(5).integers(0, 9, 40).tolist())
    world = start(9, 9, good=40, evil=0, cells=(60, 61), good_pattern=pattern)
    p = game(imitation.Imitation(), [world], steps=40)
    assert (p.scene[0, 6:, 2:] == p.scene[0, 6:, :1]).all()


@pytest.mark.parametrize("name", REACTIVE)
def test_reactive_behaviour_is_silent_and_ignores_instructions(name):
    agent, c = agents.load(name), cases()
    p = play_cases(agent, c)
    assert (p.utterances == 0).all()
    assert_same(p, play_cases(agent, c._replace(texts=[""] * len(c.texts))))


@quirks
def test_variant_of_the_program_is_not_the_default_nor_depends_on_its_batch(agent):
    c = cases()
    whole = play_cases(agent, c)
    for part in ([17], [3, 28], list(range(12, 4, -1))):
        assert_same(rows(whole, part), play_cases(agent, c.take(part)))
    assert (whole.actions != play_cases(agents.load(agent.name), c).actions).any()


def test_unknown_variant_is_refused():
    with pytest.raises(ArgumentError, match="one-step or lasting, found 'for ever'"):
        stigmergy.Stigmergy(marks="for ever")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="each-step or each-role, found 'quick'"):
        imitation.Imitation(guide="quick")  # type: ignore[arg-type]
