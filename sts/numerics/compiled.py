"""One way to compile a kernel, so that every kernel is cached, releases the GIL and stays typed."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numba.extending

LOCK_FILE = "kernels.lock"
Function = TypeVar("Function", bound=Callable[..., object])


def _digest() -> str:
    """Return a hash of every file of this package that compiles something."""
    files = sorted(Path(__file__).parent.parent.rglob("*.py"))
    sources = [(str(f), f.read_bytes()) for f in files]
    marked = b"sts.numerics.compiled import"
    kernels = [name.encode() + raw for name, raw in sources if marked in raw]
    return hashlib.sha256(b"".join(kernels)).hexdigest()


_SOURCES = _digest()


def compiled(function: Function) -> Function:
    """Compiles a kernel with numba; under `NUMBA_DISABLE_JIT=1` it is the function itself."""
    return _stamp_cache(numba.njit(cache=True, nogil=True)(function), function)


def lean(function: Function) -> Function:
    """Compiles as `compiled` a small kernel that makes no arrays and returns none.

    Its code becomes a part of its callers', and numba counts no references in it: for a kernel that
    is called at every step, both would take several times as long as what it does. Views inside are
    fine; a lean kernel that makes an array does not compile. numba compiles its own sorts likewise,
    by an option that it does not document; a numba without it counts, and is only slower.
    """
    options: dict[str, Any] = {
        "cache": True,
        "nogil": True,
        "forceinline": True,
    } | no_reference_counts()
    return _stamp_cache(numba.njit(**options)(function), function)


def portable(function: Function) -> Function:
    """Return the function itself, which kernels can call too.

    For arithmetic that is the same on numbers in kernels and on arrays outside of them.
    """
    out: Function = numba.extending.register_jitable(function)
    return out


def no_reference_counts() -> dict[str, bool]:
    """Return the option that makes numba count no references, where it has it."""
    known = getattr(getattr(numba.core, "cpu", None), "CPUTargetOptions", None)
    return {"_nrt": False} if hasattr(known, "_nrt") else {}


def _stamp_cache(dispatcher: Any, function: Function) -> Function:
    """Make a kernel's cache depend on every kernel file.

    numba's cache on disk looks at the file of a kernel alone, and would keep a kernel whose callee
    in another file was edited. So the stamp of each cached kernel covers every kernel file.

    Nor does it mind that other processes compile the same kernel at this moment, and would keep the
    code for one type of arguments under the name of another. So they come one after another.

    And it ends where a type that a cached kernel takes has moved or changed its name: then what is
    cached counts as not there.
    """
    if dispatcher is not function:
        cached = dispatcher._cache._cache_file
        cached._source_stamp = (cached._source_stamp, _SOURCES)
        cached._load_index = _ignore_unreadable(cached._load_index)
        folder = Path(cached._cache_path)
        cached.save = _with_lock(cached.save, folder, fcntl.LOCK_EX)
        cached.load = _with_lock(cached.load, folder, fcntl.LOCK_SH)
    return cast(Function, dispatcher)


def _ignore_unreadable(load_index: Callable[[], dict[Any, str]]) -> Callable[[], dict[Any, str]]:
    """Return `load_index`, which returns nothing where a type in the index is no longer there."""

    def index() -> dict[Any, str]:
        try:
            return load_index()
        except (AttributeError, ImportError):
            return {}

    return index


def _with_lock(call: Callable[..., object], folder: Path, lock: int) -> Callable[..., object]:
    """Return `call` done while no other process writes a kernel to the cache in `folder`."""

    def locked(*given: object) -> object:
        try:
            file = (folder / LOCK_FILE).open("ab")
        except OSError:  # a cache that can only be read
            return call(*given)
        with file:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file, lock)
            return call(*given)

    return locked
