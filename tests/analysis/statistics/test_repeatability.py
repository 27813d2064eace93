"""Chances that continuations end alike: golden numbers, enumeration, and coverage."""

import itertools

import numpy as np
import pytest
from scipy.special import expit

from sts_analysis.statistics.means import Means
from sts_analysis.statistics.repeatability import average_products, measure_repeatability
from tests.analysis.outcomes import make_outcomes

GOLDEN = np.array([[[1, 0.5, 0, 1], [1, 1, 1, 0.5], [0, 0, 0.5, 0]]])


def covers(means: Means, truth: float) -> float:
    return float(((means.interval[:, 0] <= truth) & (truth <= means.interval[:, 1])).mean())


def test_two_alike_and_both_succeed_equal_the_golden_numbers() -> None:
    apart = measure_repeatability(make_outcomes(GOLDEN.transpose(1, 0, 2)))  # an agent each
    assert apart.alike.value == pytest.approx([0.416667, 0.75, 0.75], abs=1e-6)
    assert apart.all_succeed[2].value == pytest.approx([0.333333, 0.75, 0.0], abs=1e-6)
    together = measure_repeatability(make_outcomes(GOLDEN))
    assert together.alike.value[0] == pytest.approx((0.416667 + 0.75 + 0.75) / 3, abs=1e-6)
    assert together.all_succeed[2].value[0] == pytest.approx((0.333333 + 0.75) / 3, abs=1e-6)


def test_chances_are_means_over_all_subsets_of_k() -> None:
    y = np.array([0.5, 1.0, 0.25, 1.0, 0.0])
    found = measure_repeatability(make_outcomes(y[None, None]))
    assert list(found.all_succeed) == [1, 2, 4]
    for k in (1, 2, 4):
        subsets = [y[list(chosen)] for chosen in itertools.combinations(range(5), k)]
        assert found.all_succeed[k].value[0] == pytest.approx(np.mean([s.prod() for s in subsets]))
        passed = np.mean([1 - (1 - s).prod() for s in subsets])
        assert found.any_succeeds[k].value[0] == pytest.approx(passed)


def test_average_products_of_verdicts_are_ratios_of_binomials() -> None:
    y = np.array([1.0, 1, 0, 1, 1, 0, 0.5])
    found = average_products(y, np.repeat([0, 2], [5, 2]), 3, 3)
    assert found[:, 0] == pytest.approx([1, 4 / 5, 6 / 10, 4 / 10])
    assert found[:, 1].tolist() == [1, 0, 0, 0] and found[:3, 2].tolist() == [1, 0.25, 0]


def test_auto_resolved_continuations_count_as_judged_failures() -> None:
    y = np.array([[[1, 0.5, 0, 0], [0.5, 1, 0, 0]]])
    auto = np.array([[[False, False, True, True], [False, False, False, True]]])
    resolved = measure_repeatability(make_outcomes(y, auto=auto))
    judged = measure_repeatability(make_outcomes(y))
    assert resolved.alike.value == pytest.approx(judged.alike.value)
    for k in (1, 2, 4):
        assert resolved.all_succeed[k].value == pytest.approx(judged.all_succeed[k].value)
        assert resolved.any_succeeds[k].value == pytest.approx(judged.any_succeeds[k].value)


def test_chances_of_one_are_the_pass_rate_while_judging_goes_on() -> None:
    rng = np.random.default_rng(5)
    waits = np.argsort(rng.random((3, 40, 4)), axis=2) < 2
    y = np.where(waits, np.nan, rng.integers(0, 3, (3, 40, 4)) / 2)
    outcomes = make_outcomes(
        y, category=np.arange(40) % 4, auto=~waits & (rng.random(y.shape) < 0.2)
    )
    found = measure_repeatability(outcomes)
    weighed = [np.nanmean(outcomes.value[:, outcomes.category == c], axis=1) for c in range(4)]
    assert found.all_succeed[1].value == pytest.approx(np.mean(weighed, axis=0))
    assert found.any_succeeds[1].value == pytest.approx(np.mean(weighed, axis=0))


def test_chance_is_unknown_if_most_scenarios_have_too_few_continuations() -> None:
    y = np.full((2, 4, 4), np.nan)
    y[:, :, 0] = 1.0
    y[0, :2, 1], y[1, :1, 1] = 0.0, 0.0
    found = measure_repeatability(make_outcomes(y))
    assert found.alike.value[0] == 0 and np.isnan(found.alike.value[1])
    assert found.alike.scenarios.tolist() == [2, 0] and 4 not in found.all_succeed


def test_chances_of_all_k_are_over_the_same_scenarios() -> None:
    # In the hard scenarios one continuation is judged: their chances must not enter for k of 1.
    y = np.full((1, 40, 2), np.nan)
    y[0, :, 0] = np.arange(40) < 20
    y[0, :20, 1] = 1.0
    found = measure_repeatability(make_outcomes(y))
    assert [found.all_succeed[k].value[0] for k in (1, 2)] == pytest.approx([1, 1])
    assert [found.all_succeed[k].scenarios[0] for k in (1, 2)] == [20, 20]


@pytest.mark.landing
@pytest.mark.parametrize(("verdicts", "middle"), [(1, 0.0), (1, 2.5), (3, 0.0)])
def test_intervals_cover_where_pairs_as_trials_do_not(verdicts, middle) -> None:
    rng, unit = np.random.default_rng(11), np.arange(80) // 5

    def play(studies: int, unit: np.ndarray, number: int) -> np.ndarray:
        ease = rng.normal(0, 1, (studies, unit.max() + 1))[:, unit]
        chance = expit(middle + ease + rng.normal(0, 1, (studies, len(unit))))
        success = rng.random((*chance.shape, number)) < chance[..., None]
        return rng.binomial(verdicts, np.where(success, 0.9, 0.1)) / verdicts

    first, second = np.moveaxis(play(1, np.arange(400_000), 2)[0], -1, 0)
    alike = float((first * second + (1 - first) * (1 - second)).mean())
    found = measure_repeatability(make_outcomes(play(1500, unit, 8), unit=unit))
    assert 0.925 <= covers(found.alike, alike) <= 0.975
    assert 0.92 <= covers(found.all_succeed[2], float((first * second).mean())) <= 0.975
    half = 1.96 * np.sqrt(found.alike.value * (1 - found.alike.value) / (80 * 28))
    assert (np.abs(found.alike.value - alike) <= half).mean() < 0.85
