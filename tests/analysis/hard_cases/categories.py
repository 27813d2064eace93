"""The rate of one category of several, where categories differ in how much scenarios decide."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from sts_analysis.statistics import intervals
from sts_analysis.statistics.outcomes import summarise
from sts_analysis.statistics.pass_rates import pass_rates
from sts_analysis.statistics.pooled_correlation import pooled_correlation
from tests.analysis.hard_cases.case import Case, inside
from tests.analysis.worlds import beta_world


def simulate(
    replicates: int, *, correlations: Sequence[float], rate: float, scenarios: int
) -> tuple[float, float]:
    """Coverage of the first category's interval, by the pooled correlation and as a report does."""
    parts = [
        beta_world(
            rows=replicates,
            categories=1,
            scenarios=scenarios,
            continuations=10,
            rate=rate,
            icc=icc,
            seed=31 + place,
        )[0]
        for place, icc in enumerate(correlations)
    ]
    category = np.repeat(np.arange(len(parts)), scenarios)
    rho = pooled_correlation(summarise(np.concatenate(parts, axis=1)), category)
    one = summarise(parts[0])
    found = pass_rates(one, np.zeros(scenarios, np.int64), target="sampled", correlation=rho)
    trials = scenarios / (rho + (1 - rho) / 10)
    naive = intervals.wilson(found.rate, trials)
    return inside(naive, rate), inside(found.interval, rate)


def _case(words: str, low: float = 0.92, **settings: object) -> Case:
    common: dict[str, object] = {"rate": 0.5, "scenarios": 10}
    made = functools.partial(simulate, **(common | settings))  # type: ignore[arg-type]
    return Case("category", words, made, low=low, replicates=2000)


CASES = [
    _case("scenarios decide here (.8), not in the 7 others (.05)", correlations=[0.8] + [0.05] * 7),
    _case("scenarios decide here (.8), not in the other (.05)", correlations=[0.8, 0.05]),
    _case("the same with three scenarios each", 0.885, correlations=[0.8, 0.05], scenarios=3),
]
