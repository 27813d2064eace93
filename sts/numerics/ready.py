"""Importing this does what numba does before its first kernel, a third of a second of work.

It is for a process of which others that call kernels will be copies (`sts.jobs.pool`).
"""

from __future__ import annotations

import contextlib

from sts.numerics.compiled import compiled


@compiled
def return_zero() -> int:
    """Return 0."""
    return 0


with contextlib.suppress(OSError):  # no room for its cache
    return_zero()
