"""Kernels: an edit in one file reaches the compiled kernels of every other."""

import functools
import importlib
import os
import subprocess
import sys
import threading

import numba.core.cpu
import pytest

from sts.numerics import compiled
from sts.numerics.compiled import jit, no_reference_counts

CALLED = """
from sts.plugin import jit_inlined

@jit_inlined
def called(x):
    return x + 1
"""
CALLING = """
from sts.plugin import jit

from garden.called import called

@jit
def calling(x):
    return 10 * called(x)
"""
LONGER = CALLED.replace("x + 1", "1 + x + 1")  # Python recognises a new file by its size


def python(code, folder):
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", code]
    options = {"env": environment, "cwd": folder, "capture_output": True, "text": True}
    done = subprocess.run(command, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Return a function of a module of its own, to be compiled."""
    name = f"kernel_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text("def kernel(x):\n    return x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module(name).kernel


@pytest.mark.landing
def test_cached_kernel_is_recompiled_when_a_called_kernel_changes(tmp_path):
    """In a package of its own, such as a world's."""
    package = tmp_path / "garden"
    package.mkdir()
    called = package / "called.py"
    (package / "calling.py").write_text(CALLING)
    for text, result in ((CALLED, "40"), (LONGER, "50"), (CALLED, "40")):
        called.write_text(text)
        assert python("from garden.calling import calling; print(calling(3))", tmp_path) == result


def test_concurrent_compilations_keep_both_cache_entries(kernel, monkeypatch):
    one, other = (jit(kernel)._cache._cache_file for _ in range(2))
    steps = {name: getattr(one, name) for name in ("_save_index", "_save_data")}
    second = threading.Thread(target=other.save, args=("b", 2))

    def late(name, *given):
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
def test_cached_kernel_is_recompiled_when_a_type_is_renamed(tmp_path):
    module = tmp_path / "kernel_of_a_pair.py"
    text = (
        "from typing import NamedTuple\n"
        "from sts.numerics.compiled import jit\n"
        "class Pair(NamedTuple):\n    a: int\n    b: int\n"
        "@jit\ndef second(pair):\n    return pair.b\n"
        "print(second(Pair(1, 2)))\n"
    )
    for name in ("Pair", "Couple"):
        module.write_text(text.replace("Pair", name))
        assert python("import kernel_of_a_pair", tmp_path) == "2"


def test_reference_counts_stay_on_without_the_numba_option(monkeypatch):
    assert no_reference_counts() == {"_nrt": False}
    monkeypatch.setattr(numba.core.cpu, "CPUTargetOptions", object)
    assert no_reference_counts() == {}
    monkeypatch.delattr(numba.core.cpu, "CPUTargetOptions")
    assert no_reference_counts() == {}


def test_kernel_cache_works_on_a_file_system_without_locks(kernel, monkeypatch):
    def flock(*given):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("sts.numerics.compiled.fcntl.flock", flock)
    assert jit(kernel)(3) == 3


def test_kernels_are_compiled_without_a_writable_cache_and_this_is_said_once(kernel, monkeypatch):
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    compiled._warn_of_missing_cache.cache_clear()
    with pytest.warns(RuntimeWarning, match="set NUMBA_CACHE_DIR") as said:
        assert [jit(kernel)(3), jit(kernel)(4)] == [3, 4]
    assert len(said) == 1


@pytest.mark.parametrize("decorator", [compiled.jit_inlined, compiled.jit_internal])
def test_kernels_without_code_for_python_refuse_its_calls(kernel, decorator):
    """Called all the same, they would crash the interpreter."""
    internal = decorator(kernel)
    assert jit(lambda x: internal(x) + 1)(3) == 4
    with pytest.raises(TypeError, match="kernel can only be called by compiled functions"):
        internal(3)
