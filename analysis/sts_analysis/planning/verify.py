"""What a report says of one simulated study, held against what is true there."""

from typing import NamedTuple

import numpy as np

from sts_analysis.planning.layout import SETTLED, Layout
from sts_analysis.planning.world import Design, Study, judged_rates
from sts_analysis.statistics import sampling
from sts_analysis.statistics.by_annotators import ByAnnotators, by_annotators
from sts_analysis.statistics.comparisons import ALPHA
from sts_analysis.statistics.corrected import Corrected, correct_rates
from sts_analysis.statistics.label_set import LabelSet
from sts_analysis.statistics.pass_rates import TARGETS
from sts_analysis.statistics.rank_sets import rank_sets

DRAWS = 999
"""Of the multiplier bootstrap in each simulated study."""
TESTS = ("plain", "adjusted", "others")
"""How a report compares two agents: as judged, with annotators adjusted for, for other people."""


_SAME = 1e-9
"""A difference of shares that is none."""


class Analysed(NamedTuple):
    """A simulated study as a report has it.

    Attributes:
      labels: the main set.
      judged: the same by annotators; None where no people judge.
      corrected: by agent, or why not.
    """

    labels: LabelSet
    judged: ByAnnotators | None
    corrected: dict[str, Corrected | str]


def analysed(design: Design, study: Study, *, target: str, seed: int, draws: int) -> Analysed:
    """Analyses a simulated study, by the functions that a report calls."""
    layout, ratings = design.layout, study.ratings
    labels = layout.analyse(ratings, target=target, seed=seed, draws=draws)
    if not layout.people:
        return Analysed(labels, None, {})
    references = ratings[ratings["truth"] != ""]
    return Analysed(
        labels,
        by_annotators(labels, ratings, seed=seed, draws=draws),
        correct_rates(labels, ratings, references),
    )


def verify(design: Design, study: Study, *, target: str, seed: int) -> dict[str, float]:
    """How far what a report would say of a study is right; shares in [0, 1], NaN of what it omits.

    Rates hold as these annotators judge, but for those of other annotators and corrected ones.
    Whether agents differ is a matter of what they do; whom they were judged by is no excuse.

    Args:
      design: of the study.
      study: simulated.
      target: of comparisons and ranks.
      seed: of the multiplier bootstrap.
    """
    layout, people = design.layout, design.people
    one = analysed(design, study, target=target, seed=seed, draws=DRAWS)
    labels, judged = one.labels, one.judged
    ranked = np.flatnonzero(layout.ranked)
    weights = sampling.scenario_weights(layout.number > 0, layout.category)
    chances = {"sampled": design.rate[:, layout.category], "fixed": study.chance}
    here = {name: study.judged(layout, chance) for name, chance in chances.items()}
    # Of a deterministic agent these scenarios leave nothing open, what is said of it included.
    known = layout.exact[:, None] & (layout.number > 0)
    here["fixed"] = np.where(known, labels.summary.mean, here["fixed"])
    elsewhere = judged_rates(layout, chances[target], people.sensitivity, people.specificity)
    does = _mean(weights, chances[target])
    shares = {
        name: _covered(labels.rates[name].interval, _mean(weights, here[name]), ranked)
        for name in TARGETS
    }
    shares["faultless"] = _covered(labels.main.interval, does, ranked)
    shares["corrected"] = _corrected(one.corrected, does, layout.agents, ranked)
    others = None if judged is None else judged.others
    if others is not None:
        truth = _mean(weights, elsewhere)
        shares["others"] = _covered(others.rates[target].interval, truth, ranked)
    return shares | _compared(design, study, one, chances[target], here[target])


def _compared(
    design: Design, study: Study, one: Analysed, chance: np.ndarray, here: np.ndarray
) -> dict[str, float]:
    """What is said of pairs, and of all agents at once."""
    layout, labels = design.layout, one.labels
    kept = labels.compared()
    a, b = labels.ranked[labels.comparisons.pairs[kept]].T
    common = (layout.number[a] > 0) & (layout.number[b] > 0)
    weights = sampling.scenario_weights(common, layout.category)
    does = _mean(weights, chance[a] - chance[b])
    alike, sure = np.abs(does) < _SAME, layout.exact[a] | layout.exact[b]
    shares = {
        "difference": _covered(
            labels.comparisons.interval[kept], _mean(weights, here[a] - here[b])
        ),
        "rank_sets": _right(labels, labels.comparisons.separated, layout, chance),
    }
    separated = {"plain": labels.comparisons.separated[kept]}
    if one.judged is not None:
        beside, others = one.judged.adjusted, one.judged.others
        separated["adjusted"] = beside.p_adjusted[kept] < ALPHA
        scale = left_of_a_difference(layout, study.sensitivity, study.specificity)
        shares["difference_adjusted"] = _covered(beside.interval[kept], scale * does, ~sure)
        shares["untold"] = float(np.mean(~beside.told[kept]))
        if others is not None:
            separated["others"] = others.differences.separated[kept]
            scale = left_of_a_difference(
                layout, design.people.sensitivity, design.people.specificity
            )
            interval = others.differences.interval[kept]
            shares["difference_others"] = _covered(interval, scale * does, ~sure)
    for test, apart in separated.items():
        shares[f"false_{test}"] = float((apart & alike).any()) if alike.any() else np.nan
        right = apart & (np.sign(labels.comparisons.difference[kept]) == np.sign(does))
        shares[f"seen_{test}"] = float(right[~alike].mean()) if not alike.all() else np.nan
    return shares


def _right(labels: LabelSet, separated: np.ndarray, layout: Layout, chance: np.ndarray) -> float:
    """Whether all sets of ranks hold."""
    rows = labels.ranked
    ranking, pairs = labels.rankings.number[rows], labels.comparisons
    sets = rank_sets(ranking, pairs.pairs, pairs.difference, separated)
    weights = sampling.scenario_weights(layout.number[rows] > 0, layout.category)
    does = _mean(weights, chance[rows])
    beside = ranking[None, :] == ranking[:, None]
    above = ((does[None, :] > does[:, None] + _SAME) & beside).sum(axis=1)
    below = ((does[None, :] < does[:, None] - _SAME) & beside).sum(axis=1)
    return float(((sets[:, 0] <= 1 + above) & (sets[:, 1] >= beside.sum(axis=1) - below)).all())


def left_of_a_difference(
    layout: Layout, sensitivity: np.ndarray | float, specificity: np.ndarray | float
) -> float:
    """How much of a difference the mean annotator of all ranked agents leaves of it."""
    own = layout.ranked[layout.cell // layout.number.shape[1]] * layout.part
    right = np.where(layout.judge == SETTLED, 1.0, specificity)
    return float((own * (sensitivity + right - 1)).sum() / own.sum())


def _corrected(
    made: dict[str, Corrected | str], does: np.ndarray, agents: tuple[str, ...], ranked: np.ndarray
) -> float:
    given = [(made.get(agents[row]), does[row]) for row in ranked]
    ends = [one.interval if isinstance(one, Corrected) else (np.nan, np.nan) for one, _ in given]
    return _covered(np.array(ends), np.array([rate for _, rate in given]))


def _mean(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    mean: np.ndarray = (weights * values).sum(axis=1)
    return mean


def _covered(
    interval: np.ndarray, truth: np.ndarray, rows: np.ndarray | slice = slice(None)
) -> float:
    """The share of intervals that hold the truth, of those rows that have one; NaN without any."""
    low, high = interval[rows].T
    inside = (low <= truth[rows] + _SAME) & (truth[rows] - _SAME <= high)
    there = np.isfinite(low) & np.isfinite(high)
    return float(inside[there].mean()) if there.any() else np.nan
