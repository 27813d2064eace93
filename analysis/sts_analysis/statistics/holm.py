"""Adjusted p values of planned contrasts."""

import numpy as np


def holm(p: np.ndarray) -> np.ndarray:
    """Adjusted p values of a few planned contrasts; NaN stays NaN.

    Source: Holm 1979, Scand. J. Stat. 6:65.
    """
    adjusted = np.full(p.shape, np.nan)
    order = np.argsort(p, kind="stable")[: np.isfinite(p).sum()]  # NaN comes last
    scaled = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted
