"""Credit for doing all of what belongs together: the group is one value of one unit."""

import numpy as np
import pytest

from sts_analysis.statistics.joint_success import measure_joint_success
from sts_analysis.statistics.means import estimate_means
from tests.analysis.outcomes import estimate_mean, make_outcomes


def pair(first: int) -> tuple[str, str]:
    return f"s{first:03}", f"s{first + 1:03}"


def test_credit_is_the_product_and_is_missing_if_a_scenario_is() -> None:
    gap = np.nan
    y = np.array([[[1, 0], [1, 1], [1, 0]], [[1, 1], [gap, gap], [0, 0]]])
    groups = [pair(0), ("s002", "s000"), ("s001", "s000", "s002")]
    outcomes = make_outcomes(y, unit=np.zeros(3, int))
    credit, means = measure_joint_success(outcomes, groups)
    assert credit == pytest.approx(np.array([[0.5, 0.25, 0.25], [gap, 0, gap]]), nan_ok=True)
    assert means.value == pytest.approx([1 / 3, 0])
    assert means.units.tolist() == [1, 1], "groups of one unit count once"


def test_error_is_that_of_groups_and_of_units_that_hold_several() -> None:
    rng = np.random.default_rng(2)
    y = rng.random((1, 24, 3))
    groups = [pair(2 * g) for g in range(12)]
    own, joined = np.arange(24) // 2, np.arange(24) // 4
    for unit, of_group in ((own, np.arange(12)), (joined, np.arange(12) // 2)):
        credit, means = measure_joint_success(make_outcomes(y, unit=unit), groups)
        expected = estimate_mean(credit[0], np.zeros(12, int), of_group)
        assert means.se[0] == pytest.approx(expected.se[0])
        assert means.df[0] == pytest.approx(expected.df)


@pytest.mark.landing
@pytest.mark.parametrize(("count", "continuations"), [(20, 6), (40, 3), (12, 10)])
def test_credit_covers_and_halves_taken_for_independent_do_not(count, continuations) -> None:
    rng = np.random.default_rng(31)
    base = rng.beta(1, 1, (1500, count, 1))
    chance = rng.beta(20 * base + 1e-9, 20 * (1 - base) + 1e-9, (1500, count, 2)).reshape(1500, -1)
    y = (rng.random((*chance.shape, continuations)) < chance[..., None]).astype(float)
    outcomes = make_outcomes(y, unit=np.arange(2 * count) // 2)
    _, found = measure_joint_success(outcomes, [pair(2 * g) for g in range(count)])
    expected = 1 / 3  # of the square of a uniform variable; halves differ a little
    assert 0.92 <= ((found.interval[:, 0] <= expected) & (expected <= found.interval[:, 1])).mean()
    kind, own = np.zeros(count, int), np.arange(count)
    first, second = (estimate_means(outcomes.value[:, side::2], kind, own) for side in (0, 1))
    product = first.value * second.value
    error = np.hypot(first.value * second.se, second.value * first.se)
    assert (np.abs(product - expected) <= 1.96 * error).mean() < 0.85
