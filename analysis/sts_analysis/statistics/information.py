"""How much of the information of the full plan a study judged in part has on each pair of agents.

Axes: A agents, S scenarios, P pairs of agents.
"""

import numpy as np

from sts_analysis.statistics.estimate import divide
from sts_analysis.statistics.rates import Comparisons
from sts_analysis.statistics.tabulation import Outcomes


def measure_information(outcomes: Outcomes, pairs: Comparisons) -> np.ndarray:
    """Measure each pair's share: the variance of its difference at the full plan over that of now.

    More continuations reduce only the variance within scenarios, so one of ten is far more than a
    tenth. What an agent's continuations vary within scenarios is pooled over these. Before any has
    two, the share is that of continuations, which is never too large.

    Args:
      outcomes: of a study judged in rounds; all continuations that exist are planned.
      pairs: of its agents.

    Returns:
      float64[P], in [0, 1]; NaN for a pair without a variance.
    """
    made = outcomes.continuations
    planned = made.tally(made.agent >= 0, outcomes.value.shape)
    judged, within = outcomes.judged, _vary_within(outcomes)
    first, second = pairs.first, pairs.second

    def sum_joint(values: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return float64[A, A], each agent's sum over scenarios that the other has, too."""
        return np.where(known, values, 0.0) @ known.T.astype(np.float64)

    joint, wanted = np.isfinite(outcomes.value), planned > 0
    counts = [sum_joint(known, known)[first, second] for known in (joint, wanted)]
    parts = []  # variance within scenarios, now and at the end
    for number, known, count in zip((judged, planned), (joint, wanted), counts, strict=True):
        sums = within[:, None] * sum_joint(divide(1.0, number), known)
        parts.append(divide(sums[first, second] + sums[second, first], count**2))
    now, scenarios = pairs.se**2, divide(*counts)
    later = np.maximum(now - parts[0], 0.0) * scenarios + parts[1]
    made_by_now, in_all = (sum_joint(x, joint) for x in (judged, planned))
    made_share = divide(*(x[first, second] + x[second, first] for x in (made_by_now, in_all)))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(
            np.isnan(parts[0]), scenarios * made_share, later / np.maximum(now, parts[0])
        )
        share[~(now > 0) | (counts[0] == 0)] = np.nan
    return np.asarray(np.clip(share, 0.0, 1.0))


def _vary_within(outcomes: Outcomes) -> np.ndarray:
    """Return float64[A], the variance of continuations within scenarios; NaN if none has two."""
    made, shape = outcomes.continuations, outcomes.value.shape
    known = np.isfinite(made.y)
    number, total = made.tally(known, shape), made.tally(known, shape, made.y)
    squares = made.tally(known, shape, made.y**2) - divide(total**2, number)
    free = np.maximum(number - 1, 0).sum(axis=1)
    return np.asarray(np.where(free > 0, divide(squares.sum(axis=1), free), np.nan))
