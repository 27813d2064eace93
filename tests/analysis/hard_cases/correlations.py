"""Correlations across agents: families of variants, and noisy metrics."""

from __future__ import annotations

import functools

import numpy as np

from sts_analysis.statistics.correlations import correlate
from sts_analysis.statistics.spearman import bonett_wright
from tests.analysis.hard_cases.case import Case, inside


def _rho(r: float) -> float:
    return float(6 / np.pi * np.arcsin(r / 2))


def families(
    replicates: int, *, number: int, size: int, r: float, share: float
) -> tuple[float, float]:
    """Coverage for families drawn anew, by Bonett and Wright's interval and the report's."""
    rng = np.random.default_rng(61)
    mix = np.linalg.cholesky([[1, r], [r, 1]])
    family = np.repeat(np.arange(number), size)
    naive, made = [], []
    for _ in range(replicates):
        own = rng.normal(size=(number, 2)) @ mix.T
        rest = rng.normal(size=(number * size, 2)) @ mix.T
        x, y = (np.sqrt(share) * own[family] + np.sqrt(1 - share) * rest).T
        found = correlate(x, y, family=family.astype(str), draws=10)
        naive.append(bonett_wright(found.spearman or 0.0, len(x)) or (-1.0, 1.0))
        made.append(found.interval or (-1.0, 1.0))
    return inside(np.array(naive), _rho(r)), inside(np.array(made), _rho(r))


def latent(
    replicates: int, *, agents: int, r: float, reliable: tuple[float, float]
) -> tuple[float, float]:
    """Coverage of the correlation without noise, by the raw interval and by the report's."""
    rng = np.random.default_rng(62)
    mix = np.linalg.cholesky([[1, r], [r, 1]])
    noise = np.sqrt([(1 - one) / one for one in reliable])
    naive, made = [], []
    for _ in range(replicates):
        metrics = rng.normal(size=(agents, 2)) @ mix.T + noise * rng.normal(size=(agents, 2))
        x, y = metrics.T
        found = correlate(x, y, variance_x=noise[0] ** 2, variance_y=noise[1] ** 2, draws=10)
        if found.disattenuated_interval and found.interval:
            naive.append(found.interval)
            made.append(found.disattenuated_interval)
    return inside(np.array(naive), _rho(r)), inside(np.array(made), _rho(r))


CASES = [
    Case(
        "correlation",
        "20 agents in 5 families that share half of what they are",
        functools.partial(families, number=5, size=4, r=0.5, share=0.5),
        replicates=300,
        slow=True,
    ),
    Case(
        "correlation",
        "32 agents in 8 families that share nearly all",
        functools.partial(families, number=8, size=4, r=0.8, share=0.9),
        replicates=100,
    ),
    Case(
        "latent correlation",
        "20 agents, reliabilities .9 and .7, true .8",
        functools.partial(latent, agents=20, r=0.8, reliable=(0.9, 0.7)),
        replicates=150,
    ),
    Case(
        "latent correlation",
        "15 agents, reliabilities .95 and .4, true .5",
        functools.partial(latent, agents=15, r=0.5, reliable=(0.95, 0.4)),
        replicates=300,
        slow=True,
    ),
]
