"""One way to compile a kernel, so that every kernel is cached, releases the GIL and stays typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compiles a kernel with numba; under `NUMBA_DISABLE_JIT=1` it is the function itself."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))
