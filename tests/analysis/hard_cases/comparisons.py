"""Pairs of agents: p and interval of one mind, power of the steps, and orders that are right."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np
from scipy import stats

from sts_analysis.statistics import intervals
from sts_analysis.statistics.comparisons import compare
from sts_analysis.statistics.outcomes import summarise
from sts_analysis.statistics.paired import Chance
from sts_analysis.statistics.pass_rates import pass_rates
from sts_analysis.statistics.sign_flip import sign_flip
from sts_analysis.statistics.step_down import Adjusted, step_down
from tests.analysis.hard_cases.case import Case
from tests.analysis.worlds import logistic_world


def agreement(replicates: int, *, scenarios: int) -> tuple[float, float]:
    """How often p is below .05 just where the interval leaves 0 out, of pairs that differ little.

    Naively p is by sign flips and the interval Student's.
    """
    agree: list[tuple[bool, bool]] = []
    for seed in itertools.count():
        values, category = logistic_world(
            skills=np.linspace(-1, 1, 12).tolist(),
            categories=1,
            scenarios=scenarios,
            continuations=6,
            seed=seed,
        )
        summary = summarise(values)
        rates = pass_rates(summary, category, target="sampled")
        found = compare(summary, category, rates, target="sampled", seed=0, draws=10)
        for (a, b), p, ends in zip(found.pairs, found.p, found.interval, strict=True):
            parts = summary.mean[a] - summary.mean[b]
            student = intervals.student(parts.mean(), stats.sem(parts), np.array(scenarios - 1.0))
            naive = (sign_flip(parts) < 0.05) == (student[0] > 0 or student[1] < 0)
            agree.append((naive, (p < 0.05) == (ends[0] > 0 or ends[1] < 0)))
        if len(agree) >= replicates:
            before, after = np.mean(agree, axis=0)
            return float(before), float(after)
    raise AssertionError


def independent(loads: np.ndarray, draws: int, rng: np.random.Generator) -> Chance:
    """Chance of pairs with these loads, float64[P, F], on independent factors."""
    drawn = loads @ rng.standard_normal((draws, loads.shape[1])).T
    return lambda rows: iter(drawn[rows])


def _adjusted(replicates: int, means: Sequence[float]) -> tuple[list[Adjusted], np.ndarray]:
    """Normal agents of standard error 1: what is adjusted, and float64[R, P] the differences."""
    rng = np.random.default_rng(41)
    a, b = np.array(list(itertools.combinations(range(len(means)), 2))).T
    loads = (np.eye(len(means))[a] - np.eye(len(means))[b]) / np.sqrt(2)
    seen = (np.array(means) + rng.standard_normal((replicates, len(means)))) @ loads.T
    p = 2 * stats.norm.sf(np.abs(seen))
    return [step_down(row, independent(loads, 1000, rng), draws=1000) for row in p], seen


def power(replicates: int, *, means: Sequence[float]) -> tuple[float, float]:
    """The share of pairs that are separated, by one critical value and by steps."""
    found, _ = _adjusted(replicates, means)
    single, steps = (
        float(np.mean([one < 0.05 for one in part]))
        for part in ([f.single for f in found], [f.p for f in found])
    )
    return single, steps


def orders(replicates: int, *, means: Sequence[float]) -> tuple[float, float]:
    """How often every order that is claimed is right, without adjusting and by steps."""
    found, seen = _adjusted(replicates, means)
    a, b = np.array(list(itertools.combinations(range(len(means)), 2))).T
    wrong = np.sign(seen) != np.sign(np.array(means)[a] - np.array(means)[b])
    alone = ~((2 * stats.norm.sf(np.abs(seen)) < 0.05) & wrong).any(axis=1)
    steps = [not ((f.p < 0.05) & row).any() for f, row in zip(found, wrong, strict=True)]
    return float(alone.mean()), float(np.mean(steps))


CASES = [
    Case(
        "p and interval agree",
        "eight scenarios",
        functools.partial(agreement, scenarios=8),
        low=1.0,
        high=1.0,
        naive_low=1.0,
    ),
    Case(
        "all claimed orders are right",
        "six agents, two groups of three equals",
        functools.partial(orders, means=[0, 0, 0, 10, 10, 10]),
        low=0.935,
        naive_low=0.9,
    ),
    Case(
        "share of pairs separated",
        "ten agents two standard errors apart",
        functools.partial(power, means=[2.0 * i for i in range(10)]),
        low=0.705,
        high=0.72,
        naive_low=0.68,
    ),
]
