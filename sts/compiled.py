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
    kernels = [name.encode() + raw for name, raw in sources if b"sts.compiled import" in raw]
    return hashlib.sha256(b"".join(kernels)).hexdigest()


_SOURCES = _digest()


def compiled(function: Function) -> Function:
    """Compiles a kernel with numba; under `NUMBA_DISABLE_JIT=1` it is the function itself."""
    return _stamped(numba.njit(cache=True, nogil=True)(function), function)


def lean(function: Function) -> Function:
    """Compiles as `compiled` a small kernel that makes no arrays and returns none.

    Its code becomes a part of its callers', and numba counts no references in it: for a kernel that
    is called at every step, both would take several times as long as what it does. Views inside are
    fine; a lean kernel that makes an array does not compile. numba compiles its own sorts likewise,
    by an option that it does not document; a numba without it counts, and is only slower.
    """
    options: dict[str, Any] = {"cache": True, "nogil": True, "forceinline": True} | uncounted()
    return _stamped(numba.njit(**options)(function), function)


def uncounted() -> dict[str, bool]:
    """Returns the option that makes numba count no references, where it has it."""
    known = getattr(getattr(numba.core, "cpu", None), "CPUTargetOptions", None)
    return {"_nrt": False} if hasattr(known, "_nrt") else {}


def _stamped(dispatcher: Any, function: Function) -> Function:
    """Makes a kernel's cache depend on every kernel file.

    numba's cache on disk looks at the file of a kernel alone, and would keep a kernel whose callee
    in another file was edited. So the stamp of each cached kernel covers every kernel file.
    """
    if dispatcher is not function:
        cached = dispatcher._cache._cache_file
        cached._source_stamp = (cached._source_stamp, _SOURCES)
    return cast(Function, dispatcher)
