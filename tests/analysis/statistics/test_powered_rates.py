"""Prediction-powered rates: by hand, what they refuse, and what labels cost or save."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from sts_analysis.statistics import powered_rates
from sts_analysis.statistics.means import Means, estimate_means
from sts_analysis.statistics.powered_rates import PoweredRates, estimate_powered_rates
from tests.analysis.outcomes import estimate_mean, make_outcomes

GAP = np.nan


def estimate(people, labels, **design) -> PoweredRates:
    more = {name: design.pop(name) for name in ("auto", "unjudgeable") if name in design}
    return estimate_powered_rates(
        make_outcomes(np.asarray(people, float), **design, **more),
        make_outcomes(np.asarray(labels, float), **design),
    )


def fix_weight(monkeypatch, weight: float) -> None:
    """Fix the weight of labels, and take as few units as there are."""
    monkeypatch.setattr(powered_rates, "MIN_EFFECTIVE_UNITS", 0.0)
    monkeypatch.setattr(
        powered_rates, "_fit_weights", lambda both, *_: np.full(both.people.shape, weight)
    )


def test_scenario_moves_by_the_labels_of_its_judged_part(monkeypatch) -> None:
    # Judged 2 of 4 in each. s0: people 1/2, labels 1/2 there and 1/4 of all; s1: 1, 1 and 3/4;
    # s2: 0, 0 and 1/2. With a weight of .8: .5 - .8 (.25), 1 - .8 (.25), 0 + .8 (.5).
    fix_weight(monkeypatch, 0.8)
    found = estimate(
        [[[1, 0, GAP, GAP], [1, 1, GAP, GAP], [0, 0, GAP, GAP]]],
        [[[1, 0, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1]]],
    )
    moved = estimate_mean(np.array([0.3, 0.8, 0.4]), np.zeros(3, int), np.arange(3))
    assert (found.rate[0], found.se[0]) == pytest.approx((0.5, moved.se[0]))
    assert (found.df[0], found.weight[0]) == pytest.approx((2, 0.8))
    assert (found.judged[0], found.judgeable[0]) == (6, 12) and found.reasons == ("",)


def test_scenario_without_verdicts_counts_by_its_labels(monkeypatch) -> None:
    people, labels = [[[1, 0], [1, 1], [GAP, GAP]]], [[[1, 0], [1, 1], [0, 0]]]
    fix_weight(monkeypatch, 1.0)
    assert estimate(people, labels).rate[0] == pytest.approx(0.5)  # .75, less a quarter
    fix_weight(monkeypatch, 0.0)
    assert estimate(people, labels).rate[0] == pytest.approx(0.75)


def play(
    studies: int, *, judged: float, right: float, middle: float = 0.0, seed: int = 91
) -> tuple[float, np.ndarray, np.ndarray, dict[str, Any]]:
    """Play studies of 20 units of four scenarios: the true rate, people, labels, the design.

    Args:
      studies: number of rows, each an agent on scenarios of its own.
      judged: share of continuations that people judged, at random.
      right: how often labels are right in the average unit; they err more in some units.
      middle: logit of the average scenario.
      seed: of all of it.
    """
    rng, unit = np.random.default_rng(seed), np.arange(80) // 4

    def vary(spread: float, columns: int) -> np.ndarray:
        return rng.normal(0, spread, (studies, columns))

    ease = middle + vary(0.8, 20)[:, unit] + vary(1.0, 80)
    success = rng.random((studies, 80, 10)) < expit(ease)[..., None]
    accuracy = expit(np.log(right / (1 - right)) + vary(0.5, 20)[:, unit, None])
    labels = success == (rng.random(success.shape) < accuracy)
    people = np.where(rng.random(success.shape) < judged, success, np.nan)
    truth = expit(middle + np.hypot(0.8, 1.0) * rng.normal(size=10**6)).mean()
    return float(truth), people, labels, {"category": np.arange(80) % 2, "unit": unit}


def count_covered(means: PoweredRates | Means, truth: float) -> float:
    ends = means.interval[np.isfinite(means.interval[:, 0])]
    return float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())


def test_equal_labels_change_nothing() -> None:
    _, people, _, design = play(5, judged=0.3, right=0.9)
    found = estimate(people, np.zeros(people.shape), **design)
    assert found.interval == pytest.approx(found.people.interval) and not found.weight.any()
    assert found.rate == pytest.approx(found.people.value)


def test_verdicts_of_a_unit_never_decide_its_own_weight() -> None:
    _, people, labels, design = play(3, judged=0.3, right=0.8)
    mine = design["unit"] == 5
    other = people.copy()
    other[:, mine] = 1 - other[:, mine]
    weights = []
    for verdicts in (people, other):
        outcomes = make_outcomes(verdicts, **design)
        both = powered_rates._combine(outcomes, make_outcomes(labels.astype(float), **design))
        own, every = both.judged / 240, np.full(both.judged.shape, 1 / 80)
        member = np.eye(2)[design["category"]]
        weights.append(powered_rates._fit_weights(both, own, every, member, outcomes))
    assert (weights[0][:, mine] == weights[1][:, mine]).all()
    assert (weights[0] != weights[1]).any() and (weights[0] >= 0).all()


def test_weight_is_covariance_over_variance_in_other_folds(monkeypatch) -> None:
    monkeypatch.setattr(powered_rates, "FOLDS", 3)
    rng = np.random.default_rng(4)
    people = np.where(np.arange(4) < 2, rng.integers(0, 2, (1, 12, 4)), np.nan)
    labels = rng.integers(0, 2, (1, 12, 4)).astype(float)
    outcomes = make_outcomes(people)
    both = powered_rates._combine(outcomes, make_outcomes(labels))
    even = np.full((1, 12), 1 / 12)
    found = powered_rates._fit_weights(both, even, even, np.ones((12, 1)), outcomes)[0]
    gap, fold = (both.label - both.label_of_all)[0], powered_rates._fold_units(outcomes)
    assert np.bincount(fold).tolist() == [4, 4, 4]
    for left in range(3):
        x, y = gap[fold != left], both.people[0, fold != left]
        slope = np.cov(x, y)[0, 1] / x.var(ddof=1)
        assert found[fold == left] == pytest.approx(np.clip(slope, 0, 1))


def test_folds_keep_units_whole_and_even() -> None:
    outcomes = make_outcomes(np.zeros((1, 60, 1)), unit=np.arange(60) % 23)
    fold = powered_rates._fold_units(outcomes)
    per_unit = [set(fold[outcomes.unit == unit]) for unit in range(23)]
    assert all(len(folds) == 1 for folds in per_unit)
    sizes = np.bincount([folds.pop() for folds in per_unit])
    assert len(sizes) == 10 and sizes.max() - sizes.min() == 1


def test_rates_are_refused_with_a_reason() -> None:
    _, people, labels, design = play(1, judged=0.5, right=0.9)
    complete = np.nan_to_num(people, nan=1.0)
    few = {"category": design["category"], "unit": np.arange(80) % 3}
    auto = np.zeros(people.shape, bool)
    auto[0, 0, 0] = True
    cases = {
        "nothing judged": estimate(np.full(people.shape, np.nan), labels, **design),
        "all of it is judged": estimate(complete, labels, **design),
        "a rule has resolved some": estimate(people, labels, **design, auto=auto),
        "nothing that is judged has a label": estimate(people, labels * np.nan, **design),
        "needs 4 effective units": estimate(people, labels, **few),
    }
    for reason, found in cases.items():
        assert found.reasons[0].startswith(reason) and np.isnan(found.rate[0])
    fine = estimate(people, labels, **design)
    assert fine.reasons == ("",) and np.isfinite(fine.interval).all()


def test_labels_missing_at_random_withhold_no_rate() -> None:
    truth, people, labels, design = play(400, judged=0.2, right=0.95)
    missing = np.random.default_rng(8).random(labels.shape) < 0.3
    found = estimate(people, np.where(missing, np.nan, labels), **design)
    assert not any(found.reasons) and 0.92 <= count_covered(found, truth) <= 0.985
    assert (found.se / found.people.se).mean() < 0.95
    second = (design["category"] == 1)[:, None]
    without = estimate(people, np.where(second, 0.5, labels), **design)
    assert estimate(people, np.where(second, np.nan, labels), **design).rate == pytest.approx(
        without.rate
    )


def test_abstentions_of_a_program_bias_no_rate() -> None:
    truth, people, labels, design = play(400, judged=0.2, right=0.95)
    # It abstains mostly where people see failures, which no random gap would do.
    often = np.where(labels, 0.05, 0.6)
    abstains = np.random.default_rng(8).random(labels.shape) < often
    made = make_outcomes(np.where(abstains, np.nan, labels), unjudgeable=abstains, **design)
    found = estimate_powered_rates(make_outcomes(people, **design), made)
    assert not any(found.reasons) and 0.92 <= count_covered(found, truth) <= 0.985
    assert abs(found.rate.mean() - truth) < 0.01


def test_continuations_that_cannot_be_judged_are_left_out() -> None:
    _, people, labels, design = play(2, judged=0.4, right=0.9)
    dark = np.broadcast_to(np.arange(10) >= 7, people.shape)
    people = np.where(dark, np.nan, people)
    found = estimate(people, labels, **design, unjudgeable=dark)
    without = estimate(people[..., :7], labels[..., :7], **design)
    assert found.rate == pytest.approx(without.rate) and found.judgeable.tolist() == [560, 560]


def test_part_chosen_by_its_labels_is_noticed() -> None:
    _, people, labels, design = play(60, judged=0.3, right=0.9)
    random = estimate(people, labels, **design)
    assert np.mean([reason != "" for reason in random.reasons]) < 0.04
    drawn = np.random.default_rng(0).random(labels.shape) < np.where(labels, 0.45, 0.15)
    chosen = estimate(np.where(drawn, labels, np.nan), labels, **design)
    assert np.mean(["no random part" in reason for reason in chosen.reasons]) > 0.95


@pytest.mark.landing
@pytest.mark.parametrize(
    ("studies", "low", "high"),
    [(300, 0.905, 0.99), pytest.param(800, 0.92, 0.98, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize(
    ("right", "middle", "narrower"), [(0.5, 0.0, 1.03), (0.97, 0.0, 0.86), (0.9, -3.0, 1.0)]
)
def test_powered_rates_cover_whatever_the_labels_are(
    right, middle, narrower, studies, low, high
) -> None:
    truth, people, labels, design = play(studies, judged=0.2, right=right, middle=middle)
    found = estimate(people, labels, **design)
    assert low <= count_covered(found, truth) <= high
    assert np.nanmean(found.se) < narrower * np.nanmean(found.people.se)
    if middle:  # at a rate of 1/2 errors of both kinds cancel
        alone = estimate_means(labels.mean(axis=2), design["category"], design["unit"])
        assert count_covered(alone, truth) < 0.5
