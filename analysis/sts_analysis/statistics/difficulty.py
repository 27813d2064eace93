"""How hard scenarios are.

Source: Abramson et al. 2022, section 5.2.
"""

import numpy as np

from sts_analysis.statistics.outcomes import Summary


def difficulty(summary: Summary) -> np.ndarray:
    """How hard each scenario is for each agent's rivals: mean failure with the agent left out.

    Args:
      summary: [A, S].

    Returns:
      float64[A, S]; NaN where no other agent was judged.
    """
    judged = summary.number > 0
    failure = np.where(judged, 1 - summary.mean, 0.0)
    others = judged.sum(axis=0) - judged
    total = failure.sum(axis=0) - failure
    return np.where(others > 0, total / np.maximum(others, 1), np.nan)
