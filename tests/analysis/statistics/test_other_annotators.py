"""Intervals for other annotators cover what these would say; those for these annotators do not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from sts_analysis.statistics.adjusted import adjusted
from sts_analysis.statistics.comparisons import compare
from sts_analysis.statistics.other_annotators import between, other_differences, other_rates
from sts_analysis.statistics.pass_rates import Rates, pass_rates
from tests.analysis.judges import Judged, chances, judge, population

SCENARIOS, CONTINUATIONS = 160, 10
CATEGORY = np.repeat(np.arange(16), 10)
WEIGHTS = np.full((2, SCENARIOS), 1 / SCENARIOS)
MEAN = float(expit(np.random.default_rng(1).normal(2.2, 1, 1_000_000)).mean())
"""Mean sensitivity, and specificity, of the population."""


def a_study(seed: int, people: int, rates: tuple[float, float], target: str) -> Judged:
    rng = np.random.default_rng(seed)
    shape = (1, SCENARIOS)
    rows = [chances(rng, shape, rate=rate, icc=0.4, equal=False) for rate in rates]
    if target == "fixed" and rates[0] == rates[1]:
        rows[1] = rows[0]
    who = rng.integers(0, people, (2, SCENARIOS, CONTINUATIONS))
    se, sp = population(rng, people), population(rng, people)
    return judge(rng, np.concatenate(rows), who, se, sp)


def said(rate: np.ndarray | float) -> np.ndarray | float:
    """What the mean annotator of the population says of a true rate."""
    return rate * MEAN + (1 - rate) * (1 - MEAN)


def rates_of(study: Judged, target: str) -> tuple[Rates, Rates]:
    plain = pass_rates(study.summary, CATEGORY, target=target)
    many = np.full(2, SCENARIOS)
    return plain, other_rates(plain, between(study.shares, WEIGHTS), many)


def coverage(people: int, rate: float, target: str, replicates: int) -> tuple[float, float]:
    """Of the interval for these annotators, and of the one for others."""
    hits = []
    for seed in range(replicates):
        study = a_study(seed, people, (rate, rate), target)
        truth = said(rate if target == "sampled" else study.chance[0].mean())
        hits.append(
            [one.interval[0, 0] <= truth <= one.interval[0, 1] for one in rates_of(study, target)]
        )
    naive, ours = np.mean(hits, axis=0)
    return float(naive), float(ours)


@pytest.mark.parametrize(
    ("people", "target", "worst"), [(3, "sampled", 0.75), (5, "fixed", 0.7), (10, "sampled", 0.9)]
)
def test_rates_cover_for_other_annotators_and_not_for_these(
    people: int, target: str, worst: float
) -> None:
    naive, ours = coverage(people, 0.5, target, 100)
    assert naive < worst and ours > 0.92


@pytest.mark.slow
@pytest.mark.parametrize("people", [3, 5, 10])
@pytest.mark.parametrize("target", ["sampled", "fixed"])
@pytest.mark.parametrize("rate", [0.05, 0.5])
def test_rates_cover_for_other_annotators_closely(rate: float, target: str, people: int) -> None:
    naive, ours = coverage(people, rate, target, 4000)
    print(f"{people} annotators, {rate}, {target}: these {naive:.3f}, others {ours:.3f}")
    assert naive < 0.92 and ours > 0.91


def differences(people: int, rates: tuple[float, float], replicates: int) -> tuple[float, float]:
    """Coverage of a difference between agents: for these annotators, and for others."""
    truth = said(rates[0]) - said(rates[1])
    hits = []
    for seed in range(replicates):
        study = a_study(seed, people, rates, "sampled")
        plain = compare(
            study.summary,
            CATEGORY,
            rates_of(study, "sampled")[0],
            target="sampled",
            seed=0,
            draws=9,
        )
        beside = adjusted(
            study.shares, study.summary, CATEGORY, plain, target="sampled", seed=0, draws=9
        )
        found = other_differences(study.shares, WEIGHTS, plain.pairs, beside, plain.scenarios)
        ends = plain.interval[0], found.interval[0]
        hits.append([low <= truth <= high for low, high in ends])
    naive, ours = np.mean(hits, axis=0)
    return float(naive), float(ours)


def test_differences_cover_for_other_annotators_and_not_for_these() -> None:
    naive, ours = differences(3, (0.9, 0.05), 60)
    assert naive < 0.6 and ours > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("people", [3, 5, 10])
def test_differences_cover_for_other_annotators_closely(people: int) -> None:
    for rates in ((0.9, 0.05), (0.5, 0.1)):
        naive, ours = differences(people, rates, 1000)
        print(f"{people} annotators, {rates}: these {naive:.3f}, others {ours:.3f}")
        assert naive < 0.9 and ours > 0.93


def test_one_annotator_is_refused_in_words() -> None:
    rng = np.random.default_rng(0)
    chance = chances(rng, (2, SCENARIOS), rate=0.5, icc=0.4, equal=False)
    who = np.zeros((2, SCENARIOS, CONTINUATIONS), dtype=np.int64)
    _, found = rates_of(judge(rng, chance, who, np.array([0.9]), np.array([0.9])), "sampled")
    assert np.isnan(found.interval).all()
    assert found.method == ("needs two annotators who judged this agent",) * 2


def test_who_judges_alike_in_equal_shares_has_one_degree_less_than_there_are() -> None:
    rng = np.random.default_rng(0)
    chance = chances(rng, (2, SCENARIOS), rate=0.5, icc=0.4, equal=False)
    who = np.broadcast_to(np.arange(10) % 5, (2, SCENARIOS, CONTINUATIONS))
    study = judge(rng, chance, who, np.full(5, 0.9), np.full(5, 0.9))
    assert between(study.shares, WEIGHTS).df == pytest.approx([4, 4])
    # One person who does nearly all is worth fewer.
    who = np.where(np.arange(10) < 8, 0, np.arange(10) % 5)
    lone = judge(
        rng,
        chance,
        np.broadcast_to(who, (2, SCENARIOS, 10)),
        study.chance[0, :5],
        study.chance[0, :5],
    )
    assert (between(lone.shares, WEIGHTS).df < 2.1).all()
