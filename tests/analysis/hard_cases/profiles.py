"""Performance profiles, whose band is to hold everywhere at once."""

from __future__ import annotations

import functools

import numpy as np

from sts_analysis.statistics import intervals
from sts_analysis.statistics.outcomes import summarise
from sts_analysis.statistics.profiles import LEVELS, profile
from tests.analysis.hard_cases.case import Case
from tests.analysis.worlds import beta_world


def simulate(replicates: int, *, rate: float, scenarios: int) -> tuple[float, float]:
    """How often Wilson's intervals of each level, and the band, hold the whole profile."""
    settings = {"categories": 1, "continuations": 10, "rate": rate, "icc": 0.4}
    many, _, _ = beta_world(rows=1, scenarios=400_000, seed=81, **settings)  # type: ignore[arg-type]
    truth = (many[0].mean(axis=1)[:, None] >= LEVELS - 1e-9).mean(axis=0)
    values, _, category = beta_world(
        rows=replicates,
        scenarios=scenarios,
        seed=82,
        **settings,  # type: ignore[arg-type]
    )
    hits = []
    for row in values:
        found = profile(summarise(row[None]), 0, category, seed=1)
        plain = intervals.wilson(found.share, np.array(float(scenarios)))
        hits.append([((e[:, 0] <= truth) & (truth <= e[:, 1])).all() for e in (plain, found.band)])
    before, after = np.mean(hits, axis=0)
    return float(before), float(after)


CASES = [
    Case(
        "profile",
        "40 scenarios, all levels at once",
        functools.partial(simulate, rate=0.6, scenarios=40),
        replicates=150,
    ),
]
