"""How the suite's pass rate and other metrics of the agents follow each other.

Source: Abramson et al. 2022, section 4.1 and figures 4 and 5.
"""

import functools
import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sts_analysis.statistics.comparisons import Comparisons
from sts_analysis.statistics.correlation_difference import difference_interval
from sts_analysis.statistics.correlations import Correlation, correlate
from sts_analysis.statistics.family_jackknife import Jackknifed, clusters, jackknife
from sts_analysis.statistics.order_accuracy import order_accuracy
from sts_analysis.statistics.spearman import spearman


class Column(NamedTuple):
    """One metric of J agents, a column of the validity matrix.

    Attributes:
      value: float64[J], NaN where an agent has none.
      error: float64[J], standard errors, NaN where not known; None for the suite's own pass rate,
        whose noise the comparisons say.
    """

    value: np.ndarray
    error: np.ndarray | None


class MetricPair(NamedTuple):
    """Two metrics, by name, and how they agree.

    Attributes:
      x: one metric.
      y: the other.
      correlation: across agents that have both.
      order_accuracy: see `order_accuracy`; None where x is not the suite's own.
      order_pairs: how many pairs of agents that rests on.
    """

    x: str
    y: str
    correlation: Correlation
    order_accuracy: float | None
    order_pairs: int


class GoldDifference(NamedTuple):
    """How much more closely metric `a` follows the gold metric than `b` does."""

    gold: str
    a: str
    b: str
    difference: float
    interval: tuple[float, float] | None
    n: int


def metric_pairs(
    columns: Mapping[str, Column], comparisons: Comparisons, *, family: np.ndarray, seed: int
) -> list[MetricPair]:
    """Correlates every two metrics.

    Args:
      columns: by name.
      comparisons: of the same J agents.
      family: str[J], "" for an agent of no family.
      seed: of the random permutations.
    """
    pairs = []
    for x, y in itertools.combinations(columns, 2):
        both = np.isfinite(columns[x].value) & np.isfinite(columns[y].value)
        correlation = correlate(
            columns[x].value[both],
            columns[y].value[both],
            variance_x=_noise(columns[x], comparisons, both),
            variance_y=_noise(columns[y], comparisons, both),
            family=family[both],
            seed=seed,
        )
        share, number = None, 0
        if columns[x].error is None:
            share, number = order_accuracy(
                comparisons.pairs, comparisons.difference, comparisons.separated, columns[y].value
            )
        pairs.append(MetricPair(x, y, correlation, share, number))
    return pairs


def gold_differences(
    columns: Mapping[str, Column], *, gold: str, own: str, family: np.ndarray
) -> list[GoldDifference]:
    """Whether the suite's own metric follows the gold one more closely than each other does.

    Empty without a column `gold`; a metric is left out where a correlation is not known. Where
    agents come in families the interval is a jackknife over these, else Zou's.
    """
    if gold not in columns:
        return []
    values = {name: column.value for name, column in columns.items()}
    differences = []
    for other in values:
        if other in (gold, own):
            continue
        both = np.all([np.isfinite(values[m]) for m in (gold, own, other)], axis=0)
        best, rate, third = (values[m][both] for m in (gold, own, other))
        r12, r13, r23 = spearman(best, rate), spearman(best, third), spearman(rate, third)
        if r12 is not None and r13 is not None and r23 is not None:
            n = int(both.sum())
            cluster = clusters(family[both], n)
            if len(np.unique(cluster)) < n:
                made = jackknife(
                    functools.partial(_difference, best, rate, third), cluster, fisher=False
                )
                interval = made.interval if isinstance(made, Jackknifed) else None
            else:
                interval = difference_interval(r12, r13, r23, n)
            differences.append(GoldDifference(gold, own, other, r12 - r13, interval, n))
    return differences


def _difference(gold: np.ndarray, a: np.ndarray, b: np.ndarray, rows: np.ndarray) -> float | None:
    first, second = spearman(gold[rows], a[rows]), spearman(gold[rows], b[rows])
    return None if first is None or second is None else first - second


def _noise(column: Column, comparisons: Comparisons, both: np.ndarray) -> float | None:
    """Mean squared standard error over the agents of `both`; None where one is not known."""
    if column.error is not None:
        error = column.error[both]
        return float((error**2).mean()) if len(error) and np.isfinite(error).all() else None
    # Half the squared error of a difference: scenarios that are hard for everyone move all pass
    # rates together and disturb no ranking.
    chosen = both[comparisons.pairs].all(axis=1) & np.isfinite(comparisons.error)
    return float((comparisons.error[chosen] ** 2).mean() / 2) if chosen.any() else None
