"""One set of labels, the judgements of one source, laid out and analysed; sets are never mixed."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics import settled
from sts_analysis.statistics.comparisons import Comparisons, compare
from sts_analysis.statistics.copies import find_copies
from sts_analysis.statistics.outcomes import Outcomes, Summary, arrange, continuation_values
from sts_analysis.statistics.pass_rates import TARGETS, Rates, pass_rates
from sts_analysis.statistics.rankings import Rankings, find_rankings

COMPARISON_DRAWS = 10_000


class LabelSet(NamedTuple):
    """What one source says about every agent.

    Attributes:
      source: one of `sts.ratings.SOURCES`.
      target: of the comparisons and the ranks.
      continuations: as `continuation_values` returns it.
      outcomes: agents x scenarios.
      summary: the same, reduced, each scenario by itself.
      whole: the same as a mean over scenarios needs it; differs from `summary` while a rule has
        settled something and something else waits, see `settled`.
      parts: of how many one continuation is one, in its scenario's share of an agent's rate.
      rates: pass rates over the whole suite, by target.
      continued: bool[A, S], where an agent has a continuation, judged or not.
      rankings: who is ranked, and among whom.
      ranked: int64, indices of the ranked agents, by ranking and then by falling rate.
      order: int64[A], the ranked agents, then those with too few scenarios or nothing judged, then
        the baselines.
      comparisons: of the ranked agents, in that order.
      exact: bool[A], agents whose continuations of a scenario are all the same.
    """

    source: str
    target: str
    continuations: pd.DataFrame
    outcomes: Outcomes
    summary: Summary
    whole: Summary
    parts: settled.Parts
    rates: dict[str, Rates]
    continued: np.ndarray
    rankings: Rankings
    ranked: np.ndarray
    order: np.ndarray
    comparisons: Comparisons
    exact: np.ndarray

    @property
    def main(self) -> Rates:
        """The pass rates under the target."""
        return self.rates[self.target]

    def compared(self) -> np.ndarray:
        """int64, the pairs of `comparisons` whose agents stand in one ranking."""
        ranking = self.rankings.number[self.ranked]
        a, b = self.comparisons.pairs.T
        return np.flatnonzero(ranking[a] == ranking[b])

    def names_of(self, pairs: np.ndarray) -> tuple[list[str], list[str]]:
        """The first and the second agents of some pairs of `comparisons`, int64[n]."""
        rows = self.ranked[self.comparisons.pairs[pairs]]
        one, other = ([self.outcomes.agents[row] for row in side] for side in rows.T.tolist())
        return one, other


def analyse(
    ratings: pd.DataFrame,
    source: str,
    *,
    scenarios: pd.DataFrame,
    target: str,
    seed: int,
    together: Sequence[Sequence[str]] = (),
    deterministic: Sequence[str] = (),
    draws: int = COMPARISON_DRAWS,
) -> LabelSet:
    """Analyses the judgements of one source.

    Args:
      ratings: a checked ratings table with at least one continuation of an agent.
      source: whose judgements.
      scenarios: of the suite, as `Subject` has them.
      target: of the comparisons and the ranks.
      seed: of every random draw.
      together: scenarios that belong together, by group.
      deterministic: agents whose continuations of a scenario are all the same.
      draws: of the multiplier bootstrap of the comparisons.
    """
    continuations = continuation_values(ratings, source)
    outcomes = arrange(continuations, scenarios=scenarios, together=together)
    copies = find_copies(ratings, continuations, outcomes) if source == "human" else None
    if copies is not None:
        outcomes = outcomes._replace(shared=copies.within())
    summary, whole = settled.of_scenarios(outcomes), settled.of_suite(outcomes)
    parts = settled.parts(outcomes)
    if copies is not None:
        copies = copies.among(parts.judged)
    exact = np.isin(outcomes.agents, list(deterministic))
    rates = {
        name: pass_rates(whole, outcomes.category, target=name, unit=outcomes.unit, exact=exact)
        for name in TARGETS
    }
    main = rates[target]
    continued = np.zeros(outcomes.values.shape[:2], dtype=bool)
    continued[
        pd.Index(outcomes.agents).get_indexer(pd.Index(continuations["agent"])),
        pd.Index(outcomes.scenarios).get_indexer(pd.Index(continuations["scenario"])),
    ] = True
    rankings = find_rankings(continued, np.isfinite(main.rate) & ~outcomes.baseline)
    falling = np.lexsort((np.array(outcomes.agents), -np.nan_to_num(main.rate, nan=-1.0)))
    inside = rankings.number > 0
    ranked = falling[inside[falling]]
    ranked = ranked[np.argsort(rankings.number[ranked], kind="stable")]
    outside = falling[~inside[falling] & ~outcomes.baseline[falling]]
    comparisons = compare(
        whole.at(ranked),
        outcomes.category,
        main.of(ranked),
        target=target,
        seed=seed,
        draws=draws,
        unit=outcomes.unit,
        copies=None if copies is None else copies.at(ranked),
        exact=exact[ranked],
    )
    order = np.concatenate([ranked, outside, falling[outcomes.baseline[falling]]])
    return LabelSet(
        source,
        target,
        continuations,
        outcomes,
        summary,
        whole,
        parts,
        rates,
        continued,
        rankings,
        ranked,
        order,
        comparisons,
        exact,
    )
