"""Frames: values of workers come back unchanged; other bytes are refused, never executed."""

import ast
import json
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts.errors import ReplayMismatch, StsError, UnknownName
from sts.jobs import answers, frames
from sts.trajectories.trajectory import Player

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
ARRAYS = st.sampled_from(
    [
        np.arange(6, dtype=">i2").reshape(2, 3)[:, ::2],
        np.zeros((2, 0)),
        np.array("text"),
        np.array([[2**70], ["a"]], object),
        np.array([[True]]),
        np.array([np.nan, -0.0]),
        np.float32(0.1),
        np.uint64(2**64 - 1),
    ]
)
VALUES = st.recursive(
    SCALARS | ARRAYS,
    lambda own: (
        st.lists(own, max_size=3)
        | st.lists(own, max_size=3).map(tuple)
        | st.dictionaries(st.text() | st.integers(), own, max_size=3)
        | st.sets(st.integers(), max_size=3)
    ),
    max_leaves=8,
)


def make_comparable(value: Any) -> Any:
    """Return what can be compared: NaN and -0.0 as they are written, arrays with their dtype."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value.shape, make_comparable(value.ravel().tolist())
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        return type(value).__name__, array.dtype.str, array.shape, array.tobytes()
    if isinstance(value, list | tuple):
        return type(value).__name__, [make_comparable(one) for one in value]
    if isinstance(value, dict):
        return [(key, make_comparable(one)) for key, one in value.items()]
    return repr(sorted(value) if isinstance(value, set) else value)


@given(VALUES)
def test_value_comes_back_unchanged(value) -> None:
    assert make_comparable(frames.decode(frames.encode(value))) == make_comparable(value)


@given(VALUES, st.data())
def test_damaged_bytes_are_refused_or_another_value(value, data) -> None:
    raw = bytearray(frames.encode(value))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    for bad in (bytes(raw), bytes(raw[:-1])):
        try:
            frames.decode(bad)
        except frames.DecodeError:
            continue


HEADERS = {
    "an array of objects": ["array", "|O", [1]],
    "an unknown dtype": ["array", "what", [1]],
    "a negative shape": ["array", "<f8", [-1]],
    "a shape past all bounds": ["array", "<f8", [2**40]],
    "an impossible shape": ["array", "|S0", [2**62, 2**62]],
    "no shape": ["array", "<f8", 1],
    "too many bytes": ["bytes", 100],
    "an unknown kind": ["module", "os"],
    "a record": ["object", "os:system", ["list", "true"]],
}


@pytest.mark.parametrize("what", HEADERS)
def test_header_that_is_not_a_value_is_refused(what) -> None:
    text = json.dumps(HEADERS[what]).encode()
    with pytest.raises(frames.DecodeError):
        frames.decode(len(text).to_bytes(8, "little") + text + bytes(8))


@pytest.mark.parametrize(
    "error",
    [ReplayMismatch("step 3", step=3), UnknownName("agent", "x", ["y"]), StsError("a", "b")],
)
def test_own_errors_and_records_come_back_unchanged(error) -> None:
    found, one = answers.decode(answers.encode((error, Player("agent", "ann"))))
    assert type(found) is type(error) and str(found) == str(error)
    assert found.__dict__ == error.__dict__ and one == Player("agent", "ann")


@pytest.mark.parametrize(
    "name", ["os:system", "subprocess:Popen", "builtins:eval", "sts.jobs.pool:Pool", "sts:x.y"]
)
def test_name_of_something_else_is_never_called(name) -> None:
    raw = frames.encode(object(), lambda _: (name, ["touch", "/tmp/sts-was-here"]))
    with pytest.raises(frames.DecodeError):
        answers.decode(raw)


def test_pickles_are_not_read_and_arbitrary_objects_not_sent() -> None:
    for protocol in range(6):
        with pytest.raises(frames.DecodeError):
            answers.decode(pickle.dumps([1, "a"], protocol))
    for value in (object(), {"a": open}, np.array([object()]), sys):
        with pytest.raises(TypeError, match="^expected "):
            answers.encode(value)


def test_module_needs_only_numpy_and_an_old_python() -> None:
    tree = ast.parse(Path(frames.__file__).read_text(), feature_version=(3, 8))
    imported = [one for one in ast.walk(tree) if isinstance(one, ast.Import | ast.ImportFrom)]
    names = {getattr(one, "module", None) or alias.name for one in imported for alias in one.names}
    assert {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) == {"numpy"}
