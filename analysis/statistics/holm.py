"""Adjusted p values of planned contrasts."""

from __future__ import annotations

import numpy as np
from statsmodels.stats.multitest import multipletests


def holm(p: np.ndarray) -> np.ndarray:
    """Adjusted p values of a few planned contrasts; NaN stays NaN.

    Source: Holm 1979, Scand. J. Stat. 6:65.
    """
    adjusted = np.full(p.shape, np.nan)
    known = np.isfinite(p)
    if known.any():
        adjusted[known] = multipletests(p[known], method="holm")[1]
    return adjusted
