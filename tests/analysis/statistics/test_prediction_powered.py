"""Prediction-powered rates: by hand, what they refuse to see, and what a rule costs or saves."""

from __future__ import annotations

import numpy as np
import pytest

from sts_analysis.statistics import prediction_powered as estimator
from sts_analysis.statistics.outcomes import summarise
from sts_analysis.statistics.pass_rates import pass_rates
from sts_analysis.statistics.prediction_powered import Beside, Powered
from tests.analysis.hard_cases.case import inside
from tests.analysis.hard_cases.powered import Study, in_sample, study

ONE = (4,) * 20


def rates(own: Study, *, helped: bool = True) -> Powered:
    weight = estimator.fitted_weights(own.beside, own.category, own.fold, own.world)
    used = weight if helped else np.zeros(weight.shape)
    return estimator.powered_rates(own.beside, own.category, used, own.world)


def test_a_scenario_is_moved_by_what_the_rule_says_of_its_judged_part_by_hand() -> None:
    # Judged 2 of 4 everywhere. s0: people 1/2, rule 1/2 there and 1/4 of all; s1: 1, 1 and 3/4;
    # s2: 0, 0 and 1/2. With a weight of .8: .5 - .8 (.25), 1 - .8 (.25), 0 + .8 (.5).
    people = np.array([[[1, 0, np.nan, np.nan], [1, 1, np.nan, np.nan], [0, 0, np.nan, np.nan]]])
    rule = np.array([[[1.0, 0, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1]]])
    beside = estimator.lay_beside(people, rule, np.ones(rule.shape, bool))
    moved = np.array([0.5 - 0.8 * 0.25, 1 - 0.8 * 0.25, 0.8 * 0.5])
    found = estimator.powered_rates(beside, np.zeros(3, int), np.full((1, 3), 0.8))
    assert found.rate[0] == pytest.approx(moved.mean())
    assert found.error[0] == pytest.approx(moved.std(ddof=1) / np.sqrt(3))
    assert found.df[0] == pytest.approx(2) and found.weight[0] == pytest.approx(0.8)


def test_a_scenario_that_nobody_judged_counts_by_the_rule_by_hand() -> None:
    # s2 is not judged; all of the others is. Rates .5 and 1, rule alike; the rule has 0 for s2.
    people = np.array([[[1.0, 0], [1, 1], [np.nan, np.nan]]])
    rule = np.array([[[1.0, 0], [1, 1], [0, 0]]])
    beside = estimator.lay_beside(people, rule, np.ones(rule.shape, bool))
    found = estimator.powered_rates(beside, np.zeros(3, int), np.ones((1, 3)))
    assert found.rate[0] == pytest.approx(0.5)  # .75 by people, .25 above the rule's mean of all
    assert estimator.powered_rates(beside, np.zeros(3, int), np.zeros((1, 3))).rate[0] == 0.75


def test_without_the_rule_it_is_the_pass_rate() -> None:
    own = study(60, (1,) * 24, judged=0.15, middle=-2.0)
    fresh = estimator.powered_rates(own.beside, own.category, np.zeros((60, 24)))
    usual = pass_rates(summarise(own.people), own.category, target="sampled")
    for name in ("rate", "error", "df", "interval"):
        np.testing.assert_allclose(getattr(fresh, name), getattr(usual, name), rtol=1e-12)


def test_a_weight_is_covariance_over_variance_of_the_other_worlds_by_hand() -> None:
    own = study(3, (1,) * 12, judged=0.5)
    beside, category = own.beside, np.zeros(12, int)
    apart = beside.rule - beside.rule_total
    assert (beside.judged > 0).all()
    fold = np.arange(12) % 3
    weight = estimator.fitted_weights(beside, category, fold)
    for a in range(3):
        for one in range(3):
            x, y = apart[a, fold != one], beside.people[a, fold != one]
            slope = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
            assert weight[a, fold == one] == pytest.approx(np.clip(slope, 0, 1))


def test_what_people_say_of_a_world_never_sets_its_own_weight() -> None:
    own = study(1, (3,) * 8, judged=0.3)
    before = estimator.fitted_weights(own.beside, own.category, own.fold, own.world)
    other = own.people.copy()
    mine = own.world == 5
    other[:, mine] = 1 - other[:, mine]
    after = estimator.fitted_weights(
        own._replace(people=other).beside, own.category, own.fold, own.world
    )
    np.testing.assert_array_equal(before[:, mine], after[:, mine])
    assert (before != after).any()


def test_folds_come_from_the_worlds_and_not_from_their_order() -> None:
    names = [f"w{n % 23}" for n in range(60)]
    found = dict(zip(names, estimator.folds(names).tolist(), strict=True))
    backwards = dict(zip(names[::-1], estimator.folds(names[::-1]).tolist(), strict=True))
    assert found == backwards and set(found.values()) == set(range(estimator.FOLDS))
    sizes = np.bincount(list(found.values()))
    assert sizes.max() - sizes.min() <= 1
    few = estimator.folds(["b", "a", "c", "a"])
    assert few[1] == few[3] and set(few) == {0, 1, 2}


def test_worlds_of_unequal_size_are_worth_fewer() -> None:
    equal, unequal = (
        rates(study(40, sizes, judged=0.5)) for sizes in ((4,) * 10, (31,) + (1,) * 9)
    )
    assert equal.units[0] == unequal.units[0] == 10
    assert equal.worth[0] == pytest.approx(10) and unequal.worth[0] == pytest.approx(1600 / 970)
    assert unequal.df.mean() < 1.5 < equal.df.mean()


def test_what_unequal_worlds_do_is_that_of_the_quadratic_form_by_hand() -> None:
    weight = np.array([1.0, 1, 2, 3, 5]) / 12
    centred = np.eye(5) - weight
    form = centred.T @ np.diag(weight**2 * 5 / 4) @ centred
    larger, fewer = estimator.unequal(np.array([weight, np.full(5, 0.2)]))
    assert larger[0] == pytest.approx((weight**2).sum() / np.trace(form))
    assert fewer[0] == pytest.approx(np.trace(form) ** 2 / np.trace(form @ form) / 4)
    assert larger[1] == fewer[1] == 1


def test_differences_pair_what_is_hard_in_a_world_for_both() -> None:
    own = study(2, ONE, judged=0.4)
    same = own._replace(people=own.people[[0, 0, 1]], rule=own.rule[[0, 0, 1]])
    found = estimator.powered_differences(rates(same), np.array([[0, 1], [0, 2]]))
    assert found.difference[0] == 0 and np.isnan(found.interval[0]).all()  # no spread is seen
    low, high = found.interval[1]
    assert low < found.difference[1] < high
    assert found.difference[1] == pytest.approx(rates(own).rate[0] - rates(own).rate[1])


@pytest.mark.parametrize("of", [0.0, 1.0])
def test_what_is_picked_by_the_rule_is_noticed(of: float) -> None:
    own = study(200, ONE, judged=0.3)
    assert estimator.picked(own.beside, own.category).mean() < 0.02
    chosen = np.random.default_rng(0).random(own.rule.shape) < np.where(own.rule == of, 0.45, 0.15)
    success = np.where(np.isfinite(own.people), own.people, own.rule)
    people = np.where(chosen, success, np.nan)
    assert estimator.picked(own._replace(people=people).beside, own.category).mean() > 0.95


def test_what_nobody_can_judge_and_what_has_no_rule_moves_nothing() -> None:
    own = study(5, ONE, judged=0.3)
    silent = own._replace(rule=np.zeros(own.rule.shape))
    found, plain = rates(silent), rates(silent, helped=False)
    np.testing.assert_array_equal(found.interval, plain.interval)
    assert not found.weight.any()
    beside = Beside(*own.beside)
    assert (beside.total == own.rule.shape[-1]).all()
    some = np.arange(own.rule.shape[-1]) < 7
    people = np.where(some, own.people, np.nan)
    left = estimator.lay_beside(people, own.rule, np.broadcast_to(some, own.rule.shape))
    assert (left.total == 7).all()
    np.testing.assert_array_equal(left.rule_total, own.rule[..., :7].mean(axis=-1))


def widths(right: float, *, replicates: int, judged: float) -> tuple[float, float]:
    """How wide intervals are beside people's alone, and how many hold the truth."""
    own = study(replicates, ONE, judged=judged, right=(right, right))
    found, plain = rates(own), rates(own, helped=False)
    ratio = np.nanmean(found.error) / np.nanmean(plain.error)
    return float(ratio), inside(found.interval, own.truth)


def test_a_bad_rule_costs_next_to_nothing_and_a_good_one_narrows() -> None:
    (bad, bad_covers), (good, good_covers) = (
        widths(right, replicates=40, judged=0.2) for right in (0.5, 0.97)
    )
    assert 0.99 < bad < 1.04 and good < 0.85
    assert min(bad_covers, good_covers) > 0.85


@pytest.mark.slow
def test_a_bad_rule_costs_next_to_nothing_and_a_good_one_narrows_closely() -> None:
    for judged in (0.1, 0.2, 0.5):
        for right in (0.5, 0.75, 0.97):
            ratio, covers = widths(right, replicates=2000, judged=judged)
            print(f"judged {judged:.0%}, rule right {right:.0%}: {ratio:.3f} as wide, {covers:.3f}")
            assert 0.935 <= covers <= 0.975
            assert ratio < {0.5: 1.025, 0.75: 1.0, 0.97: 0.96}[right]


@pytest.mark.slow
def test_differences_of_equals_on_the_same_worlds_cover() -> None:
    own = study(8000, (4,) * 10, judged=0.3, alike=2)
    pairs = np.arange(8000).reshape(-1, 2)
    found, plain = (
        estimator.powered_differences(rates(own, helped=helped), pairs) for helped in (True, False)
    )
    width, by_people = (np.nanmean(np.diff(one.interval)) for one in (found, plain))
    covers = inside(found.interval, 0.0)
    print(f"differences of two agents cover {covers:.3f}, {width / by_people:.3f} as wide")
    assert 0.935 <= covers <= 0.975 and width < 0.95 * by_people


@pytest.mark.slow
@pytest.mark.parametrize("worlds", [5, 10, 20, 40])
def test_weights_that_are_fitted_on_what_they_correct_cover_less(worlds: int) -> None:
    own = study(4000, (4,) * worlds, judged=0.3, categories=4)
    weights = {
        "across worlds": estimator.fitted_weights(own.beside, own.category, own.fold, own.world),
        "in sample": in_sample(own),
        "in sample, by category": in_sample(own, by_category=True),
    }
    covers = {
        way: inside(
            estimator.powered_rates(own.beside, own.category, weight, own.world).interval, own.truth
        )
        for way, weight in weights.items()
    }
    print(worlds, "worlds:", {way: round(share, 3) for way, share in covers.items()})
    assert 0.935 <= covers["across worlds"] <= 0.97
    assert covers["in sample"] < covers["across worlds"]
    assert worlds > 10 or max(covers["in sample"], covers["in sample, by category"]) < 0.945


@pytest.mark.slow
@pytest.mark.parametrize(
    "worlds", [(4,) * 5, (4,) * 10, (4,) * 20, (1, 1, 1, 2, 2, 3, 4, 6, 8, 12)]
)
@pytest.mark.parametrize("middle", [0.0, -3.0])
def test_it_covers_in_few_worlds(worlds: tuple[int, ...], middle: float) -> None:
    for judged in (0.1, 0.3, 0.5):
        own = study(2000, worlds, judged=judged, middle=middle, right=(0.85, 0.95))
        covers, plain = (inside(rates(own, helped=h).interval, own.truth) for h in (True, False))
        print(f"{len(worlds)} worlds of {sum(worlds)}, rate {own.truth:.2f}, judged {judged:.0%}:")
        print(f"  {covers:.3f}, by people alone {plain:.3f}")
        assert covers >= 0.93
