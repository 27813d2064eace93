"""Decorators that compile kernels with numba, cached, without the GIL and with type hints."""

import contextlib
import fcntl
import functools
import hashlib
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numba.extending
from numba.core.registry import CPUDispatcher

LOCK_FILE = "kernels.lock"
_JIT = re.compile(rb"\bjit(_inlined|_internal)?\b")
_OPTIONS = {"nogil": True, "no_cfunc_wrapper": True}
Function = TypeVar("Function", bound=Callable[..., object])


@functools.cache
def _digest(package: str) -> str:
    """Return a hash of every file with kernels in `sts` and in another top-level package."""
    folders = {Path(__file__).parent.parent, *_list_folders(package)}
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    kernels = [f"{file}".encode() + raw for file in files if _JIT.search(raw := file.read_bytes())]
    return hashlib.sha256(b"".join(kernels)).hexdigest()


def _list_folders(package: str) -> list[Path]:
    """Return the folders of a package; none for a single file, whose own changes numba sees."""
    return [Path(folder) for folder in getattr(sys.modules.get(package), "__path__", ())]


def jit(function: Function) -> Function:
    """Compile a kernel with numba; with `NUMBA_DISABLE_JIT=1`, return the function itself."""
    return _compile(function, _OPTIONS)


def jit_internal(function: Function) -> Function:
    """Compile a kernel that only kernels call, and that allocates and returns no arrays.

    numba then compiles no code that converts Python objects, nor does it count references, which
    would take longer than a small kernel itself. Views of arrays are allowed; allocating an array
    is a compilation error. That option is undocumented, and numba uses it for its own sorts;
    versions without it are only slower. A call from Python raises TypeError.
    """
    return _refuse_python(
        _compile(function, _OPTIONS | {"no_cpython_wrapper": True} | no_reference_counts())
    )


def jit_inlined(function: Function) -> Function:
    """Compile a small kernel as `jit_internal` does, inlined into its callers."""
    options = _OPTIONS | {"forceinline": True, "no_cpython_wrapper": True} | no_reference_counts()
    return _refuse_python(_compile(function, options))


def callable_from_jit(function: Function) -> Function:
    """Make a plain function callable from kernels, and return it.

    Use it for arithmetic that applies to numbers in kernels and to arrays elsewhere.
    """
    out: Function = numba.extending.register_jitable(no_cfunc_wrapper=True)(function)
    return out


def no_reference_counts() -> dict[str, bool]:
    """Return the numba option that disables reference counting, if this version has it."""
    known = getattr(getattr(numba.core, "cpu", None), "CPUTargetOptions", None)
    return {"_nrt": False} if hasattr(known, "_nrt") else {}


class _Internal(CPUDispatcher):
    """Kernel without code for calls from Python, which numba would run all the same and crash."""

    def __call__(self, *given: object, **named: object) -> object:
        raise TypeError(f"{self.py_func.__name__} can only be called by compiled functions")


def _refuse_python(kernel: Function) -> Function:
    """Let a compiled kernel refuse calls from Python."""
    if isinstance(kernel, CPUDispatcher):
        cast(Any, kernel).__class__ = _Internal
    return kernel


def _compile(function: Function, options: dict[str, Any]) -> Function:
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds no folder for the cache that it can write
        _warn_of_missing_cache()
        return cast(Function, numba.njit(**options)(function))
    return _stamp_cache(compiled, function)


@functools.cache
def _warn_of_missing_cache() -> None:
    warnings.warn(
        "numba finds no writable cache folder, so every command compiles all kernels: "
        "set NUMBA_CACHE_DIR to a writable folder",
        RuntimeWarning,
        stacklevel=2,
    )


def _stamp_cache(dispatcher: Any, function: Function) -> Function:
    """Make numba's cache of a kernel on disk safe.

    Its entries depend on all kernel files, not only on the kernel's own, as a kernel may call
    another. A file lock serialises access, as concurrent processes could mix up the code for
    different argument types. If an argument type has been moved or renamed, the cache counts as
    empty instead of raising an error.
    """
    if dispatcher is not function:
        cached = dispatcher._cache._cache_file
        cached._source_stamp = (
            cached._source_stamp,
            _digest(function.__module__.partition(".")[0]),
        )
        cached._load_index = _ignore_unreadable(cached._load_index)
        folder = Path(cached._cache_path)
        cached.save = _with_lock(cached.save, folder, fcntl.LOCK_EX)
        cached.load = _with_lock(cached.load, folder, fcntl.LOCK_SH)
    return cast(Function, dispatcher)


def _ignore_unreadable(load_index: Callable[[], dict[Any, str]]) -> Callable[[], dict[Any, str]]:
    """Wrap `load_index` to return nothing if a type in the index cannot be imported."""

    def index() -> dict[Any, str]:
        try:
            return load_index()
        except (AttributeError, ImportError):
            return {}

    return index


def _with_lock(call: Callable[..., object], folder: Path, lock: int) -> Callable[..., object]:
    """Wrap `call` to hold a lock on the cache in `folder`."""

    def locked(*given: object) -> object:
        try:
            file = (folder / LOCK_FILE).open("ab")
        except OSError:  # a read-only cache
            return call(*given)
        with file:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file, lock)
            return call(*given)

    return locked
