"""While a rule has settled some and others wait, rates do not lean to what is settled."""

from __future__ import annotations

import numpy as np
import pytest

from sts_analysis.statistics import settled
from sts_analysis.statistics.comparisons import compare
from sts_analysis.statistics.outcomes import Outcomes, Summary, summarise
from sts_analysis.statistics.pass_rates import pass_rates
from sts_analysis.statistics.sampling import scenario_weights

SILENT, RATE = 0.3, 0.6
TRUTH = (1 - SILENT) * RATE


def chances(mean: float, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Beta-distributed, with an intraclass correlation of .4."""
    return rng.beta(mean * 1.5, (1 - mean) * 1.5, shape)


def outcomes(values: np.ndarray, by_rule: np.ndarray, category: np.ndarray) -> Outcomes:
    """Of continuations, float64[A, S, N]: NaN where one waits, 0 where a rule has settled it."""
    agents, scenarios, _ = values.shape
    return Outcomes(
        tuple(map(str, range(agents))),
        np.zeros(agents, bool),
        tuple(map(str, range(scenarios))),
        category,
        tuple(map(str, range(category.max() + 1))),
        ("",) * scenarios,
        values,
        settled=by_rule.sum(axis=2),
        waiting=np.isnan(values).sum(axis=2),
    )


def studies(
    number: int,
    rng: np.random.Generator,
    *,
    each: int = 10,
    judged: float = 0.3,
    same: bool = False,
) -> tuple[Outcomes, np.ndarray]:
    """Rows of studies: eight categories of ten scenarios, a share of what is not silent judged.

    Returns:
      What is judged or settled; and the chances of success, float64[A, S].
    """
    shape = (1 if same else number, 80)
    silent, able = (
        np.repeat(chances(p, shape, rng), number // shape[0], 0) for p in (SILENT, RATE)
    )
    by_rule = rng.random((number, 80, each)) < silent[..., None]
    success = (rng.random((number, 80, each)) < able[..., None]) & ~by_rule
    seen = by_rule | (rng.random((number, 80, each)) < judged)
    values = np.where(seen, success, np.nan)
    return outcomes(values, by_rule, np.repeat(np.arange(8), 10)), (1 - silent) * able


def covered(
    summary: Summary, category: np.ndarray, truth: float, target: str
) -> tuple[float, float]:
    """How far rates are off in the mean, and how often their intervals hold."""
    found = pass_rates(summary, category, target=target)
    low, high = found.interval.T
    return float(np.mean(found.rate - truth)), float(np.mean((low <= truth) & (truth <= high)))


def hold(number: int, low: float, high: float, off: float) -> None:
    """Rates and differences of simulated studies are right on average, and cover."""
    rng = np.random.default_rng(5)
    for each, judged in ((10, 0.3), (3, 0.34), (10, 0.1)):
        study, _ = studies(number, rng, each=each, judged=judged)
        mean, share = covered(settled.of_suite(study), study.category, TRUTH, "sampled")
        assert abs(mean) < off and low <= share <= high
        mean, share = covered(summarise(study.values), study.category, TRUTH, "sampled")
        assert mean < -0.09 and share < 0.6  # all that has a value alike
    study, chance = studies(number, rng, same=True)
    mean, share = covered(settled.of_suite(study), study.category, chance[0].mean(), "fixed")
    assert abs(mean) < off and low <= share <= high
    _, share = covered(summarise(study.values), study.category, chance[0].mean(), "fixed")
    assert share < 0.05


def test_rates_are_right_and_cover_where_what_has_a_value_leans() -> None:
    hold(500, 0.92, 0.98, 0.006)


@pytest.mark.slow
def test_rates_are_right_and_cover_where_what_has_a_value_leans_in_many_studies() -> None:
    hold(4000, 0.925, 0.97, 0.003)


def test_an_agent_that_is_silent_more_is_not_called_worse_for_it() -> None:
    # One says nothing three times in ten and else succeeds; the other always fails as often.
    rng = np.random.default_rng(6)
    called = {"settled": 0, "naive": 0}
    covers = 0
    for _ in range(120):
        able = chances(0.7, (80,), rng)
        done = rng.random((2, 80, 10)) < able[:, None]
        by_rule = np.stack([~done[0], np.zeros_like(done[0])])
        seen = by_rule | (rng.random(done.shape) < 0.3)
        study = outcomes(np.where(seen, done, np.nan), by_rule, np.repeat(np.arange(8), 10))
        for name, summary in (
            ("settled", settled.of_suite(study)),
            ("naive", summarise(study.values)),
        ):
            rates = pass_rates(summary, study.category, target="sampled")
            found = compare(summary, study.category, rates, target="sampled", seed=0, draws=200)
            called[name] += int(found.separated[0])
            if name == "settled":
                low, high = found.interval[0]
                covers += int(low <= 0 <= high)
    assert called["naive"] > 115
    assert covers >= 0.9 * 120 and called["settled"] <= 0.1 * 120


def test_a_scenario_is_the_open_share_times_what_is_judged_of_it() -> None:
    # Ten continuations: four settled, four judged of which three succeed, two wait.
    values = np.array([0.0] * 4 + [1, 1, 1, 0] + [np.nan] * 2)[None, None]
    study = outcomes(values, np.arange(10)[None, None] < 4, np.zeros(1, int))
    found = settled.of_scenarios(study)
    assert found.mean[0, 0] == pytest.approx(0.6 * 0.75)
    error = 0.75**2 * 0.6 * 0.4 / 9 + 0.6**2 * 0.25 / 4
    assert found.spread[0, 0] / found.number[0, 0] == pytest.approx(error)


def test_what_waits_as_a_whole_is_worth_what_the_judged_of_its_category_are() -> None:
    # All settled; three of four open and all judged; half open and none of it judged.
    rows = [[0.0, 0, 0, 0], [0, 1, 1, 0], [0, 0, np.nan, np.nan]]
    by_rule = np.array([[[1, 1, 1, 1], [1, 0, 0, 0], [1, 1, 0, 0]]], dtype=bool)
    study = outcomes(np.array([rows]), by_rule, np.zeros(3, int))
    found = settled.of_suite(study)
    assert pass_rates(found, study.category, target="sampled").rate[0] == pytest.approx(
        (0 + 0.75 + 0.5) / 3 * (2 / 3)
    )
    assert settled.of_scenarios(study).number.tolist() == [[4, 4, 0]]


def test_a_category_in_which_only_a_rule_spoke_has_no_rate_while_others_wait() -> None:
    by_rule = np.array([[[1, 1], [0, 0]]], dtype=bool)
    study = outcomes(np.array([[[0.0, 0], [np.nan, np.nan]]]), by_rule, np.zeros(2, int))
    assert not settled.of_suite(study).number.any()
    done = outcomes(np.zeros((1, 1, 2)), by_rule[:, :1], np.zeros(1, int))
    assert pass_rates(settled.of_suite(done), done.category, target="sampled").rate[0] == 0


def test_nothing_changes_where_nothing_waits_or_no_rule_spoke() -> None:
    rng = np.random.default_rng(7)
    study, _ = studies(3, rng, judged=1.0)
    waits = np.where(rng.random(study.values.shape) < 0.5, np.nan, study.values)
    without = study._replace(settled=None, waiting=None, values=waits)
    for one in (study, without):
        plain = summarise(one.values)
        for found in (settled.of_scenarios(one), settled.of_suite(one)):
            for name in ("number", "mean", "spread"):
                np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))
        for among in settled.parts(one):
            assert (among == np.maximum(plain.number, 1)).all()


def test_continuations_add_up_to_the_rate() -> None:
    study, _ = studies(4, np.random.default_rng(8), each=3, judged=0.34)
    whole, parts = settled.of_suite(study), settled.parts(study)
    weights = scenario_weights(whole.number > 0, study.category)[..., None]
    by_rule = np.arange(3) < study.settled[..., None]  # type: ignore[index]
    judged = np.isfinite(study.values).sum(axis=2) - study.settled
    of_rule = (weights / parts.settled[..., None] * by_rule).sum(axis=(1, 2))
    each = weights[..., 0] / parts.judged
    rates = pass_rates(whole, study.category, target="sampled").rate
    assert (each * np.nansum(study.values, axis=2)).sum(axis=1) == pytest.approx(rates)
    assert of_rule + (each * judged).sum(axis=1) == pytest.approx(1)
