"""The score that penalises guessing, where what is guessed is itself uncertain."""

from __future__ import annotations

import functools

import numpy as np
from scipy.special import expit

from sts_analysis.statistics.guess_penalised import guess_penalised
from sts_analysis.statistics.outcomes import summarise
from tests.analysis.hard_cases.case import Case, inside


def simulate(replicates: int, *, blind: float, scenarios: int) -> tuple[float, float]:
    """Coverage with continuations taken for independent, and as a report makes it."""
    rng = np.random.default_rng(71)

    def chances(count: int) -> np.ndarray:
        ease = rng.normal(0, 1.2, (count, 1, 2, scenarios))
        own = rng.normal(0, 1.2, (count, 2, 2, scenarios))
        return expit(np.array([0.8, blind])[:, None, None] + ease + own)

    many = chances(20_000).mean(axis=(0, 3))
    truth = float(((many[0] - many[1]) / (1 - many[1])).mean())
    category = np.repeat([0, 1], scenarios)
    naive, made = [], []
    for _ in range(replicates):
        chance = chances(1)[0].reshape(2, -1, 1)
        values = (rng.random((2, 2 * scenarios, 8)) < chance).astype(float)
        summary = summarise(values)
        found = guess_penalised(summary, category, ("a", "b"), agent=0, blind=1, target="sampled")
        if found.interval is None or found.value is None:
            continue
        made.append(found.interval)
        passed, guessed = (row.reshape(2, -1).mean(axis=1) for row in values)
        trials = scenarios * 8
        parts = passed * (1 - passed) / (1 - guessed) ** 2
        parts += (1 - passed) ** 2 / (1 - guessed) ** 4 * guessed * (1 - guessed)
        half = 1.96 * np.sqrt((parts / trials).sum()) / 2
        naive.append((found.value - half, found.value + half))
    return inside(np.array(naive), truth), inside(np.array(made), truth)


CASES = [
    Case(
        "guess-penalised",
        "two categories of 12, blind agent passes about half",
        functools.partial(simulate, blind=0.2, scenarios=12),
        replicates=600,
    ),
]
