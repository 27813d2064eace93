"""Prediction-powered rates: by hand, what they refuse, and what labels cost or save."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import expit

from sts_analysis.statistics import powered_rates
from sts_analysis.statistics.annotators import Judging
from sts_analysis.statistics.means import Means, estimate_means
from sts_analysis.statistics.powered_rates import LabelControl, fit_labels
from sts_analysis.statistics.rates import RateModel, Rates
from sts_analysis.statistics.tabulation import Outcomes
from tests.analysis.outcomes import estimate_mean, make_outcomes

GAP = np.nan


class Estimates(NamedTuple):
    """Rates with labels, how these correct, and rates by people alone."""

    powered: Rates
    control: LabelControl
    people: Rates


def combine(people: Outcomes, labels: Outcomes) -> Estimates:
    control = fit_labels(people, labels)
    powered = RateModel(people, control=control).estimate_rates()
    return Estimates(powered, control, RateModel(people).estimate_rates())


def estimate(people, labels, **design) -> Estimates:
    more = {name: design.pop(name) for name in ("auto", "unjudgeable") if name in design}
    return combine(
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
    powered, control = found.powered, found.control
    assert (powered.rate[0], powered.se[0]) == pytest.approx((0.5, moved.se[0]))
    assert (powered.df[0], control.weight[0]) == pytest.approx((2, 0.8))
    assert (control.judged[0], control.judgeable[0]) == (6, 12) and control.reasons == ("",)


def test_scenario_without_verdicts_counts_by_its_labels(monkeypatch) -> None:
    people, labels = [[[1, 0], [1, 1], [GAP, GAP]]], [[[1, 0], [1, 1], [0, 0]]]
    fix_weight(monkeypatch, 1.0)
    assert estimate(people, labels).powered.rate[0] == pytest.approx(0.5)  # .75, less a quarter
    fix_weight(monkeypatch, 0.0)
    assert estimate(people, labels).powered.rate[0] == pytest.approx(0.75)


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


def count_covered(means: Rates | Means, truth: float) -> float:
    ends = means.interval[np.isfinite(means.interval[:, 0])]
    return float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())


def test_equal_labels_change_nothing() -> None:
    _, people, _, design = play(5, judged=0.3, right=0.9)
    found = estimate(people, np.zeros(people.shape), **design)
    assert found.powered.interval == pytest.approx(found.people.interval)
    assert found.powered.rate == pytest.approx(found.people.rate)
    assert not found.control.weight.any()


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
        assert found.control.reasons[0].startswith(reason) and np.isnan(found.control.weight[0])
        assert found.powered.interval == pytest.approx(found.people.interval, nan_ok=True)
    fine = estimate(people, labels, **design)
    assert fine.control.reasons == ("",) and fine.powered.se < fine.people.se


@pytest.mark.landing
def test_labels_missing_at_random_withhold_no_rate() -> None:
    truth, people, labels, design = play(250, judged=0.2, right=0.95)
    missing = np.random.default_rng(8).random(labels.shape) < 0.3
    found = estimate(people, np.where(missing, np.nan, labels), **design)
    assert not any(found.control.reasons)
    assert 0.92 <= count_covered(found.powered, truth) <= 0.985
    assert (found.powered.se / found.people.se).mean() < 0.95
    second = (design["category"] == 1)[:, None]
    without = estimate(people, np.where(second, 0.5, labels), **design)
    nothing = estimate(people, np.where(second, np.nan, labels), **design)
    assert nothing.powered.rate == pytest.approx(without.powered.rate)


def test_abstentions_of_a_program_bias_no_rate() -> None:
    truth, people, labels, design = play(250, judged=0.2, right=0.95)
    # It abstains mostly where people see failures, which no random gap would do.
    often = np.where(labels, 0.05, 0.6)
    abstains = np.random.default_rng(8).random(labels.shape) < often
    made = make_outcomes(np.where(abstains, np.nan, labels), unjudgeable=abstains, **design)
    found = combine(make_outcomes(people, **design), made)
    assert not any(found.control.reasons)
    assert 0.92 <= count_covered(found.powered, truth) <= 0.985
    assert abs(found.powered.rate.mean() - truth) < 0.01


def test_continuations_that_cannot_be_judged_are_left_out() -> None:
    _, people, labels, design = play(2, judged=0.4, right=0.9)
    dark = np.broadcast_to(np.arange(10) >= 7, people.shape)
    people = np.where(dark, np.nan, people)
    found = estimate(people, labels, **design, unjudgeable=dark)
    without = estimate(people[..., :7], labels[..., :7], **design)
    assert found.powered.rate == pytest.approx(without.powered.rate)
    assert found.control.judgeable.tolist() == [560, 560]


def test_part_chosen_by_its_labels_is_noticed() -> None:
    _, people, labels, design = play(60, judged=0.3, right=0.9)
    random = estimate(people, labels, **design)
    assert np.mean([reason != "" for reason in random.control.reasons]) < 0.04
    drawn = np.random.default_rng(0).random(labels.shape) < np.where(labels, 0.45, 0.15)
    chosen = estimate(np.where(drawn, labels, np.nan), labels, **design)
    assert np.mean(["no random part" in reason for reason in chosen.control.reasons]) > 0.95


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
    assert low <= count_covered(found.powered, truth) <= high
    assert np.nanmean(found.powered.se) < narrower * np.nanmean(found.people.se)
    if middle:  # at a rate of 1/2 errors of both kinds cancel
        alone = estimate_means(labels.mean(axis=2), design["category"], design["unit"])
        assert count_covered(alone, truth) < 0.5


def play_judged(seed: int) -> tuple[Outcomes, Outcomes, np.ndarray]:
    """Play a study of two agents of the same skill: people, labels, and how annotators rate each.

    Four annotators judge one of three continuations in each of 120 scenarios; two of them judge
    mostly the first agent. Their strictness varies by 1.6 logits. Labels are right in 95%.
    """
    rng = np.random.default_rng(seed)
    ease = rng.normal(0, 1.2, (1, 120, 1)) + rng.normal(0, 1, (2, 120, 3))
    labels = (ease > 0) ^ (rng.random(ease.shape) < 0.05)
    strictness = rng.normal(0, 1.6, 4)
    weight = np.where(np.arange(4) % 2 == np.arange(2)[:, None], 0.85, 0.15)
    who = (rng.standard_exponential((2, 120, 4)) / weight[:, None]).argmin(axis=2)
    success = rng.random((2, 120)) < expit(2.5 * ease[..., 0] - strictness[who])
    judgements = np.eye(4)[who]
    passed = judgements * success[..., None]
    judging = Judging(("k0", "k1", "k2", "k3"), judgements, passed, judgements, passed)
    people = np.full(ease.shape, np.nan)
    people[..., 0] = success
    others = rng.normal(0, np.hypot(1.2, 1), 20_000)
    workload = judgements.mean(axis=(0, 1))
    truth = expit(2.5 * others[:, None] - strictness).mean(axis=0) @ workload
    return make_outcomes(people, judging=judging), make_outcomes(labels * 1.0), np.full(2, truth)


@pytest.mark.parametrize(
    ("studies", "low", "high"),
    [(60, 0.87, 1.0), pytest.param(1000, 0.925, 0.975, marks=pytest.mark.slow)],
)
def test_powered_rates_and_differences_hold_for_the_pool_of_annotators(studies, low, high) -> None:
    covered: list[list[float]] = []
    naive: list[list[float]] = []
    for seed in range(studies):
        people, labels, truth = play_judged(seed)
        for outcomes, results in ((people, covered), (people._replace(judging=None), naive)):
            model = RateModel(outcomes, control=fit_labels(outcomes, labels))
            ends = model.compare(np.arange(2)).interval[0]
            results.append(
                [count_covered(model.estimate_rates(), truth[0]), float(ends[0] <= 0 <= ends[1])]
            )
    assert (np.mean(covered, axis=0) >= low).all() and (np.mean(covered, axis=0) <= high).all()
    assert np.mean(naive, axis=0)[1] < 0.8
