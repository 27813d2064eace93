"""Warm-up of numba: importing this module runs a kernel, which takes a third of a second.

The fork server of worker processes imports it (`sts.jobs.pool`), so that they need not wait.
"""

import contextlib

from sts.numerics.compiled import jit


@jit
def return_zero() -> int:
    """Return 0."""
    return 0


with contextlib.suppress(OSError):  # its cache cannot be written
    return_zero()
