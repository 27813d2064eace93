"""Rates, mean areas and intraclass correlations near 0 and 1."""

from __future__ import annotations

import functools

import numpy as np
from scipy import stats

from sts_analysis.statistics import intervals
from sts_analysis.statistics.consistency import consistency
from sts_analysis.statistics.icc import intraclass_correlation
from sts_analysis.statistics.mean_area import mean_areas
from sts_analysis.statistics.outcomes import Outcomes, summarise
from sts_analysis.statistics.pass_rates import pass_rates
from tests.analysis.hard_cases.case import Case, inside
from tests.analysis.worlds import beta_world


def rates(replicates: int, *, rate: float, icc: float, scenarios: int) -> tuple[float, float]:
    """Coverage of the t interval and of the report's, one category."""
    values, _, category = beta_world(
        rows=replicates,
        categories=1,
        scenarios=scenarios,
        continuations=10,
        rate=rate,
        icc=icc,
        seed=51,
    )
    found = pass_rates(summarise(values), category, target="sampled")
    naive = intervals.student(
        found.rate, np.nan_to_num(found.error), np.nan_to_num(found.df, nan=9)
    )
    return inside(naive, rate), inside(found.interval, rate)


def areas(replicates: int, *, rate: float, icc: float, scenarios: int) -> tuple[float, float]:
    """The same of mean areas, where the scenarios show a spread."""
    values, _, category = beta_world(
        rows=replicates,
        categories=1,
        scenarios=scenarios,
        continuations=10,
        rate=rate,
        icc=icc,
        seed=52,
    )
    early = np.random.default_rng(53).uniform(0.2, 0.9, size=values.shape)
    outcomes = Outcomes(
        ("a",) * replicates,
        np.zeros(replicates, bool),
        ("s",) * scenarios,
        category,
        ("c",),
        ("",) * scenarios,
        values * early,
    )
    found = mean_areas(outcomes)
    seen = np.isfinite(found.interval[:, 0])
    naive = intervals.student(found.area, found.error, np.array(scenarios - 1.0))
    truth = rate * 0.55
    return inside(naive[seen], truth), inside(found.interval[seen], truth)


def correlations(
    replicates: int, *, rate: float, icc: float, scenarios: int
) -> tuple[float, float]:
    """Coverage of Fisher's F interval of the intraclass correlation, and of the report's."""
    values, _, _ = beta_world(
        rows=replicates,
        categories=1,
        scenarios=scenarios,
        continuations=10,
        rate=rate,
        icc=icc,
        seed=54,
    )
    pairs = [(_fisher(row), intraclass_correlation(row)[1]) for row in values]
    known = [(naive, ends) for naive, ends in pairs if ends is not None]
    return inside(np.array([n for n, _ in known]), icc), inside(
        np.array([e for _, e in known]), icc
    )


def _fisher(values: np.ndarray) -> tuple[float, float]:
    """The interval of Shrout and Fleiss, which takes outcomes for normal."""
    scenarios, n = values.shape
    between = n * values.mean(axis=1).var(ddof=1)
    within = max(float(values.var(axis=1, ddof=1).mean()), 1e-9)
    df = (scenarios - 1, scenarios * (n - 1))
    low = between / within / stats.f.isf(0.025, *df)
    high = between / within * stats.f.isf(0.025, *df[::-1])
    return (low - 1) / (low + n - 1), (high - 1) / (high + n - 1)


def all_of_four(replicates: int, *, rate: float, icc: float, scenarios: int) -> tuple[float, float]:
    """Coverage of pass^4, by its fourth root's binomial interval and as a report does."""
    values, _, category = beta_world(
        rows=replicates,
        categories=1,
        scenarios=scenarios,
        continuations=10,
        rate=rate,
        icc=icc,
        seed=55,
    )
    weight = (1 - icc) / icc
    truth = float(np.prod([(rate * weight + i) / (weight + i) for i in range(4)]))
    made = np.array([consistency(row, category).pass_hat_k_intervals[4] for row in values])
    flat = values.reshape(replicates, -1).mean(axis=1)
    naive = intervals.wilson(flat, np.array(float(values[0].size))) ** 4
    return inside(naive, truth), inside(made, truth)


CASES = [
    Case(
        "pass^4",
        "rate .5, 20 scenarios, ICC .4",
        functools.partial(all_of_four, rate=0.5, icc=0.4, scenarios=20),
        replicates=200,
    ),
    Case(
        "pass rate",
        "rate .05, one category of 20 scenarios, ICC .4",
        functools.partial(rates, rate=0.05, icc=0.4, scenarios=20),
        replicates=2000,
    ),
    Case(
        "pass rate",
        "rate .1, one category of 10 scenarios, ICC .8",
        functools.partial(rates, rate=0.1, icc=0.8, scenarios=10),
        replicates=2000,
    ),
    Case(
        "mean area",
        "rate .1, 10 scenarios, ICC .4",
        functools.partial(areas, rate=0.1, icc=0.4, scenarios=10),
        replicates=1000,
    ),
    Case(
        "mean area",
        "rate .05, 20 scenarios, ICC .4",
        functools.partial(areas, rate=0.05, icc=0.4, scenarios=20),
        replicates=1000,
    ),
    Case(
        "ICC",
        "rate .2, 10 scenarios, ICC .8",
        functools.partial(correlations, rate=0.2, icc=0.8, scenarios=10),
        replicates=200,
        low=0.915,
    ),
    Case(
        "ICC",
        "rate .05, 80 scenarios, ICC .8",
        functools.partial(correlations, rate=0.05, icc=0.8, scenarios=80),
        replicates=200,
        low=0.915,
    ),
]
