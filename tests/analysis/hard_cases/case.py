"""What a hard case is."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Case(NamedTuple):
    """One quantity in one hard case.

    Attributes:
      quantity: whose interval, or which error.
      case: in words, what makes it hard.
      simulate: of a number of replicates, (made naively, as a report makes it): shares of them.
      low: the least that a report's share may be.
      high: the most.
      replicates: of the quick tier.
      naive_low: a naive share from here on would not show the fault.
      slow: left to the slow tier, as another case of the quantity shows the fault in the quick one.
    """

    quantity: str
    case: str
    simulate: Callable[[int], tuple[float, float]]
    low: float = 0.92
    high: float = 0.995
    replicates: int = 500
    naive_low: float = 0.92
    slow: bool = False


def inside(ends: np.ndarray, truth: np.ndarray | float) -> float:
    """The share of intervals, float64[R, 2], that hold the truth."""
    return float(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])))
