"""Credit for doing all of what belongs together: the group is the unit, and is kept together."""

import numpy as np
import pytest

from sts_analysis.statistics import intervals, sampling
from sts_analysis.statistics.comparisons import compare
from sts_analysis.statistics.linked import credits
from sts_analysis.statistics.outcomes import Summary, summarise
from sts_analysis.statistics.pass_rates import pass_rates

ROWS = 1500


def pairs(
    count: int, continuations: int, easy: float, hard: float
) -> tuple[Summary, list[np.ndarray], np.ndarray]:
    """Outcomes of many suites of pairs whose halves are alike, and each half's true rate."""
    rng = np.random.default_rng(31)
    base = rng.beta(easy, hard, size=(ROWS, count, 1))
    chance = rng.beta(20 * base + 1e-9, 20 * (1 - base) + 1e-9, size=(ROWS, count, 2))
    flat = chance.reshape(ROWS, 2 * count)
    values = rng.random((*flat.shape, continuations)) < flat[..., None]
    groups = [np.array([2 * i, 2 * i + 1]) for i in range(count)]
    return summarise(values.astype(np.float64)), groups, chance


def covered(interval: np.ndarray, truth: np.ndarray | float) -> float:
    return float(np.mean((interval[:, 0] <= truth) & (truth <= interval[:, 1])))


@pytest.mark.parametrize(("count", "continuations"), [(20, 6), (40, 3), (12, 10)])
@pytest.mark.parametrize(("easy", "hard"), [(1.0, 1.0), (2.0, 1.0)])
def test_the_credit_covers_and_halves_taken_for_independent_do_not(
    count: int, continuations: int, easy: float, hard: float
) -> None:
    summary, groups, chance = pairs(count, continuations, easy, hard)
    every, kind = credits(summary, groups), np.zeros(count, np.int64)
    total = easy + hard
    expected = easy * (easy + 1) / (total * (total + 1))  # of the square of a beta variable
    sampled = pass_rates(every, kind, target="sampled")
    fixed = pass_rates(every, kind, target="fixed")
    assert 0.92 <= covered(sampled.interval, expected) <= 0.98
    assert 0.92 <= covered(fixed.interval, chance.prod(axis=2).mean(axis=1)) <= 0.98
    # Halves resampled each on their own: first halves meet second halves of other pairs.
    halves = np.stack([summary.mean[:, side::2] for side in (0, 1)])
    mean, error = halves.mean(axis=2), halves.std(axis=2, ddof=1) / np.sqrt(count)
    spread = np.sqrt((mean[0] * error[1]) ** 2 + (mean[1] * error[0]) ** 2)
    reach = np.outer(spread, [-intervals.Z, intervals.Z])
    assert covered(mean.prod(axis=0)[:, None] + reach, expected) < 0.85
    assert covered(every.mean.mean(axis=1)[:, None] + reach, expected) < 0.915


def test_the_spread_of_a_credit_is_that_of_its_continuations() -> None:
    rng = np.random.default_rng(5)
    values = (rng.random((40_000, 2, 4)) < np.array([0.7, 0.4])[:, None]).astype(np.float64)
    every = credits(summarise(values), [np.array([0, 1])])
    assert every.mean.mean() == pytest.approx(0.28, abs=0.005)
    assert every.spread.mean() == pytest.approx(every.mean.var(), rel=0.03)


def test_by_hand_a_credit_is_the_product_and_lacks_where_a_half_lacks() -> None:
    gap = np.nan
    values = np.array([[[1, 0], [1, 1], [1, 0]], [[1, 1], [gap, gap], [0, 0]]], np.float64)
    every = credits(summarise(values), [np.array([0, 1]), np.array([0, 2])])
    assert every.mean[0].tolist() == [0.5, 0.25]
    assert np.isnan(every.mean[1, 0]) and every.mean[1, 1] == 0
    assert every.number.tolist() == [[1, 1], [0, 1]]
    one = credits(summarise(values[:, :, :1]), [np.array([0, 1])])
    assert one.mean[0, 0] == 1 and np.isnan(one.spread).all()


def test_three_turns_are_credited_together() -> None:
    values = np.array([[[1, 0], [1, 1], [1, 0]]], np.float64)
    assert credits(summarise(values), [np.arange(3)]).mean[0, 0] == 0.25


CATEGORIES = {
    "halves of two categories": np.tile([0, 1], 30),
    "halves of one category": np.repeat([0, 1], 30),
    "one category": np.zeros(60, np.int64),
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_the_headline_covers_where_scenarios_are_pairs_and_as_if_apart_it_does_not(
    name: str,
) -> None:
    summary, groups, _ = pairs(30, 10, 1.0, 1.0)
    unit, category = sampling.units(60, groups), CATEGORIES[name]
    together = pass_rates(summary, category, target="sampled", unit=unit)
    apart = pass_rates(summary, category, target="sampled")
    assert 0.92 <= covered(together.interval, 0.5) <= 0.98
    assert covered(apart.interval, 0.5) < 0.9
    assert (together.rate == apart.rate).all()


def check_equal_agents(studies: int) -> None:
    rng = np.random.default_rng(8)
    found = {"together": 0, "apart": 0}
    groups = [np.array([2 * i, 2 * i + 1]) for i in range(20)]
    unit, category = sampling.units(40, groups), np.tile([0, 1], 20)
    for _ in range(studies):
        base = np.repeat(rng.normal(0, 1.5, (2, 20, 1)), 2, axis=2)
        chance = 1 / (1 + np.exp(-(base + rng.normal(0, 0.3, base.shape)))).reshape(2, 40)
        values = (rng.random((2, 40, 8)) < chance[..., None]).astype(np.float64)
        summary = summarise(values)
        for name, own in (("together", unit), ("apart", None)):
            rates = pass_rates(summary, category, target="sampled", unit=own)
            made = compare(summary, category, rates, target="sampled", seed=0, draws=10, unit=own)
            found[name] += int(made.p[0] < 0.05)
    assert found["together"] / studies <= 0.075 < 0.11 < found["apart"] / studies


def test_two_equal_agents_are_seldom_called_separated_on_pairs() -> None:
    check_equal_agents(200)


@pytest.mark.slow
def test_two_equal_agents_are_seldom_called_separated_on_pairs_closely() -> None:
    check_equal_agents(600)


def test_what_belongs_together_is_one_unit_and_who_stands_in_two_groups_joins_them() -> None:
    unit = sampling.units(8, [np.array([0, 4]), np.array([1, 5]), np.array([5, 6])])
    assert unit is not None and unit.tolist() == [0, 1, 2, 3, 0, 1, 1, 4]
    assert sampling.units(8, []) is None


def test_a_lone_pair_of_a_category_is_one_unit_and_joins_another_category() -> None:
    category = np.array([0, 0, 1, 1, 1])
    unit = sampling.units(5, [np.array([0, 1])])
    codes = sampling.strata(np.ones((1, 5), bool), category, unit)
    assert codes.tolist() == [[2, 2, 2, 2, 2]]
    assert sampling.strata(np.ones((1, 5), bool), category).tolist() == [[0, 0, 1, 1, 1]]


def test_parts_of_a_unit_are_added_whatever_its_number() -> None:
    parts = np.array([[1.0, 2.0, 4.0, 8.0]])
    assert sampling.by_unit(parts, np.array([7, 3, 7, 9])).tolist() == [[5, 2, 0, 8]]
    assert sampling.by_unit(parts, None) is parts
    assert sampling.distinct(parts > 1, np.array([7, 3, 7, 9])).tolist() == [3]
