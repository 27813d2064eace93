"""Pass rates corrected for annotators' errors: by hand, what is refused, and coverage."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from sts_analysis.statistics.annotators import Judging
from sts_analysis.statistics.corrected_rates import (
    CorrectedRates,
    Share,
    correct_rates,
    correct_share,
)
from sts_analysis.statistics.means import estimate_means
from sts_analysis.statistics.tabulation import Outcomes
from tests.analysis.outcomes import make_outcomes


def make_share(value: float, trials: float, df: float = np.inf) -> Share:
    return Share(value, float(np.sqrt(value * (1 - value) / trials)), df, int(trials))


def test_corrected_share_equals_the_number_by_hand() -> None:
    found = correct_share(make_share(0.5, 100), make_share(0.9, 50), make_share(0.8, 50))
    assert found[0] == pytest.approx((0.5 + 0.8 - 1) / 0.7)
    # n' = 103.84, p' = .5, Se' = 46/52, Sp' = 41/52, J' = .6731, pi' = .4286, shift
    # 7.683 (.4286 x .00196 - .5714 x .00321), then +- 1.96 sqrt(.00241 + .00036 + .00105) / J'.
    assert found[1:] == pytest.approx((0.241085, 0.600821), abs=1e-6)


def test_few_degrees_of_freedom_widen_the_corrected_interval() -> None:
    sure, few = (
        correct_share(make_share(0.5, 20, df), make_share(0.9, 50), make_share(0.9, 50))
        for df in (np.inf, 3.0)
    )
    assert few[1] < sure[1] and few[2] > sure[2] and few[0] == sure[0]


def answer(right: dict[str, tuple[float, float]], episodes: int = 20) -> pd.DataFrame:
    """Make answers with these shares of right ones, to successes and to failures."""
    rows = [
        (f"{truth}{e}", who, truth, truth if e < share * episodes else other)
        for who, shares in right.items()
        for truth, other, share in zip(
            ("success", "failure"), ("failure", "success"), shares, strict=True
        )
        for e in range(episodes)
    ]
    return pd.DataFrame(rows, columns=["continuation", "annotator", "truth", "verdict"])


def judge(y: np.ndarray, who: np.ndarray, people: str, auto: np.ndarray | None = None) -> Outcomes:
    """Make outcomes, float64[A, S, N], judged by people, int64[A, S, N]."""
    if auto is not None:
        y = np.where(auto, 0.0, y)
    each = (who[..., None] == np.arange(len(people))) / y.shape[2]
    if auto is not None:
        each = each * ~auto[..., None]
    numbers, share = np.ones(each.shape) * (each > 0), each.sum(axis=2)
    successes = (each * y[..., None]).sum(axis=2)
    counts = numbers.sum(axis=2), (numbers * y[..., None]).sum(axis=2)
    return make_outcomes(y, auto=auto, judging=Judging(tuple(people), share, successes, *counts))


Y = np.array([[[1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 1, 0], [0, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 0]]])
WHO = np.tile([0, 1, 1, 1], (1, 6, 1))


def correct(outcomes: Outcomes, right: dict[str, tuple[float, float]], **more) -> CorrectedRates:
    return correct_rates(outcomes, answer(right, **more))


def test_accuracy_is_that_of_those_who_judged_the_agent() -> None:
    found = correct(judge(Y.astype(float), WHO, "ab"), {"a": (1, 1), "b": (0.8, 0.9)})
    assert (found.sensitivity[0], found.specificity[0]) == pytest.approx((0.85, 0.925))
    assert found.value[0] == pytest.approx((Y.mean() + 0.925 - 1) / (0.85 + 0.925 - 1))
    assert found.interval[0, 0] < found.value[0] < found.interval[0, 1] and found.reasons == ("",)


def test_five_answers_to_one_episode_are_not_five_trials() -> None:
    outcomes = judge(Y.astype(float), np.zeros(Y.shape, int), "a")
    one, five = {"a": (0.9, 0.9)}, {name: (0.9, 0.9) for name in "abcde"}
    who = np.tile(np.arange(5), (1, 6, 1))[..., :4]
    many = judge(Y.astype(float), who, "abcde")
    assert np.diff(correct(many, five).interval) > 0.99 * np.diff(correct(outcomes, one).interval)


def test_auto_resolved_share_is_taken_to_be_right() -> None:
    auto = np.zeros(Y.shape, bool)
    auto[..., 2:] = True
    outcomes = judge(Y.astype(float), WHO, "ab", auto)
    found = correct(outcomes, {"a": (0.9, 0.8), "b": (0.9, 0.8)})
    apparent = Y[..., :2].mean()
    assert outcomes.value.mean() == pytest.approx(apparent / 2)
    assert found.value[0] == pytest.approx((apparent + 0.8 - 1) / 0.7 / 2)
    assert found.interval[0, 1] <= 0.5


def test_decided_verdicts_are_taken_to_be_right() -> None:
    outcomes = judge(Y.astype(float), np.where(np.arange(4) < 2, 0, -1) + 0 * Y, "a")
    found = correct(outcomes, {"a": (0.9, 0.8)})
    half = (Y[..., :2].mean() + 0.8 - 1) / 0.7
    assert found.value[0] == pytest.approx((half + Y[..., 2:].mean()) / 2)


def test_annotators_without_references_count_as_the_others_up_to_half() -> None:
    outcomes = judge(Y.astype(float), WHO, "ab")
    found = correct(outcomes, {"b": (0.9, 0.9)})
    assert (found.borrowed[0], found.sensitivity[0]) == pytest.approx((0.25, 0.9))
    who = np.tile([0, 1, 1, 2], (1, 6, 1))
    unequal = correct(judge(Y.astype(float), who, "abc"), {"b": (1, 1), "c": (0.8, 0.8)})
    assert unequal.sensitivity[0] == pytest.approx(0.5 * 1 + 0.25 * 0.8 + 0.25 * 0.9)
    most = correct(outcomes, {"a": (0.9, 0.9)})
    assert np.isnan(most.value[0]) and most.reasons[0].startswith("75% was judged by annotators")


def test_accuracy_near_guessing_is_refused() -> None:
    outcomes = judge(Y.astype(float), WHO, "ab")
    poor = correct(outcomes, {"a": (0.6, 0.6), "b": (0.6, 0.6)})
    assert np.isnan(poor.value[0]) and "may be" in poor.reasons[0]
    few = correct(outcomes, {"a": (0.75, 0.75), "b": (0.75, 0.75)}, episodes=4)
    many = correct(outcomes, {"a": (0.75, 0.75), "b": (0.75, 0.75)}, episodes=400)
    assert "below 0.3" in few.reasons[0] and many.reasons == ("",)


def test_rate_without_judgements_or_references_is_not_corrected() -> None:
    y = np.stack([np.full(Y[0].shape, np.nan), Y[0], Y[0]])
    auto = np.zeros(y.shape, bool)
    auto[2] = True
    who = np.concatenate([np.full(WHO.shape, -1), WHO, WHO])
    outcomes = judge(np.nan_to_num(y), who, "ab", auto)._replace(
        value=make_outcomes(y, auto=auto).value
    )
    one_kind = answer({"a": (1, 1)})
    reasons = correct_rates(outcomes, one_kind[one_kind["truth"] == "success"]).reasons
    assert reasons[0] == "nothing judged" and reasons[2] == "no annotator judged it"
    assert reasons[1] == "needs reference episodes of success and of failure"
    assert correct_rates(make_outcomes(y), one_kind).reasons[1] == "the annotators are not known"


def test_value_outside_is_clipped_and_reported() -> None:
    y = np.zeros((1, 20, 1))
    y[0, 0] = 1
    found = correct(judge(y, np.zeros(y.shape, int), "a"), {"a": (0.9, 0.9)})
    assert found.clipped[0] and found.value[0] == 0 and found.interval[0, 0] == 0


@pytest.mark.landing
def test_corrected_rate_covers_where_the_plain_one_does_not() -> None:
    rng, hits = np.random.default_rng(23), []
    middle = expit(2.5 + 1.5 * rng.normal(size=400_000)).mean()
    for _ in range(300):
        truth = rng.random((1, 60, 8)) < rng.beta(0.3, 1.2, (1, 60, 1))
        who = rng.integers(0, 4, truth.shape)
        y = np.where(rng.random(truth.shape) < middle, truth, ~truth).astype(float)
        hard = 1.5 * rng.normal(size=40)
        right = rng.random((4, 40)) < expit(2.5 + hard)
        rows = answer({name: (1, 1) for name in "abcd"})
        rows["verdict"] = np.where(
            right.ravel() == (rows["truth"] == "success"), "success", "failure"
        )
        outcomes = judge(y, who, "abcd")
        plain = estimate_means(outcomes.value, outcomes.category, outcomes.unit)
        ends = correct_rates(outcomes, rows).interval[0], plain.interval[0]
        if np.isfinite(ends[0]).all():
            hits.append([low <= 0.2 <= high for low, high in ends])
    covered, naive = np.mean(hits, axis=0)
    assert 0.92 <= covered <= 0.99 and naive < 0.6 and len(hits) > 200
