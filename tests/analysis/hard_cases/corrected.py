"""Corrected pass rates: few reference episodes, unlike annotators, few scenarios."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logit

from sts_analysis.statistics.corrected import Corrected, correct
from sts_analysis.statistics.outcomes import summarise
from sts_analysis.statistics.pass_rates import pass_rates
from sts_analysis.statistics.weighed_accuracy import Share, weighed_share
from tests.analysis.hard_cases.case import Case

_NODES, _MASS = np.polynomial.hermite_e.hermegauss(40)


def _answers(
    rng: np.random.Generator, accuracy: np.ndarray, episodes: int, spread: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return right answers [K, E] to episodes of unlike difficulty, and what each gets right."""
    centre = logit(accuracy) * np.sqrt(1 + 0.346 * spread**2)
    hard = spread * rng.normal(size=episodes)
    right = rng.random((len(accuracy), episodes)) < expit(centre[:, None] + hard)
    mean = expit(centre[:, None] + spread * _NODES) @ _MASS / _MASS.sum()
    return right, mean


def simulate(
    replicates: int,
    *,
    accuracy: Sequence[float],
    shares: Sequence[float],
    episodes: int,
    rate: float,
    spread: float,
    categories: int,
    scenarios: int,
) -> tuple[float, float]:
    """Coverage of the pooled, unweighed, normal interval, and of the report's."""
    rng = np.random.default_rng(23)
    people = np.array([str(i) for i in range(len(accuracy))])
    weight = (1 - 0.4) / 0.4
    category = np.repeat(np.arange(categories), scenarios)
    chance = rng.beta(rate * weight, (1 - rate) * weight, (replicates, len(category), 1))
    truth = rng.random((replicates, len(category), 10)) < chance
    who = rng.choice(len(people), p=shares, size=truth.shape)
    lucky = rng.random(truth.shape)
    kinds = []
    values = np.empty(truth.shape)
    for r in range(replicates):
        (se, mean_se), (sp, mean_sp) = (
            _answers(rng, np.array(accuracy), episodes, spread) for _ in range(2)
        )
        kinds.append((se, sp))
        right = np.where(truth[r], mean_se[who[r]], mean_sp[who[r]])
        values[r] = np.where(lucky[r] < right, truth[r], ~truth[r])
    rates = pass_rates(summarise(values), category, target="sampled")
    hits = []
    for r, both in enumerate(kinds):
        own = np.bincount(who[r].ravel(), minlength=len(people)) / who[r].size
        weights = dict(zip(people.tolist(), own.tolist(), strict=True))
        plain = [Share(float(k.mean()), k.size, k.size, 0.0) for k in both]
        names = np.repeat(people, episodes)
        place = np.tile(np.arange(episodes), len(people))
        weighed = [weighed_share(k.ravel(), names, place, weights) for k in both]
        p, n, df = (float(part[r]) for part in (rates.rate, rates.trials, rates.df))
        naive = correct(p, n, np.nan, plain[0], plain[1])
        assert weighed[0] is not None and weighed[1] is not None
        made = correct(p, n, df, weighed[0], weighed[1])
        if isinstance(made, Corrected) and isinstance(naive, Corrected):
            ends = (naive.interval, made.interval)
            hits.append([low <= rate <= high for low, high in ends])
    before, after = np.mean(hits, axis=0)
    return float(before), float(after)


def _case(words: str, low: float = 0.92, slow: bool = True, **settings: object) -> Case:
    common: dict[str, object] = {
        "accuracy": [0.88] * 5,
        "shares": [0.2] * 5,
        "episodes": 20,
        "rate": 0.5,
        "spread": 2.0,
        "categories": 4,
        "scenarios": 20,
    }
    made = functools.partial(simulate, **(common | settings))  # type: ignore[arg-type]
    return Case("corrected rate", words, made, low=low, slow=slow)


CASES = [
    _case("five people, 10 + 10 reference episodes", slow=False, episodes=10),
    _case("five people, 20 + 20 reference episodes, rate .1", rate=0.1),
    _case(
        "one of five judges 80%, and worse",
        accuracy=[0.75, 0.95, 0.95, 0.95, 0.95],
        shares=[0.8, 0.05, 0.05, 0.05, 0.05],
        rate=0.1,
        episodes=30,
        spread=1.0,
    ),
    _case(
        "three scenarios",
        low=0.9,
        accuracy=[0.9],
        shares=[1.0],
        episodes=40,
        spread=0.0,
        categories=1,
        scenarios=3,
    ),
]
