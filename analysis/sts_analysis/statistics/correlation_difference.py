"""Which of two metrics follows a third more closely."""

import numpy as np

from sts_analysis.statistics.spearman import bonett_wright


def difference_interval(
    r12: float, r13: float, r23: float, count: int
) -> tuple[float, float] | None:
    """95% interval of r12 - r13, two correlations that share metric 1.

    None below four agents, or where one of the two is +-1.

    Source: Zou 2007, Psychol. Methods 12:399, section "Overlapping dependent correlations".
    """
    first, second = bonett_wright(r12, count), bonett_wright(r13, count)
    if first is None or second is None:
        return None
    rest = 1 - r12**2 - r13**2 - r23**2
    tie = ((r23 - r12 * r13 / 2) * rest + r23**3) / ((1 - r12**2) * (1 - r13**2))
    tie = float(np.clip(tie, -1, 1))
    down, up = r12 - first[0], first[1] - r12
    other_down, other_up = r13 - second[0], second[1] - r13
    low = np.sqrt(max(down**2 + other_up**2 - 2 * tie * down * other_up, 0.0))
    high = np.sqrt(max(up**2 + other_down**2 - 2 * tie * up * other_down, 0.0))
    return float(r12 - r13 - low), float(r12 - r13 + high)
