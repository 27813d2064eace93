"""One way to compile a kernel, so that every kernel is cached, releases the GIL and stays typed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def _digest() -> str:
    """Returns a hash of every file of this package that compiles something."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    sources = [(str(f), f.read_bytes()) for f in files]
    kernels = [name.encode() + raw for name, raw in sources if b"import compiled" in raw]
    return hashlib.sha256(b"".join(kernels)).hexdigest()


_SOURCES = _digest()


def compiled(function: Function) -> Function:
    """Compiles a kernel with numba; under `NUMBA_DISABLE_JIT=1` it is the function itself.

    numba's cache on disk looks at the file of a kernel alone, and would keep a kernel whose callee
    in another file was edited. So the stamp of each cached kernel covers every kernel file.
    """
    dispatcher: Any = numba.njit(cache=True, nogil=True)(function)
    if dispatcher is not function:
        cached = dispatcher._cache._cache_file
        cached._source_stamp = (cached._source_stamp, _SOURCES)
    return cast(Function, dispatcher)
