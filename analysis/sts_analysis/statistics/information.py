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
    share = np.full(len(pairs.first), np.nan)
    for pair, agents in enumerate(zip(pairs.first, pairs.second, strict=True)):
        own = list(agents)
        joint = np.isfinite(outcomes.value[own]).all(axis=0)
        wanted = (planned[own] > 0).all(axis=0)
        now = float(pairs.se[pair] ** 2)
        if not joint.any() or not now > 0:
            continue
        scenarios = joint.sum() / wanted.sum()
        if np.isnan(within[own]).any():
            share[pair] = scenarios * divide(
                judged[own][:, joint].sum(), planned[own][:, joint].sum()
            )
            continue
        parts, ends = (
            float((within[own] * (1 / counts[own][:, chosen]).mean(axis=1)).sum() / chosen.sum())
            for counts, chosen in ((judged, joint), (planned, wanted))
        )
        share[pair] = (max(now - parts, 0.0) * scenarios + ends) / max(now, parts)
    return np.asarray(np.clip(share, 0.0, 1.0))


def _vary_within(outcomes: Outcomes) -> np.ndarray:
    """Return float64[A], the variance of continuations within scenarios; NaN if none has two."""
    made, shape = outcomes.continuations, outcomes.value.shape
    known = np.isfinite(made.y)
    number, total = made.tally(known, shape), made.tally(known, shape, made.y)
    squares = made.tally(known, shape, made.y**2) - divide(total**2, number)
    free = np.maximum(number - 1, 0).sum(axis=1)
    return np.asarray(np.where(free > 0, divide(squares.sum(axis=1), free), np.nan))
