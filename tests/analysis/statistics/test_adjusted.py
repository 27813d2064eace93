"""Who judged whom is not taken for a difference between agents, by hand and by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from sts_analysis.statistics.adjusted import Adjusted, adjusted
from sts_analysis.statistics.comparisons import Comparisons, compare
from sts_analysis.statistics.judgement_shares import Shares
from sts_analysis.statistics.outcomes import summarise
from sts_analysis.statistics.pass_rates import pass_rates
from tests.analysis.judges import Judged, assigned, chances, judge

FAST, SLOW = 100, 4000
GOOD, STRICT = np.array([0.95, 0.9]), np.array([0.95, 0.85])
"""Sensitivity and specificity of two annotators."""


def both(study: Judged, target: str) -> tuple[Comparisons, Adjusted]:
    category = np.repeat(np.arange(study.summary.number.shape[1] // 10), 10)
    rates = pass_rates(study.summary, category, target=target)
    plain = compare(study.summary, category, rates, target=target, seed=0, draws=20)
    beside = adjusted(study.shares, study.summary, category, plain, target=target, seed=0, draws=20)
    return plain, beside


def errs(
    rate: float, target: str, split: tuple[float, float], replicates: int, scenarios: int = 160
) -> tuple[float, float, float]:
    """How often two equal agents are called different, plainly and adjusted, and cannot be told."""
    found = []
    for seed in range(replicates):
        rng = np.random.default_rng(seed)
        shape = (2, scenarios)
        chance = chances(rng, shape, rate=rate, icc=0.4, equal=target == "fixed")
        study = judge(rng, chance, assigned(rng, (*shape, 10), split), GOOD, STRICT)
        plain, beside = both(study, target)
        found.append((plain.p[0] < 0.05, beside.p[0] < 0.05, not beside.told[0]))
    naive, ours, untold = np.mean(found, axis=0)
    return float(naive), float(ours), float(untold)


@pytest.mark.parametrize(("rate", "target", "least"), [(0.02, "sampled", 0.9), (0.5, "fixed", 0.2)])
def test_agents_judged_by_one_person_each_cannot_be_told_apart_ever(
    rate: float, target: str, least: float
) -> None:
    naive, ours, untold = errs(rate, target, (1.0, 0.0), 60)
    assert untold == 1 and ours == 0 and naive > least


@pytest.mark.parametrize("target", ["sampled", pytest.param("fixed", marks=pytest.mark.slow)])
def test_the_adjusted_test_keeps_its_level_where_the_plain_one_errs(target: str) -> None:
    naive, ours, untold = errs(0.02, target, (0.8, 0.2), FAST)
    assert untold == 0 and naive > 0.8 and ours < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sampled", "fixed"])
@pytest.mark.parametrize(("rate", "least"), [(0.02, 0.5), (0.5, 0.06)])
def test_the_adjusted_test_errs_in_at_most_six_of_a_hundred_studies(
    rate: float, least: float, target: str
) -> None:
    naive, ours, untold = errs(rate, target, (0.8, 0.2), SLOW)
    print(f"80/20 {rate} {target}: plain {naive:.3f}, adjusted {ours:.3f}")
    assert untold == 0 and naive > least and ours <= 0.06
    naive, _, untold = errs(rate, target, (1.0, 0.0), 1000)
    print(f"one each {rate} {target}: plain {naive:.3f}, flagged {untold:.3f}")
    assert untold == 1


def by_hand(who: list[list[int]], said: list[list[float]]) -> Judged:
    """Two agents, a continuation of each a scenario: who judged it, and what they said."""
    values = np.array(said, dtype=np.float64)[..., None]
    each = np.array(who)[..., None] == np.arange(np.max(who) + 1)
    shares = Shares(tuple("xyz"[: each.shape[2]]), each.astype(float), each * values)
    return Judged(shares, summarise(values), values[..., 0])


def test_what_an_annotator_adds_is_taken_off_by_hand() -> None:
    # x judges A twice and B once, y the other way round; y passes whatever x fails in B.
    who = [[0, 0, 1, 1] * 5, [0, 1, 0, 1] * 5]
    said = [[1.0, 1, 0, 0] * 5, [1.0, 0, 1, 0] * 5]  # x passes all, y nothing
    plain, beside = both(by_hand(who, said), "sampled")
    assert plain.difference[0] == pytest.approx(0) and beside.difference[0] == pytest.approx(0)
    assert beside.effects.effect == pytest.approx([0.5, -0.5])
    who = [[0, 0, 0, 1] * 5, [0, 1, 1, 1] * 5]
    said = [[1.0, 1, 1, 0] * 5, [1.0, 0, 0, 0] * 5]
    plain, beside = both(by_hand(who, said), "sampled")
    assert plain.difference[0] == pytest.approx(0.5)
    assert beside.difference[0] == pytest.approx(0) and beside.apart[0] == pytest.approx(0.5)


def test_one_annotator_changes_nothing_of_a_comparison() -> None:
    rng = np.random.default_rng(1)
    chance = chances(rng, (2, 40), rate=0.5, icc=0.4, equal=False)
    one = np.zeros((2, 40, 5), dtype=np.int64)
    plain, beside = both(judge(rng, chance, one, np.array([0.9]), np.array([0.9])), "sampled")
    assert beside.told.all()
    for name in ("difference", "error", "interval", "p", "p_adjusted"):
        np.testing.assert_array_equal(getattr(beside, name), getattr(plain, name))


def test_a_third_agent_connects_two_that_nobody_judged_both() -> None:
    rng = np.random.default_rng(2)
    chance = chances(rng, (3, 40), rate=0.5, icc=0.4, equal=False)
    who = np.zeros((3, 40, 4), dtype=np.int64)
    who[1] = 1
    who[2] = rng.integers(0, 2, (40, 4))
    study = judge(rng, chance, who, GOOD, STRICT)
    _, beside = both(study, "sampled")
    assert beside.told.all()
    _, without = both(
        study._replace(
            shares=study.shares.of_agents(np.array([0, 1])),
            summary=study.summary.at(np.array([0, 1])),
        ),
        "sampled",
    )
    assert not without.told.any() and np.isnan(without.p).all()


def test_few_scenarios_are_tested_by_sign_flips_in_both() -> None:
    # With five scenarios no sign flip says anything at 95%, however far apart the agents are.
    rng = np.random.default_rng(4)
    chance = np.array([[0.9] * 5, [0.1] * 5])
    who = assigned(rng, (2, 5, 10), (0.7, 0.3))
    study = judge(rng, chance, who, GOOD, STRICT)
    category = np.zeros(5, dtype=np.int64)
    rates = pass_rates(study.summary, category, target="sampled")
    plain = compare(study.summary, category, rates, target="sampled", seed=0, draws=20)
    beside = adjusted(
        study.shares, study.summary, category, plain, target="sampled", seed=0, draws=20
    )
    assert beside.difference[0] > 0.5 and beside.p[0] == plain.p[0] == 2 / 2**5
