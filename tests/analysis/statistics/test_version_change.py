"""The difference that a change of version makes: what both versions hold is measured once."""

import numpy as np
import pytest

from sts_analysis.statistics import intervals
from sts_analysis.statistics.outcomes import Summary, summarise
from sts_analysis.statistics.pass_rates import UNKNOWN_SPREAD
from sts_analysis.statistics.version_change import version_change
from tests.analysis.worlds import beta_world

Case = tuple[int, tuple[int, int, int], tuple[float, float, float]]
KEPT, ADDED, RETIRED = range(3)
LIKE: Case = (8, (8, 2, 2), (0.5, 0.5, 0.5))
EASIER: Case = (4, (10, 3, 1), (0.5, 0.5, 0.8))
MANY: Case = (1, (32, 8, 8), (0.5, 0.5, 0.5))


def versions(case: Case, rows: int = 1500) -> tuple[Summary, np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes and rates of kept, added and retired scenarios; their part; their category."""
    categories, numbers, rates = case
    values, chances, part, category = [], [], [], []
    for which, (number, rate) in enumerate(zip(numbers, rates, strict=True)):
        shape = {"rows": rows, "categories": categories, "scenarios": number, "continuations": 6}
        made = beta_world(**shape, rate=rate, icc=0.4, seed=21 + which)
        values.append(made[0])
        chances.append(made[1])
        part += [which] * len(made[2])
        category += made[2].tolist()
    summary = summarise(np.concatenate(values, axis=1))
    return summary, np.concatenate(chances, axis=1), np.array(part), np.array(category)


def covered(interval: np.ndarray, truth: np.ndarray | float) -> float:
    return float(np.mean((interval[:, 0] <= truth) & (truth <= interval[:, 1])))


def expected(case: Case) -> float:
    _, (kept, added, retired), rates = case
    old = (kept * rates[KEPT] + retired * rates[RETIRED]) / (kept + retired)
    return (kept * rates[KEPT] + added * rates[ADDED]) / (kept + added) - old


@pytest.mark.parametrize("case", [LIKE, EASIER, MANY])
def test_the_difference_covers_and_that_of_independent_versions_is_far_too_wide(
    case: Case,
) -> None:
    summary, chance, part, category = versions(case)
    old, new = part != ADDED, part != RETIRED
    sampled = version_change(summary, category, old, new, target="sampled")
    fixed = version_change(summary, category, old, new, target="fixed")
    truth = chance[:, new].mean(axis=1) - chance[:, old].mean(axis=1)
    assert 0.92 <= covered(sampled.interval, expected(case)) <= 0.985
    assert 0.92 <= covered(fixed.interval, truth) <= 0.98
    for found, right in ((sampled, expected(case)), (fixed, truth)):
        error = np.hypot(found.rates["old"].error, found.rates["new"].error)
        unpaired = found.difference[:, None] + np.outer(error, [-intervals.Z, intervals.Z])
        assert covered(unpaired, right) > 0.99
        assert np.ptp(unpaired, axis=1).mean() > 1.6 * np.ptp(found.interval, axis=1).mean()


def test_pairing_by_place_is_far_too_wide() -> None:
    # One scenario more in front, and each place of a version holds another scenario than before.
    summary, _, part, category = versions(MANY)
    old, new = part != ADDED, part != RETIRED
    found = version_change(summary, category, old, new, target="sampled")
    differences = np.roll(summary.mean[:, new], 1, axis=1) - summary.mean[:, old]
    error = differences.std(axis=1, ddof=1) / np.sqrt(differences.shape[1])
    wrong = found.difference[:, None] + np.outer(error, [-intervals.Z, intervals.Z])
    assert covered(wrong, expected(MANY)) > 0.99
    assert np.ptp(wrong, axis=1).mean() > 1.6 * np.ptp(found.interval, axis=1).mean()


def test_taking_the_exchanged_continuations_for_independent_covers_too_little() -> None:
    summary, _, part, category = versions(MANY)
    old, new = part != ADDED, part != RETIRED
    found = version_change(summary, category, old, new, target="sampled")
    share = (part == ADDED).sum() / new.sum()
    p = np.stack([summary.mean[:, part == one].mean(axis=1) for one in (ADDED, RETIRED)])
    error = share * np.sqrt((p * (1 - p) / (6 * (part == ADDED).sum())).sum(axis=0))
    naive = found.difference[:, None] + np.outer(error, [-intervals.Z, intervals.Z])
    assert covered(naive, expected(MANY)) < 0.85


def one(values: list[list[float]]) -> Summary:
    return summarise(np.array(values, dtype=np.float64)[None])


def test_by_hand_one_scenario_for_another_moves_the_rate_by_their_difference() -> None:
    summary = one([[1, 0], [1, 1], [0, 0], [1, 1], [0, 1]])
    old, new = np.array([1, 1, 1, 1, 0], bool), np.array([1, 1, 1, 0, 1], bool)
    found = version_change(summary, np.zeros(5, np.int64), old, new, target="fixed")
    assert found.rates["old"].rate[0] == pytest.approx(2.5 / 4)
    assert found.rates["new"].rate[0] == pytest.approx(2 / 4)
    assert found.difference[0] == pytest.approx(-0.5 / 4)
    assert [found.scenarios[name][0] for name in ("kept", "added", "retired")] == [3, 1, 1]
    assert "25% of the weight exchanged" in found.method[0]
    assert found.interval[0, 0] < -0.5 / 4 < found.interval[0, 1]


def grown(rows: int = 800) -> tuple[Summary, np.ndarray, np.ndarray, np.ndarray]:
    """Two categories of ten, the harder of which has half of its scenarios from the new version."""
    shape = {"rows": rows, "categories": 1, "scenarios": 10, "continuations": 6}
    easy, hard = (beta_world(**shape, rate=rate, icc=0.4, seed=5) for rate in (0.8, 0.4))
    summary = summarise(np.concatenate([easy[0], hard[0]], axis=1))
    chance = np.concatenate([easy[1], hard[1]], axis=1)
    return summary, chance, np.repeat([0, 1], 10), np.arange(20) < 15


def test_a_version_in_which_one_category_has_grown_weighs_it_by_what_it_has() -> None:
    summary, chance, category, old = grown()
    new = np.ones(20, bool)
    found = version_change(summary, category, old, new, target="fixed")
    inside = (found.interval[:, 0] < found.difference) & (found.difference < found.interval[:, 1])
    assert inside.all()
    truth = chance.mean(axis=1) - chance[:, old].mean(axis=1)
    assert 0.9 <= covered(found.interval, truth) <= 0.98
    assert "25% of the weight exchanged" in found.method[0]


def test_without_a_change_of_what_was_judged_there_is_no_interval() -> None:
    summary = one([[1, 0], [1, 1], [np.nan, np.nan]])
    old, new = np.array([1, 1, 0], bool), np.ones(3, bool)
    found = version_change(summary, np.zeros(3, np.int64), old, new, target="sampled")
    assert found.difference[0] == 0 and np.isnan(found.interval).all()
    assert found.method == ("nothing judged of what was changed",)
    nothing = version_change(summary, np.zeros(3, np.int64), ~old, old, target="sampled")
    assert np.isnan(nothing.difference[0])
    assert nothing.method == ("nothing judged in one of the versions",)


def test_single_continuations_say_nothing_of_these_scenarios_alone() -> None:
    summary = one([[1], [0], [1], [0]])
    old, new = np.array([1, 1, 1, 0], bool), np.array([1, 1, 0, 1], bool)
    fixed = version_change(summary, np.zeros(4, np.int64), old, new, target="fixed")
    assert np.isnan(fixed.interval).all()
    assert fixed.method == (UNKNOWN_SPREAD,)
    sampled = version_change(summary, np.zeros(4, np.int64), old, new, target="sampled")
    assert np.isfinite(sampled.interval).all()
