"""Turns what statistics return into what a report holds: finite numbers, or None."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from sts_analysis.report.schema import Curve, Interval
from sts_analysis.statistics import incidence

Entry = TypeVar("Entry")


def number(value: float | None) -> float | None:
    """A float, or None for one that is not finite."""
    return None if value is None or not np.isfinite(value) else float(value)


def ends(interval: Sequence[float] | np.ndarray | None) -> Interval | None:
    """Both ends of an interval, or None where one is not finite."""
    if interval is None or not np.isfinite(interval).all():
        return None
    low, high = interval
    return float(low), float(high)


def entries(kind: Callable[..., Entry], **columns: np.ndarray | Sequence[Any]) -> tuple[Entry, ...]:
    """Objects of the report, one a row of columns that are named as its keys are.

    Args:
      kind: of the objects.
      columns: float64[n] for numbers and float64[n, 2] for intervals, None where not finite; other
        arrays and sequences as they are.
    """
    listed = [_listed(column) for column in columns.values()]
    return tuple(kind(**dict(zip(columns, row, strict=True))) for row in zip(*listed, strict=True))


def named(names: Sequence[str], values: np.ndarray) -> dict[str, Any]:
    """Numbers by name; None where one is not finite."""
    return dict(zip(names, _listed(values), strict=True))


def _listed(column: np.ndarray | Sequence[Any]) -> Sequence[Any]:
    if not isinstance(column, np.ndarray):
        return column
    values: list[Any] = column.tolist()
    if column.dtype.kind != "f":
        return values
    known = np.isfinite(column)
    if column.ndim == 1 and known.all():
        return values
    if column.ndim == 1:
        return [value if own else None for value, own in zip(values, known.tolist(), strict=True)]
    both = known.all(axis=1).tolist()
    return [tuple(value) if own else None for value, own in zip(values, both, strict=True)]


def points(curve: incidence.Curve | None) -> Curve | None:
    """A curve as [step, height] pairs."""
    if curve is None:
        return None
    return tuple((int(s), float(h)) for s, h in zip(curve.steps, curve.height, strict=True))
