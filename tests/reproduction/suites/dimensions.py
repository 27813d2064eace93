"""By how much a suite distinguishes agents: dimensions of its categories, and rank agreement.

Of each category an agent has a pass rate. If two categories rank the agents alike, they distinguish
them by one thing; the eigenvalues of the correlation between categories show by how many.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sts.suites.types import Scenario
from sts_scenarios.profiles import Profile

LEAST = 5
"""Scenarios or pairs of a category: of fewer, a pass rate says too little."""
Rates = Mapping[str, Mapping[str, float]]
"""Of each category, what each agent passes of it."""


def pass_rates(scenarios: Iterable[Scenario], profiles: Mapping[str, Profile]) -> Rates:
    """Return what each agent passes of each category of `LEAST` scenarios or pairs.

    Of a pair, done is only who does both.
    """
    units: dict[tuple[str, str], list[Profile]] = defaultdict(list)
    for one in scenarios:
        units[one.category, one.pair or one.id].append(profiles[one.hash])
    rates: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (category, _), halves in units.items():
        for agent in halves[0].labels:
            each = [[one.verdict == "success" for one in half.labels[agent]] for half in halves]
            rates[category][agent].append(float(np.all(each, axis=0).mean()))
    counts = Counter(category for category, _ in units)
    return {
        category: {agent: float(np.mean(each)) for agent, each in own.items()}
        for category, own in rates.items()
        if counts[category] >= LEAST
    }


class Dimensions(NamedTuple):
    """How what some agents pass of the categories of a suite is spread."""

    agents: int
    categories: int  # in which any agents differ
    shares: NDArray[np.float64]  # of their correlation the eigenvalues' shares, the largest first

    def first(self, count: int) -> float:
        return float(self.shares[:count].sum())


def dimensions(rates: Rates, agents: Sequence[str]) -> Dimensions:
    """Return the dimensions of a suite over some agents; empty if they differ in no category.

    A category that all of them pass equally often has no correlation, and is left out.
    """
    table = _differing(rates, agents)
    if len(table) < 2:
        return Dimensions(len(agents), len(table), np.ones(len(table)))
    values = np.linalg.eigvalsh(np.corrcoef(table))[::-1].clip(0)
    return Dimensions(len(agents), len(table), values / values.sum())


def _differing(rates: Rates, agents: Sequence[str]) -> NDArray[np.float64]:
    """Return what agents pass of the categories in which any of them differ, one a row."""
    table = np.array([[own[agent] for agent in agents] for own in rates.values()])
    return table[np.ptp(table, axis=1) > 0]


def competence(rates: Rates, agents: Sequence[str]) -> tuple[float, Dimensions]:
    """Return how far the first dimension is being good at all of it, and what else there is.

    The first is the correlation, over agents, between the first principal component and what each
    passes on average over the standardised categories. The second are the dimensions of what is
    left of these, by its variance, when what is linear in that average is taken out.
    """
    table = _differing(rates, agents)
    standard = (table - table.mean(1, keepdims=True)) / table.std(1, keepdims=True)
    mean = standard.mean(0)
    first = np.linalg.svd(standard, full_matrices=False)[2][0]
    beside = standard - np.outer(standard @ mean, mean) / (mean @ mean)
    values = np.linalg.eigvalsh(beside @ beside.T)[::-1].clip(0)
    left = Dimensions(len(agents), len(table), values / values.sum())
    return float(abs(np.corrcoef(first, mean)[0, 1])), left


def agreement(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Kendall's tau-b of two rankings of the same things; nan where one ranks nothing."""
    return float(stats.kendalltau(one, other).statistic)


class Agreement(NamedTuple):
    """How far choosing by effect has made a suite the choosing agents' own.

    `scenarios` is tau, over all scenarios, between what the agents with a say pass and the others.
    """

    scenarios: float
    choosing: float  # tau between what was chosen by effect and the rest, over agents with a say
    held_out: float  # the same over the others


def agreements(
    scenarios: Sequence[Scenario], profiles: Mapping[str, Profile], curation: Sequence[str]
) -> Agreement:
    """Return the rank agreement between agents that have a say and those that are held out."""
    every = [profiles[one.hash].passed for one in scenarios]
    names = [*every[0]]
    table = np.array([[own[n].successes / own[n].of for n in names] for own in every])
    say = np.isin(names, curation)
    chosen = [one.provenance.get("chosen_by", {}) for one in scenarios]
    by_effect = np.array(["effect_share" in one for one in chosen])
    parts = [table[by_effect].mean(0), table[~by_effect].mean(0)] if by_effect.any() else None
    return Agreement(
        agreement(table[:, say].mean(1), table[:, ~say].mean(1)),
        *((agreement(parts[0][w], parts[1][w]) for w in (say, ~say)) if parts else (np.nan,) * 2),
    )
