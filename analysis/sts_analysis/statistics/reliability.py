"""Measurement error of metrics, and correlations freed of it."""

import numpy as np


def reliability(values: np.ndarray, error_variance: float | None) -> float | None:
    """1 - mean squared error / variance across agents; None if the errors are unknown."""
    if error_variance is None or len(values) < 2:
        return None
    return 1 - error_variance / float(np.var(values, ddof=1))


def disattenuate(rho: float, *reliabilities: float | None) -> float | None:
    """Divides rho by sqrt(rel_x rel_y) over the known reliabilities; may exceed 1.

    None if none is known, or if one is not above 0: then errors drown the agents' differences.
    """
    known = [value for value in reliabilities if value is not None]
    if not known or min(known) <= 0:
        return None
    return rho / float(np.sqrt(np.prod(known)))
