"""The score corrected for guessing: by hand, categories left out, and coverage."""

import numpy as np
import pytest
from scipy.special import expit

from sts_analysis.statistics.guessing import GuessCorrected, correct_for_guessing
from tests.analysis.outcomes import make_outcomes


def correct(rows: list[list[float]], category: list[int], baseline: int = 1) -> GuessCorrected:
    """Correct rates of scenarios; the baseline is the second row."""
    return correct_for_guessing(
        make_outcomes(np.array(rows)[..., None], category=np.array(category)), baseline
    )


def test_score_corrects_each_category_by_its_own_guesses() -> None:
    found = correct([[0.6, 0.8, 0.5, 0.5], [0.2, 0.4, 0.5, 0.5]], [0, 0, 1, 1])
    # Category 0: (.7 - .3) / .7; category 1: 0.
    assert found.score[0] == pytest.approx(0.5 * 0.4 / 0.7) and found.counted.all()


def test_error_counts_difficulty_shared_with_the_baseline() -> None:
    found = correct([[0.6, 0.8, 0.3, 0.7], [0.2, 0.4, 0.1, 0.3]], [0, 0, 0, 0])
    p, g = np.array([0.6, 0.8, 0.3, 0.7]), np.array([0.2, 0.4, 0.1, 0.3])
    linear = p / 0.75 - 0.4 / 0.75**2 * g
    assert found.se[0] == pytest.approx(linear.std(ddof=1) / 2)
    half = 3.182446 * found.se[0]  # Student's quantile of three degrees of freedom
    assert found.interval[0, 0] == pytest.approx(found.score[0] - half)
    assert found.interval[0, 1] == pytest.approx(min(1.0, found.score[0] + half))


def test_baseline_scores_0_a_perfect_agent_1_and_a_worse_agent_less() -> None:
    found = correct([[1.0, 1.0], [0.4, 0.2], [0.1, 0.1]], [0, 0])
    assert found.score[:2] == pytest.approx([1, 0]) and found.score[2] < 0
    assert np.isnan(found.interval[1]).all(), "no spread is seen"


def test_categories_that_the_baseline_passes_are_left_out() -> None:
    found = correct([[0.9, 0.9, 0.5, 0.7], [0.9, 0.8, 0.1, 0.2]], [0, 0, 1, 1])
    assert found.counted[0].tolist() == [False, True] and found.scenarios[0] == 2
    assert found.score[0] == pytest.approx((0.6 - 0.15) / 0.85)
    nothing = correct([[0.9, 0.9], [0.9, 0.9]], [0, 0])
    assert np.isnan(nothing.score).all() and not nothing.counted.any()


@pytest.mark.landing
def test_score_covers_where_continuations_as_trials_do_not() -> None:
    rng, category, unit = np.random.default_rng(71), np.repeat([0, 1], 20), np.arange(40) // 5

    def play(studies: int) -> np.ndarray:
        def vary(rows: int) -> np.ndarray:
            of_unit = rng.normal(0, 0.85, (studies, rows, 8))[..., unit]
            return of_unit + rng.normal(0, 0.85, (studies, rows, 40))

        return expit(np.array([0.8, 0.2])[:, None] + vary(1) + vary(2))

    rates = play(20_000).reshape(-1, 2, 2, 20).mean(axis=(0, 3))
    truth = ((rates[0] - rates[1]) / (1 - rates[1])).mean()
    hits = []
    for chance in play(600):
        y = (rng.random((2, 40, 8)) < chance[..., None]).astype(float)
        found = correct_for_guessing(make_outcomes(y, category=category, unit=unit), 1)
        p, g = y.reshape(2, 2, -1).mean(axis=2)
        parts = p * (1 - p) / (1 - g) ** 2 + (1 - p) ** 2 / (1 - g) ** 4 * g * (1 - g)
        half = 1.96 * np.sqrt((parts / 160).sum()) / 2
        low, high = found.interval[0]
        hits.append([low <= truth <= high, abs(found.score[0] - truth) <= half])
    covered, naive = np.mean(hits, axis=0)
    assert 0.92 <= covered <= 0.98 and naive < 0.75
