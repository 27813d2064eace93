"""What an environment pays, checked: whole numbers of a unit, or finite numbers without one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.errors import StsError

LEAST, MOST = -128, 127
"""Of whole rewards, which are kept as int8."""


class WrongRewards(StsError):
    """Rewards that are no whole units, or no numbers, or not one for each participant."""


def checked(given: Sequence[Any], shape: tuple[int, int], *, whole: bool, at: str) -> NDArray[Any]:
    """Return what each of B environments paid, as int8[B, P] if it is `whole`, else float64[B, P].

    `shape` is (B, P). An error begins with `at`, as "domain 'pond' at step 3".
    """
    found = _array(given)
    if _fits(found, shape, whole):
        return found.astype(np.int8 if whole else np.float64)
    wrong = next((one for one in given if not _fits(_array(one), shape[1:], whole)), given[0])
    wanted = f"whole rewards from {LEAST} to {MOST}" if whole else "finite rewards"
    raise WrongRewards(f"{at}: expected {shape[1]} {wanted}, found {wrong!r:.60}")


def _array(given: Any) -> NDArray[Any]:
    try:
        return np.array(given)
    except (TypeError, ValueError, OverflowError):  # some of one length, others of another
        return np.empty(0)


def _fits(found: NDArray[Any], shape: tuple[int, ...], whole: bool) -> bool:
    if found.shape != shape or found.dtype.kind not in ("iub" if whole else "iubf"):
        return False
    if whole:
        return bool(found.min() >= LEAST and found.max() <= MOST)
    return bool(np.isfinite(found).all())
