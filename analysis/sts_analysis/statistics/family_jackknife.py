"""Intervals of a correlation across agents that come in families."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats

from sts_analysis.statistics import intervals

FEWEST_FAMILIES = 4


class Jackknifed(NamedTuple):
    """What leaving out each family says.

    Attributes:
      interval: 95%.
      p: two-sided, that the statistic is 0.
      families: how many, an agent of none counting as one.
    """

    interval: tuple[float, float]
    p: float
    families: int


def clusters(family: np.ndarray | None, count: int) -> np.ndarray:
    """int64[J], which family each agent is of; an agent of none ("") is one of its own."""
    if family is None:
        return np.arange(count)
    names = [str(name) or f"\0{i}" for i, name in enumerate(family)]
    codes: np.ndarray = np.unique(np.array(names, dtype=object).astype(str), return_inverse=True)[1]
    return codes


def jackknife(
    statistic: Callable[[np.ndarray], float | None], cluster: np.ndarray, *, fisher: bool = True
) -> Jackknifed | str:
    """The interval of a correlation whose families are a sample, or why there is none.

    Variants of one agent resemble each other in all metrics, so a family is the unit that is drawn.

    Args:
      statistic: of some of the agents, bool[J].
      cluster: int64[J], of `clusters`.
      fisher: on Fisher's z scale; else as it is, for a difference.

    Source: Miller 1974, Biometrika 61:1, on the jackknife, groups left out, Student's t.
    """
    families = int(cluster.max()) + 1 if len(cluster) else 0
    if families < FEWEST_FAMILIES:
        return f"needs {FEWEST_FAMILIES} families for an interval, found {families}"
    parts = [statistic(np.ones(len(cluster), bool))]
    parts += [statistic(cluster != one) for one in range(families)]
    values = [value for value in parts if value is not None]
    if len(values) < len(parts) or (fisher and max(map(abs, values)) >= 1):
        return "a family left out leaves nothing to correlate, or a perfect order"
    scaled = np.arctanh(values) if fisher else np.array(values)
    off = scaled[1:] - scaled[1:].mean()
    error = float(np.sqrt((families - 1) / families * (off**2).sum()))
    half = float(stats.t.isf((1 - intervals.LEVEL) / 2, families - 1)) * error
    ends = np.array([scaled[0] - half, scaled[0] + half])
    low, high = np.tanh(ends) if fisher else np.clip(ends, -2.0, 2.0)
    ratio = abs(scaled[0]) / max(error, 1e-300)
    return Jackknifed(
        (float(low), float(high)), float(2 * stats.t.sf(ratio, families - 1)), families
    )
