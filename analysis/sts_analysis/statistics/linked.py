"""Scenarios that belong together: credit only for doing all of them.

Continuations of a pair's halves, or of a dialogue's turns, are independent of each other, so the
chance of doing all is the product of the chances. The halves resemble each other all the same, as
they share a world and a moment; so the pair is the unit of an interval, and nothing smaller.
"""

from collections.abc import Sequence

import numpy as np

from sts_analysis.statistics.outcomes import Summary


def credits(summary: Summary, groups: Sequence[np.ndarray]) -> Summary:
    """Reduces groups of scenarios to one value each, as if each were a scenario.

    Args:
      summary: [A, S].
      groups: int64 of each of the G groups, indices of its scenarios.

    Returns:
      [A, G]: the product of the scenarios' means, and an unbiased estimate of its variance from
      continuations alone, as the spread of a single trial; 1 as the number where all were judged,
      else 0. The spread is NaN where a scenario has one judged continuation.

    Source: Goodman 1960, J. Am. Stat. Assoc. 55:708, on the exact variance of products.
    """
    shape = (len(summary.number), len(groups))
    number, mean, spread = np.zeros(shape, np.int64), np.full(shape, np.nan), np.full(shape, np.nan)
    for g, columns in enumerate(groups):
        judged = summary.number[:, columns].min(axis=1) > 0
        each = np.where(judged[:, None], summary.mean[:, columns], np.nan)
        error = summary.spread[:, columns] / np.maximum(summary.number[:, columns], 1)
        if summary.shared is not None:
            error = error + summary.shared[:, columns]
        number[:, g] = judged
        mean[:, g] = each.prod(axis=1)
        spread[:, g] = np.maximum(mean[:, g] ** 2 - (each**2 - error).prod(axis=1), 0.0)
    return Summary(number, mean, spread)
