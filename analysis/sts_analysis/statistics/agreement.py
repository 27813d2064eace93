"""Agreement of annotators with each other, and of their verdicts with a label source.

Alpha and kappa are 1 minus observed over expected disagreement. Both are functions of sums over
units, so the values without each unit cost one pass; they give the standard error (Miller 1974,
Biometrika 61:1). The interval is Wilson's of the share that agrees, with that error, as a symmetric
one covers too little where nearly all verdicts agree.

Axes: N verdicts, U units.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.tabulation import UNCOUNTED, Outcomes, encode

Disagreement = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Observed and expected disagreement from sums float64[..., n]; NaN where undefined."""


class Agreement(NamedTuple):
    """Chance-corrected agreement; NaN where undefined."""

    value: float  # Krippendorff's alpha or Cohen's kappa: 1 is full agreement, 0 is chance
    # float64[2]; also NaN with a single unit, or if one holds all that differs
    interval: np.ndarray
    # the chance that a verdict agrees with another of the same clip, or with the label
    share: float
    judgements: int  # int, verdicts compared
    items: int  # int, clips that they are of
    units: int  # int, units of these clips
    reason: str  # why the value is undefined, or ""


def measure_alpha(judgements: pd.DataFrame, outcomes: Outcomes) -> Agreement:
    """Measure the agreement of annotators by alpha, on clips with two or more verdicts.

    What annotators answered counts, whether or not a reviewer decided afterwards. If the table has
    a column `rubric_shown`, a clip under each condition is an item.

    Args:
      judgements: rows of people on continuations of agents, in a checked table that has each
        judgement once, so that a clip has one continuation
        (`inputs.ratings.deduplicate_judgements`), and adjudicated verdicts not in place.
      outcomes: from the same table; their units count.

    Raises:
      ValueError: a row is of a reference episode.

    Source: Krippendorff 2018, Content Analysis, chapter 12.
    """
    used = judgements.columns.intersection(["scenario", "continuation", "verdict", "rubric_shown"])
    rows = judgements.loc[~judgements["verdict"].isin(UNCOUNTED).to_numpy(), used]
    item = pd.factorize(rows["continuation"])[0]
    if "rubric_shown" in rows:
        shown, conditions = pd.factorize(rows["rubric_shown"])
        item = item * len(conditions) + shown
    success = (rows["verdict"] == "success").to_numpy()
    size = int(item.max(initial=-1)) + 1
    number, yes = np.bincount(item, minlength=size), np.bincount(item, success, size)
    unit_of = np.zeros(size, np.int64)
    unit_of[item] = _find_units(rows, outcomes)
    shared = number > 1
    n, yes = number[shared], yes[shared]
    # Ordered pairs of unlike verdicts over n - 1: a clip counts by its verdicts, not by its pairs.
    terms = np.stack([yes, n - yes, 2 * yes * (n - yes) / (n - 1)])
    return _measure(_disagree_among_annotators, terms, unit_of[shared], int(n.sum()), len(n))


def measure_across(judgements: pd.DataFrame, outcomes: Outcomes) -> Agreement:
    """Measure by kappa how verdicts by the instruction alone agree with those by the criterion.

    Only clips judged under both conditions count, each once: several verdicts under a condition are
    a mean.

    Args:
      judgements: as `measure_alpha` takes them, with a column `rubric_shown`, bool.
      outcomes: from the same table; their units count.
    """
    rows = judgements[~judgements["verdict"].isin(UNCOUNTED).to_numpy()]
    item = pd.factorize(rows["continuation"])[0]
    success, shown = (rows["verdict"] == "success").to_numpy(), rows["rubric_shown"].to_numpy()
    size = int(item.max(initial=-1)) + 1
    unit_of = np.zeros(size, np.int64)
    unit_of[item] = _find_units(rows, outcomes)
    number = np.stack([np.bincount(item, shown == seen, size) for seen in (True, False)])
    yes = np.stack([np.bincount(item, success & (shown == seen), size) for seen in (True, False)])
    both = (number > 0).all(axis=0)
    by_criterion, alone = yes[:, both] / number[:, both]
    terms = np.stack([
        by_criterion * alone, by_criterion * (1 - alone),
        (1 - by_criterion) * alone, (1 - by_criterion) * (1 - alone),
    ])  # fmt: skip
    verdicts, items = int(number[:, both].sum()), int(both.sum())
    return _measure(_disagree_with_labels, terms, unit_of[both], verdicts, items)


def measure_kappa(judgements: pd.DataFrame, labels: Outcomes) -> Agreement:
    """Measure the agreement of people's verdicts with labels of the same continuations by kappa.

    Args:
      judgements: as `measure_alpha` takes them.
      labels: of another source, from the same table.

    Raises:
      ValueError: a row is of a reference episode.

    Source: Cohen 1960, Educ. Psychol. Meas. 20:37.
    """
    counted = ~judgements["verdict"].isin(UNCOUNTED).to_numpy()
    rows = judgements.loc[counted, ["scenario", "continuation", "verdict"]]
    number = labels.continuations.number
    place = np.searchsorted(number, rows["continuation"].to_numpy())
    label = labels.continuations.y[place]
    both = np.isfinite(label)
    says = (rows["verdict"] == "success").to_numpy()[both]
    labelled = label[both] > 0.5
    unit = _find_units(rows, labels)[both]
    terms = np.stack([says & labelled, says & ~labelled, ~says & labelled, ~says & ~labelled])
    items = int((np.bincount(place[both]) > 0).sum())
    return _measure(_disagree_with_labels, terms.astype(float), unit, len(unit), items)


def _find_units(rows: pd.DataFrame, outcomes: Outcomes) -> np.ndarray:
    """Return int64[rows], the unit of each row's scenario."""
    place = encode(rows["scenario"], outcomes.scenarios)
    if (place < 0).any():
        unknown = rows["scenario"].to_numpy()[place < 0]
        raise ValueError(f"expected scenarios of agents, found {unknown[0]!r}")
    return np.asarray(outcomes.unit[place])


def _disagree_among_annotators(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the disagreements of alpha from verdicts of success, others, and weighted pairs."""
    yes, no, unlike = np.moveaxis(sums, -1, 0)
    total = yes + no
    with np.errstate(divide="ignore", invalid="ignore"):
        # By chance, two verdicts are drawn without replacement, hence total - 1.
        return unlike / total, 2 * yes * no / (total * (total - 1))


def _disagree_with_labels(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the disagreements of kappa from the counts or weights of the four outcomes."""
    both, mine, other, neither = np.moveaxis(sums, -1, 0)
    total = both + mine + other + neither
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (both + mine) / total, (both + other) / total
        return (mine + other) / total, a * (1 - b) + b * (1 - a)


def _measure(
    disagree: Disagreement, terms: np.ndarray, unit: np.ndarray, judgements: int, items: int
) -> Agreement:
    """Measure agreement with its interval.

    Args:
      disagree: what to make of the sums of terms.
      terms: float64[n, rows].
      unit: int64[rows].
      judgements: number of verdicts.
      items: number of clips.
    """
    code, present = pd.factorize(unit)
    units = len(present)
    nothing = np.full(2, np.nan)
    if not units:
        reason = "no clip has two verdicts to compare"
        return Agreement(np.nan, nothing, np.nan, judgements, items, 0, reason)
    sums = np.stack([np.bincount(code, term, units) for term in terms], axis=1)
    total = sums.sum(axis=0)
    observed, expected = map(float, disagree(total))
    share = 1 - observed
    if not expected > 0:
        reason = "all verdicts are the same"
        return Agreement(np.nan, nothing, share, judgements, items, units, reason)
    apart, by_chance = disagree(total - sums)  # without each unit
    ends = nothing
    if units > 1 and (by_chance > est.ZERO).all():
        left = apart / by_chance
        # The jackknife over units, then on the scale of the share that agrees, where Wilson's
        # interval is made; its ends are turned back into alpha or kappa.
        se = np.sqrt((units - 1) / units * ((left - left.mean()) ** 2).sum())
        se = np.where(se > est.ZERO, se * expected, 0.0)
        agreeing = est.rate_intervals(np.array(share), se, units - 1.0, units)
        ends = np.clip(1 - (1 - agreeing) / expected, -1.0, 1.0)
    return Agreement(1 - observed / expected, ends, share, judgements, items, units, "")
