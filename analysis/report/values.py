"""Turns what statistics return into what a report holds: finite numbers, or None."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.report.schema import Curve, Interval
from analysis.statistics import incidence


def number(value: float | None) -> float | None:
    """A float, or None for one that is not finite."""
    return None if value is None or not np.isfinite(value) else float(value)


def ends(interval: Sequence[float] | np.ndarray | None) -> Interval | None:
    """Both ends of an interval, or None where one is not finite."""
    if interval is None or not np.isfinite(interval).all():
        return None
    low, high = interval
    return float(low), float(high)


def points(curve: incidence.Curve | None) -> Curve | None:
    """A curve as [step, height] pairs."""
    if curve is None:
        return None
    return tuple((int(s), float(h)) for s, h in zip(curve.steps, curve.height, strict=True))
