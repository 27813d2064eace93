"""Good and Evil that need several players: balance, and the same rule on every path of play."""

from __future__ import annotations

import numpy as np
import pytest

import sts_lambda_star as lambda_star
from sts.cli.main import main
from sts.errors import ArgumentError
from sts_lambda_star.domain import Batch, LambdaStar
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.intelligence.score import score_agents
from sts_lambda_star.lanes import reward_at_distance
from sts_lambda_star.play.rollouts import Rollout
from sts_lambda_star.torus import distance


def score_afterwards(played: Rollout, needs: int, *, of_evil: bool = True) -> np.ndarray:
    """Return float64[E, T, P], what is paid for the moves if Good (and Evil) need several."""
    cells, total = played.cells[:, 1:].astype(int), np.zeros(played.rewards.shape)
    for sign, objects, held in ((1, played.good, True), (-1, played.evil, of_evil)):
        away = distance(cells, objects[:, 1:, None].astype(int), 10, 10)
        enough = (away < 2).sum(2, keepdims=True) >= (needs if held else 1)
        total += sign * enough * reward_at_distance(away) / 2
    return total


@pytest.mark.parametrize(("team", "withheld_from_good"), [(5, -0.037), (2, -0.045)])
def test_balance_needs_the_same_condition_for_good_and_evil(team, withheld_from_good):
    played = lambda_star.rollout("random", lambda_star.generate(600, team=team, needs=2))
    both = played.rewards.mean((1, 2))
    assert abs(both.mean()) < 4 * both.std() / 600**0.5
    good = score_afterwards(played, 2, of_evil=False).mean((1, 2))
    assert abs(good.mean() - withheld_from_good) < 4 * good.std() / 600**0.5
    assert good.mean() < -8 * good.std() / 600**0.5


@pytest.mark.landing
@pytest.mark.parametrize("agent", ["local-search", "q-learning", "oracle,random"])
def test_every_path_of_play_withholds_the_same_rewards(agent):
    environments = lambda_star.generate(2, team=3, needs=2)
    played = lambda_star.rollout(agent, environments, rehearsals=2)
    assert (played.rewards == score_afterwards(played, 2)).all()
    assert (played.rewards != score_afterwards(played, 1)).any()
    states = Batch(environments.copy_arrays(), 1).states()
    again = lambda_star.rollout(agent, states, rehearsals=2)
    np.testing.assert_array_equal(again.rewards, played.rewards)


def test_local_search_loses_what_it_earned_alone():
    free, held = lambda_star.generate(400, team=2), lambda_star.generate(400, team=2, needs=2)
    played = lambda_star.rollout("local-search", free)
    assert played.rewards.mean() == pytest.approx(0.407, abs=0.03)
    assert score_afterwards(played, 2).mean() == pytest.approx(0.335, abs=0.03)
    seen = lambda_star.rollout("local-search", held).rewards.mean()
    assert seen < 0.2, "alone, it cannot see where Good is"


def test_worlds_differ_in_nothing_but_the_rule():
    free, held = (lambda_star.generate(3, team=2, needs=n).arrays for n in (1, 2))
    for name, array in free._asdict().items():
        assert np.array_equal(array, getattr(held, name)) == (name != "needs"), name


def test_needs_of_more_than_the_team_are_refused(capsys):
    with pytest.raises(ArgumentError, match="expected needs of 1 to 2 in a team of 2, found 3"):
        LambdaStar().generate(1, seed=0, n_players=2, needs=3)
    assert main(["lambda-star", "score", "--agent", "random", "--needs", "2"]) == 2
    assert "needs of 1 to 1 in a team of 1, found 2" in capsys.readouterr().err


def test_parameters_of_ordinary_scores_are_as_before_the_rule():
    for needs in (1, 2):
        settings = Settings(n_players=2, needs=needs)
        found = score_agents(["random"], settings, episodes=1, seed=0).settings
        assert ("needs" in found) == (needs > 1)
