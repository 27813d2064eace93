"""Studies that never were, of the design of one that is: the same scenarios, judged by the same."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from analysis.statistics import sampling
from analysis.statistics.label_set import LabelSet
from analysis.statistics.outcomes import Summary
from analysis.statistics.pooled_correlation import pooled_correlation

ASSUMED = 0.95
"""Sensitivity and specificity of an annotator of whom no reference answer tells."""
ANSWERS = 4.0
"""How many such answers an assumption is worth beside an annotator's own."""


class Design(NamedTuple):
    """Who continued what, who judged it, and how agents and annotators do there.

    Attributes:
      agents: A names, those that are ranked together.
      category: int64[S].
      unit: of `sampling.units`.
      shape: (A, S, N).
      cell: int64[J], of each judgement the continuation, an index into the flat array of `shape`.
      clip: int64[J], of each judgement what was looked at.
      annotator: int64[J], who judged.
      sensitivity: float64[K] of the annotators.
      specificity: float64[K] of the annotators.
      rate: float64[A, C], of each agent the mean rate of a scenario of each category.
      icc: float64[A, C], how much of the variance is the scenario's.
      correlation: of the agents' rates across scenarios, in [0, 1).
    """

    agents: tuple[str, ...]
    category: np.ndarray
    unit: np.ndarray | None
    shape: tuple[int, int, int]
    cell: np.ndarray
    clip: np.ndarray
    annotator: np.ndarray
    sensitivity: np.ndarray
    specificity: np.ndarray
    rate: np.ndarray
    icc: np.ndarray
    correlation: float


class Study(NamedTuple):
    """One simulated study.

    Attributes:
      values: float64[A, S, N], y of each continuation, NaN where nothing is judged.
      chance: float64[A, S], of an agent to succeed in a scenario.
    """

    values: np.ndarray
    chance: np.ndarray


def design_of(labels: LabelSet, ratings: pd.DataFrame) -> Design:
    """The design of what has been judged, with what it shows of agents and annotators.

    Rates and intraclass correlations are those of the judgements as they are; rates of a category
    are drawn towards the agent's own by one scenario's weight.

    Args:
      labels: one set of labels, analysed.
      ratings: the checked table that they come from.
    """
    outcomes, rows = labels.outcomes, labels.ranked[labels.rankings.number[labels.ranked] == 1]
    values = outcomes.values[rows]
    summary = labels.summary.at(rows)
    place = _cells(labels, rows)
    own = ratings[(ratings["truth"] == "") & (ratings["source"] == labels.source)]
    own = own[~own["verdict"].isin(("", "cannot_judge")) & own["continuation"].isin(place.index)]
    cell = place.loc[own["continuation"]].to_numpy(dtype=np.int64)
    alone = "=" + own["continuation"].astype(str)
    clip = pd.factorize(own["clip"].where(own["clip"] != "", alone))[0]
    annotator, people = pd.factorize(own["annotator"], sort=True)
    trust = _trust(ratings, list(people)) if labels.source == "human" else np.ones((2, len(people)))
    category = outcomes.category
    return Design(
        tuple(outcomes.agents[row] for row in rows),
        category,
        outcomes.unit,
        values.shape,
        cell,
        clip,
        annotator.astype(np.int64),
        trust[0],
        trust[1],
        _category_rates(summary, category),
        np.repeat(pooled_correlation(summary, category)[:, None], category.max() + 1, axis=1),
        _correlation(summary, category),
    )


def simulate(design: Design, rng: np.random.Generator) -> Study:
    """Draws scenarios, continuations and judgements of a design.

    A scenario's chances are beta-distributed for each agent and hang together through a normal
    copula. Continuations of one clip are drawn with one number, and so is what one annotator says
    of it.
    """
    agents, scenarios, _ = design.shape
    shared, own = rng.standard_normal(scenarios), rng.standard_normal((agents, scenarios))
    score = np.sqrt(design.correlation) * shared + np.sqrt(1 - design.correlation) * own
    rate, icc = design.rate[:, design.category], design.icc[:, design.category]
    chance = _beta_quantile(stats.norm.cdf(score), rate, icc)
    agent, scenario, _ = np.unravel_index(design.cell, design.shape)
    each = chance[agent, scenario]
    success = rng.random(design.clip.max() + 1)[design.clip] < each
    answer = design.clip * (design.annotator.max() + 1) + design.annotator
    _, number = np.unique(answer, return_inverse=True)
    luck = rng.random(number.max() + 1)[number]
    called = np.where(
        success,
        luck < design.sensitivity[design.annotator],
        luck < 1 - design.specificity[design.annotator],
    )
    size = int(np.prod(design.shape))
    count = np.bincount(design.cell, minlength=size)
    total = np.bincount(design.cell, weights=called, minlength=size)
    values = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return Study(values.reshape(design.shape), chance)


def judged_rates(design: Design, chance: np.ndarray) -> np.ndarray:
    """float64[A], the rate that the design's own annotators would give at chances [A, S]."""
    called = (
        chance.reshape(-1)[_of_scenarios(design)]
        * (design.sensitivity + design.specificity - 1)[design.annotator]
        + (1 - design.specificity)[design.annotator]
    )
    size = int(np.prod(design.shape))
    count = np.bincount(design.cell, minlength=size)
    total = np.bincount(design.cell, weights=called, minlength=size)
    y = np.where(count > 0, total / np.maximum(count, 1), np.nan).reshape(design.shape)
    number = np.isfinite(y).sum(axis=2)
    mean = np.nansum(y, axis=2) / np.maximum(number, 1)
    weights = sampling.scenario_weights(number > 0, design.category)
    return sampling.weighted_mean(mean, weights)


def _of_scenarios(design: Design) -> np.ndarray:
    agent, scenario, _ = np.unravel_index(design.cell, design.shape)
    index: np.ndarray = agent * design.shape[1] + scenario
    return index


def _cells(labels: LabelSet, rows: np.ndarray) -> pd.Series:
    """Where each continuation of some agents stands in their part of `Outcomes.values`."""
    outcomes = labels.outcomes
    names = [outcomes.agents[row] for row in rows]
    table = labels.continuations.sort_values("continuation", kind="stable")
    table = table[table["agent"].isin(names)]
    index = (
        pd.Index(names).get_indexer(pd.Index(table["agent"])),
        pd.Index(outcomes.scenarios).get_indexer(pd.Index(table["scenario"])),
        table.groupby(["agent", "scenario"], sort=False).cumcount().to_numpy(),
    )
    shape = (len(names), *outcomes.values.shape[1:])
    return pd.Series(np.ravel_multi_index(index, shape), table["continuation"])


def _trust(ratings: pd.DataFrame, people: list[str]) -> np.ndarray:
    """float64[2, K], sensitivity and specificity of people by their reference answers."""
    answers = ratings[(ratings["truth"] != "") & (ratings["source"] == "human")]
    answers = answers[~answers["verdict"].isin(("", "cannot_judge"))]
    trust = np.full((2, len(people)), ASSUMED)
    for row, true in enumerate((True, False)):
        own = answers[(answers["truth"] == "success") == true]
        right = (own["verdict"] == "success") == true
        for column, name in enumerate(people):
            mine = right[own["annotator"] == name]
            trust[row, column] = (mine.sum() + ANSWERS * ASSUMED) / (len(mine) + ANSWERS)
    return trust


def _category_rates(summary: Summary, category: np.ndarray) -> np.ndarray:
    member = (category[:, None] == np.arange(category.max() + 1)).astype(np.float64)
    judged = (summary.number > 0).astype(np.float64)
    filled = np.where(judged > 0, summary.mean, 0.0)
    whole = (filled.sum(axis=1) / np.maximum(judged.sum(axis=1), 1))[:, None]
    rate: np.ndarray = np.clip((filled @ member + whole) / (judged @ member + 1), 0.005, 0.995)
    return rate


def _correlation(summary: Summary, category: np.ndarray) -> float:
    """How closely the agents' scenario means go together within categories, without their noise."""
    off = np.where(summary.number > 0, summary.mean, np.nan)
    for one in np.unique(category):
        columns = category == one
        count = np.isfinite(off[:, columns]).sum(axis=1, keepdims=True)
        off[:, columns] -= np.nansum(off[:, columns], axis=1, keepdims=True) / np.maximum(count, 1)
    off = np.nan_to_num(off)
    noise = np.nan_to_num(summary.spread) / np.maximum(summary.number, 1)
    own = np.maximum((off**2).sum(axis=1) - noise.sum(axis=1), 0.0)
    scale = np.sqrt(np.outer(own, own))
    upper = np.triu_indices(len(off), 1)
    possible = scale[upper] > 1e-9
    if not possible.any():
        return 0.5
    together = (off @ off.T)[upper][possible] / scale[upper][possible]
    return float(np.clip(np.median(together), 0.0, 0.95))


def _beta_quantile(share: np.ndarray, rate: np.ndarray, icc: np.ndarray) -> np.ndarray:
    """A scenario's chance where `share` of all scenarios lie below it."""
    usual = (icc > 1e-6) & (icc < 1 - 1e-6)
    weight = (1 - np.where(usual, icc, 0.5)) / np.where(usual, icc, 0.5)
    inside = stats.beta.ppf(share, rate * weight, (1 - rate) * weight)
    chance: np.ndarray = np.where(usual, inside, np.where(icc <= 1e-6, rate, share > 1 - rate))
    return chance
