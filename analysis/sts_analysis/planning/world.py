"""Studies that never were, of the design of one that is: the same scenarios, judged by the like."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sts_analysis.planning.layout import SETTLED, Layout, layout_of
from sts_analysis.planning.people import FAULTLESS, People, people_of
from sts_analysis.planning.pilot import Pilot
from sts_analysis.statistics.outcomes import Summary
from sts_analysis.statistics.pooled_correlation import pooled_correlation

LEAST_SCALE = 0.1
"""Of sensitivity + specificity - 1, by which no rate is divided where judges guess."""


class Design(NamedTuple):
    """A layout, and how agents and annotators do there.

    Axes: A agents, S scenarios, C categories.

    Attributes:
      layout: who continued what, and who judged it.
      people: whom annotators come from.
      rate: float64[A, C], of each agent the mean rate of a scenario of each category.
      icc: float64[A, C], how much of the variance is the scenario's.
      correlation: of the agents' rates across scenarios, in [0, 1].
    """

    layout: Layout
    people: People
    rate: np.ndarray
    icc: np.ndarray
    correlation: float


class Study(NamedTuple):
    """One simulated study.

    Attributes:
      ratings: its table, as `valued` returns a user's.
      chance: float64[A, S], of an agent to succeed in a scenario.
      sensitivity: float64[J], of who gave each verdict of the layout.
      specificity: float64[J], of the same.
    """

    ratings: pd.DataFrame
    chance: np.ndarray
    sensitivity: np.ndarray
    specificity: np.ndarray

    def judged(self, layout: Layout, chance: np.ndarray) -> np.ndarray:
        """float64[A, S], the rate that who judged would give at chances [A, S]."""
        return judged_rates(layout, chance, self.sensitivity, self.specificity)


def judged_rates(
    layout: Layout,
    chance: np.ndarray,
    sensitivity: np.ndarray | float,
    specificity: np.ndarray | float,
) -> np.ndarray:
    """float64[A, S], the rate that verdicts of such accuracy give at chances [A, S]."""
    each = chance.reshape(-1)[layout.cell]
    right = np.where(layout.judge == SETTLED, 1.0, specificity)
    called = each * sensitivity + (1 - each) * (1 - right)
    rate = np.bincount(layout.cell, weights=called * layout.part, minlength=chance.size)
    return rate.reshape(chance.shape)


def design_of(pilot: Pilot) -> Design:
    """The design of what has been judged, with what it shows of agents and annotators.

    Rates and intraclass correlations are freed of annotators' errors; rates of a category are drawn
    towards the agent's own by one scenario's weight.
    """
    layout, labels = layout_of(pilot), pilot.labels
    summary, category = labels.summary, labels.outcomes.category
    people = _people(pilot, layout)
    scale = max(people.sensitivity + people.specificity - 1, LEAST_SCALE)
    seen = _category_rates(summary, category)
    rate = np.clip((seen + people.specificity - 1) / scale, 0.005, 0.995)
    share = seen * (1 - seen) / (scale**2 * rate * (1 - rate))
    icc = np.clip(pooled_correlation(summary, category)[:, None] * share, 0.0, 1.0)
    icc[layout.exact] = 1.0
    ranked = summary.at(labels.ranked)
    return Design(layout, people, rate, icc, _correlation(ranked, category))


def simulate(design: Design, rng: np.random.Generator) -> Study:
    """Draws scenarios, continuations and judgements of a design.

    A scenario's chances are beta-distributed for each agent and hang together through a normal
    copula. Each continuation ends by itself. Of those that look alike in the design, those that end
    alike do, and share what an annotator says of them.
    """
    layout, people = design.layout, len(design.layout.annotators)
    chance = _chances(design, rng)
    trust = design.people.draw(people + 1, rng)
    settled = layout.judge == SETTLED
    # Had it succeeded, a rule would have left it to somebody.
    judge = np.where(settled, rng.integers(people, size=len(settled)), layout.judge)
    ends = rng.random(layout.continuation.max() + 1)[layout.continuation]
    success = ends < chance.reshape(-1)[layout.cell]
    answer = (2 * layout.clip + success) * (people + 1) + judge
    _, number = np.unique(answer, return_inverse=True)
    luck = rng.random(number.max() + 1)[number]
    sensitivity, specificity = trust[:, judge]
    called = np.where(success, luck < sensitivity, (luck >= specificity) & ~settled)
    ratings = _filled(layout, success, called, judge, settled & ~success)
    if len(layout.answer):
        known = np.where(layout.truth, trust[0, layout.answered_by], trust[1, layout.answered_by])
        right = rng.random(len(known)) < known
        _fill(ratings, "verdict", layout.answer, _WORDS[(right == layout.truth).astype(int)])
    return Study(ratings, chance, sensitivity, specificity)


_WORDS = np.array(["failure", "success"], dtype=object)


def _filled(
    layout: Layout, success: np.ndarray, called: np.ndarray, judge: np.ndarray, kept: np.ndarray
) -> pd.DataFrame:
    """The layout's table with other verdicts, and clips by how they end; what is `kept` stays."""
    table = layout.table.copy(deep=False)
    row = layout.row[~kept]
    _fill(table, "verdict", row, _WORDS[called[~kept].astype(int)])
    if layout.clips.any():
        clips = layout.clips[success.astype(int), np.arange(len(success))]
        _fill(table, "clip", layout.row, clips)
    left = (layout.judge == SETTLED) & ~kept
    if left.any():
        _fill(table, "source", layout.row[left], "human")
        _fill(table, "annotator", layout.row[left], np.array(layout.annotators)[judge[left]])
    return table


def _fill(table: pd.DataFrame, column: str, rows: np.ndarray, values: np.ndarray | str) -> None:
    filled = table[column].to_numpy(dtype=object, copy=True)
    filled[rows] = values
    table[column] = filled


def _people(pilot: Pilot, layout: Layout) -> People:
    """Whom annotators come from; no worse than the least and the greatest rates let them be."""
    if not layout.people:
        return FAULTLESS
    table = layout.table
    found = people_of(table.iloc[layout.answer])
    ends = pilot.labels.rates["sampled"].interval[pilot.labels.ranked]
    ends = ends[np.isfinite(ends).all(axis=1)]
    least, most = (ends[:, 1].min(), ends[:, 0].max()) if len(ends) else (1.0, 0.0)
    return found._replace(
        sensitivity=max(found.sensitivity, float(most)),
        specificity=max(found.specificity, 1 - float(least)),
    )


def _chances(design: Design, rng: np.random.Generator) -> np.ndarray:
    """float64[A, S]."""
    layout = design.layout
    agents, scenarios = layout.number.shape
    shared, own = rng.standard_normal(scenarios), rng.standard_normal((agents, scenarios))
    score = np.sqrt(design.correlation) * shared + np.sqrt(1 - design.correlation) * own
    rate, icc = design.rate[:, layout.category], design.icc[:, layout.category]
    return _beta_quantile(stats.norm.cdf(score), rate, icc)


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
