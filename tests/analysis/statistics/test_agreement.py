"""Alpha and kappa: published numbers, whole units left out, and coverage near and far from 1."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from sts.agreement import compute_alpha
from sts_analysis.statistics.agreement import Agreement, measure_alpha, measure_kappa
from sts_analysis.statistics.estimate import quantile
from sts_analysis.statistics.tabulation import Outcomes
from tests.analysis.outcomes import make_outcomes


def judge(clip, success, *, per_scenario: int = 1, scenario=None, **columns) -> pd.DataFrame:
    """Make judgements of clips, int64[N]; some clips in turn are of a scenario."""
    clip = np.asarray(clip)
    place = clip // per_scenario if scenario is None else np.asarray(scenario)
    verdict = np.where(np.asarray(success, bool), "success", "not_done")
    names = {"clip": [f"k{c}" for c in clip], "scenario": [f"s{s:03}" for s in place]}
    return pd.DataFrame(names | {"continuation": clip, "verdict": verdict} | columns)


def suite(scenarios: int, unit: np.ndarray | None = None) -> Outcomes:
    return make_outcomes(np.zeros((1, scenarios, 1)), unit=unit)


def label(rule: np.ndarray, per_scenario: int, unit: np.ndarray | None = None) -> Outcomes:
    """Make labels of continuations, float64[C]."""
    return make_outcomes(rule.reshape(1, -1, per_scenario).astype(float), unit=unit)


BEN, GERRY = ([int(mark) for mark in word] for word in ("0100000010", "1110010000"))


def test_alpha_equals_krippendorffs_binary_example() -> None:
    # Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section B.
    found = measure_alpha(judge(np.tile(np.arange(10), 2), BEN + GERRY), suite(10))
    assert found.value == pytest.approx(0.095, abs=5e-4) and found.share == 0.6
    assert (found.judgements, found.items, found.units, found.reason) == (20, 10, 10, "")


def test_alpha_of_unequal_numbers_of_verdicts_is_that_of_evalica() -> None:
    rng = np.random.default_rng(4)
    clip = rng.integers(0, 40, 110)
    rows = judge(clip, rng.random(110) < 0.3 + 0.4 * (clip % 2))
    person = rows.groupby("clip").cumcount().to_numpy()
    things = pd.DataFrame({"thing": clip, "person": person, "yes": rows["verdict"] == "success"})
    oracle = compute_alpha(things, seed=0, draws=10)
    found = measure_alpha(rows, suite(40))
    assert found.value == pytest.approx(oracle.alpha) and found.items == oracle.shared


def leave_out(rows: pd.DataFrame, unit: np.ndarray, measure) -> np.ndarray:
    """Measure without each unit, int64[S] of scenarios: float64[U]."""
    of_row = unit[rows["scenario"].str[1:].astype(int)]
    return np.array([measure(rows[of_row != u]).value for u in range(unit.max() + 1)])


def check_interval(found: Agreement, left: np.ndarray, expected: float) -> None:
    """Check Wilson's interval of the share with the error of values without a unit, float64[U]."""
    units = len(left)
    se = expected * np.sqrt((units - 1) / units * ((left - left.mean()) ** 2).sum())
    t = float(quantile(units - 1.0))
    ends = 1 - (1 - found.interval) * expected
    for end in ends:  # Wilson's ends solve (end - share)^2 = t^2 end (1 - end) / n
        trials = found.share * (1 - found.share) / se**2
        assert (end - found.share) ** 2 == pytest.approx(t**2 * end * (1 - end) / trials)


def test_interval_of_alpha_leaves_out_whole_units() -> None:
    rng, unit = np.random.default_rng(5), np.arange(20) // 3
    clip = np.tile(np.arange(60), 2)
    rows = judge(clip, rng.random(120) < 0.2 + 0.6 * (clip % 2), per_scenario=3)
    outcomes = suite(20, unit)
    found = measure_alpha(rows, outcomes)
    assert found.units == 7
    left = leave_out(rows, unit, lambda some: measure_alpha(some, outcomes))
    check_interval(found, left, (1 - found.share) / (1 - found.value))


def test_interval_of_kappa_leaves_out_whole_units() -> None:
    rng, unit = np.random.default_rng(6), np.arange(20) // 3
    rule = rng.random(60) < 0.5
    labels = label(rule, 3, unit)
    rows = judge(np.arange(60), rule ^ (rng.random(60) < 0.25), per_scenario=3)
    found = measure_kappa(rows, labels)
    left = leave_out(rows, unit, lambda some: measure_kappa(some, labels))
    check_interval(found, left, (1 - found.share) / (1 - found.value))


def test_full_agreement_has_the_interval_of_a_share_of_units() -> None:
    same = np.tile(np.arange(20) % 2, 2)
    found = measure_alpha(judge(np.tile(np.arange(20), 2), same), suite(20))
    # Wilson's lower end of 20 of 20 is 1 - .161125; 20/39 of verdicts differ by chance.
    assert found.value == 1 and found.interval[1] == 1
    assert found.interval[0] == pytest.approx(1 - 0.161125 / (20 / 39), abs=1e-5)


def test_rubric_conditions_are_items_apart() -> None:
    clip, success = np.tile(np.arange(6), 4), [1, 0, 1, 0, 1, 0] * 2 + [1] * 12
    shown = np.repeat(["0", "1"], 12)
    found = measure_alpha(judge(clip, success, rubric_shown=shown), suite(6))
    assert (found.items, found.value) == (12, 1)
    assert measure_alpha(judge(clip, success), suite(6)).value < 0.5


def test_agreement_without_overlap_or_variety_is_undefined() -> None:
    alone = measure_alpha(judge([0, 1], [1, 0]), suite(2))
    assert np.isnan(alone.value) and "two verdicts" in alone.reason and alone.units == 0
    same = measure_alpha(judge([0, 0, 1, 1], [1] * 4), suite(2))
    assert np.isnan(same.value) and "all verdicts are the same" in same.reason and same.share == 1
    unable = judge([0, 0, 1, 1], [1, 0, 1, 1]).assign(verdict=["success", "cannot_judge", "", ""])
    assert measure_alpha(unable, suite(2)).items == 0
    one = measure_alpha(judge([0, 0, 1, 1], [1, 0, 1, 1], scenario=[0] * 4), suite(1))
    assert np.isfinite(one.value) and np.isnan(one.interval).all(), "of a single unit"
    with pytest.raises(ValueError, match="expected scenarios of agents, found 's002'"):
        measure_alpha(judge([0, 2], [1, 1]), suite(2))


def test_kappa_equals_the_number_by_hand() -> None:
    people = np.arange(10) < 6
    rule = np.isin(np.arange(10), [0, 1, 2, 3, 4, 9])
    rows = judge([*range(10), 0], [*people, True])
    rows.loc[10, "verdict"] = "cannot_judge"
    found = measure_kappa(rows, label(rule, 1))
    assert found.share == 0.8 and found.value == pytest.approx((0.8 - 0.52) / 0.48)
    gaps = label(np.where(np.arange(10) < 5, rule, np.nan), 1)
    assert (measure_kappa(rows, gaps).items, measure_kappa(rows, gaps).judgements) == (5, 5)


def simulate(rng, unit, clips: int, ease: float, hard: float) -> list[np.ndarray]:
    """Simulate verdicts of two annotators on clips of scenarios: bool[S * clips] each."""

    def vary(size: float) -> np.ndarray:
        of_unit = rng.normal(0, size, unit.max() + 1)[unit]
        return np.sqrt(0.5) * (of_unit + rng.normal(0, size, len(unit)))

    truth = rng.random((len(unit), clips)) < expit(vary(1.5))[:, None]
    accuracy = expit(ease + vary(hard))[:, None]
    return [(truth ^ (rng.random(truth.shape) > accuracy)).ravel() for _ in range(2)]


@pytest.mark.landing
@pytest.mark.parametrize(
    ("studies", "low", "high"),
    [(120, 0.9, 0.99), pytest.param(300, 0.92, 0.975, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize(("ease", "hard"), [(2.0, 1.5), (4.0, 1.0)], ids=["hard", "easy"])
def test_alpha_covers_where_the_bootstrap_of_clips_does_not(ease, hard, studies, low, high) -> None:
    rng, unit, many = np.random.default_rng(8), np.arange(100) // 5, np.arange(40_000) // 5
    clips, outcomes = np.tile(np.arange(600), 2), suite(100, unit)
    pairs = simulate(rng, many, 6, ease, hard)
    both = np.concatenate(pairs)
    truth = 1 - (pairs[0] != pairs[1]).mean() / (2 * both.mean() * (1 - both.mean()))
    rows, hits = judge(clips, clips, per_scenario=6), []
    for _ in range(studies):
        first, second = simulate(rng, unit, 6, ease, hard)
        verdict = np.where(np.concatenate([first, second]), "success", "failure")
        own = measure_alpha(rows.assign(verdict=verdict), outcomes).interval
        drawn = rng.multinomial(600, np.full(600, 1 / 600), 200)
        yes = drawn @ (first.astype(float) + second)
        alpha = 1 - 1199 * (drawn @ (first != second)) / (yes * (1200 - yes))
        ends = np.quantile(alpha, [0.025, 0.975])
        hits.append([start <= truth <= end for start, end in (own, ends)])
    covered, naive = np.mean(hits, axis=0)
    assert low <= covered <= high and naive < 0.9


@pytest.mark.landing
def test_alpha_of_drawn_verdicts_is_about_zero() -> None:
    rng, rows, scenarios = np.random.default_rng(9), 240_000, 1600
    clip = rng.integers(0, 150_000, rows)
    names = {
        "clip": (clip, pd.Index([f"k{c}" for c in range(150_000)])),
        "scenario": (clip % scenarios, pd.Index([f"s{s:03}" for s in range(scenarios)])),
        "verdict": (rng.integers(0, 2, rows), pd.Index(["failure", "success"])),
    }
    columns = {name: pd.Categorical.from_codes(*coded) for name, coded in names.items()}
    table = pd.DataFrame(columns | {"continuation": clip})
    found = measure_alpha(table, suite(scenarios))
    assert found.units == scenarios and found.interval[0] < 0 < found.interval[1]
