"""Kernels: an edit in one file reaches the compiled kernels of every other."""

import functools
import importlib
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numba.core.cpu
import pytest

import sts
from sts.numerics.compiled import compiled, no_reference_counts

CALLED = """
from sts.numerics.compiled import lean

@lean
def called(x):
    return x + 1
"""
CALLING = """
from sts.called import called
from sts.numerics.compiled import compiled

@compiled
def calling(x):
    return 10 * called(x)
"""


@pytest.mark.landing
def test_a_cached_kernel_is_compiled_anew_when_a_kernel_it_calls_was_edited(tmp_path: Path) -> None:
    package, own = tmp_path / "sts", Path(sts.__file__).parent
    shutil.copytree(own / "numerics", package / "numerics")
    shutil.copy(own / "__init__.py", package)
    called = package / "called.py"
    called.write_text(CALLED)
    (package / "calling.py").write_text(CALLING)
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}

    def said() -> str:
        done = subprocess.run(
            [sys.executable, "-c", "from sts.calling import calling; print(calling(3))"],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    assert said() == "40"
    called.write_text(CALLED.replace("x + 1", "1 + x + 1"))  # Python knows a new file by its size
    assert said() == "50"
    called.write_text(CALLED)
    assert said() == "40"


def test_processes_that_compile_a_kernel_at_the_same_moment_keep_each_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kernel_of_ones_own.py").write_text("def kernel(x):\n    return x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    kernel = importlib.import_module("kernel_of_ones_own").kernel
    one, other = (compiled(kernel)._cache._cache_file for _ in range(2))
    steps = {name: getattr(one, name) for name in ("_save_index", "_save_data")}
    second = threading.Thread(target=other.save, args=("b", 2))

    def late(name: str, *given: object) -> None:
        if not second.ident:  # the first has read what is there, and now the second comes
            second.start()
            second.join(0.5)
        steps[name](*given)

    for name in steps:
        monkeypatch.setattr(one, name, functools.partial(late, name))
    one.save("a", 1)
    second.join()
    assert (one.load("a"), one.load("b")) == (1, 2)


@pytest.mark.landing
def test_a_cached_kernel_is_compiled_anew_when_a_type_it_takes_was_renamed(tmp_path: Path) -> None:
    module = tmp_path / "kernel_of_a_pair.py"
    text = (
        "from typing import NamedTuple\n"
        "from sts.numerics.compiled import compiled\n"
        "class Pair(NamedTuple):\n    a: int\n    b: int\n"
        "@compiled\ndef second(pair):\n    return pair.b\n"
        "print(second(Pair(1, 2)))\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0"}
    for name in ("Pair", "Couple"):
        module.write_text(text.replace("Pair", name))
        done = subprocess.run(
            [sys.executable, "-c", "import kernel_of_a_pair"],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.stdout == "2\n", done.stderr


def test_a_numba_without_an_undocumented_option_counts_references(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both the option and the place where it is looked for may go one day."""
    assert no_reference_counts() == {"_nrt": False}
    monkeypatch.setattr(numba.core.cpu, "CPUTargetOptions", object)
    assert no_reference_counts() == {}
    monkeypatch.delattr(numba.core.cpu, "CPUTargetOptions")
    assert no_reference_counts() == {}


def test_a_cache_on_a_file_system_without_locks_is_used_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kernel_without_locks.py").write_text("def kernel(x):\n    return x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    kernel = compiled(importlib.import_module("kernel_without_locks").kernel)

    def none(*given: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("sts.numerics.compiled.fcntl.flock", none)
    assert kernel(3) == 3
