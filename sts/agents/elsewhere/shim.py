"""Plays an agent in an interpreter of its own, for a parent that has the worlds.

    PYTHON shim.py MODULE CLASS LIFE

It is one file, which needs NumPy and Python 3.8 or later: nothing of the suite is installed there.
Requests come in by standard input and answers leave by standard output, a frame each; what the
agent prints goes to standard error. Nothing is ever written to the pipe LIFE: where its other end
closes, the parent has gone, and this process ends, whatever it is at.

A frame is `MARK`, the length of a header in 4 bytes, little-endian, the header in JSON, and the
arrays' bytes one after the other, in C order, as `arrays` of the header lists them: a name, NumPy's
name of the dtype, and the shape of each.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import json
import math
import os
import select
import signal
import sys
import threading
import time
from typing import Any, Callable, Dict, NamedTuple  # noqa: UP035 - Python 3.8 has no others

if sys.platform == "linux":
    import fcntl

try:
    import numpy as np
except Exception as error:  # a broken one may raise anything; `main` says so
    _NO_NUMPY = f"it has no NumPy that can be imported ({type(error).__name__}: {error})"
else:
    _NO_NUMPY = ""

MARK = b"\x93sts1"
MOST = 2**31
"""Bytes of a header, and of all arrays of a frame."""
KINDS = "biufcSU"
"""Of dtypes that can be sent."""
TOLD = (
    *("name", "sees", "deterministic", "draws", "domain", "trained_on", "version"),
    "weights_digest",
)
GRACE = 1.0  # seconds to end by itself when the parent has gone
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_DEPTH = 50


class Broken(ValueError):
    """Bytes that are no frame; says how."""


class Refused(Exception):
    """There is no agent to play; says why."""


class Frame(NamedTuple):
    """What goes over a pipe at once."""

    header: Dict[str, Any]  # noqa: UP006
    arrays: Dict[str, Any]  # noqa: UP006

    def part(self, name: str) -> dict[str, Any]:
        """Returns the arrays whose names begin with NAME/, without that."""
        start = name + "/"
        return {key[len(start) :]: a for key, a in self.arrays.items() if key.startswith(start)}


def send(pipe: int, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Writes a frame.

    Raises:
      TypeError: one of the arrays is of objects.
    """
    listed, raw = [], [b""]
    for name, value in arrays.items():
        array = np.asarray(value)
        if array.dtype.kind == "T":  # texts of any length, which not every NumPy has
            array = np.array(array.tolist(), "U" if array.size else "U1").reshape(array.shape)
        if array.dtype.kind not in KINDS:
            raise TypeError(f"{name.replace('/', ' ')} is no array of numbers or texts")
        listed.append([name, array.dtype.str, list(array.shape)])
        raw.append(array.tobytes())
    text = json.dumps(dict(header, arrays=listed), default=repr).encode()
    raw[0] = MARK + len(text).to_bytes(4, "little") + text
    left = memoryview(b"".join(raw))
    while left:
        left = left[os.write(pipe, left) :]


def receive(pipe: int, mark: bytes = b"") -> Frame:
    """Reads a frame, of which the beginning of the mark may have been read.

    Raises:
      EOFError: the pipe was closed.
      Broken: what comes is no frame.
    """
    mark += _exactly(pipe, len(MARK) - len(mark))
    if mark != MARK:
        raise Broken("it does not begin as one")
    text = _exactly(pipe, _within(int.from_bytes(_exactly(pipe, 4), "little")))
    try:
        header = json.loads(text)
        kinds = [(name, np.dtype(kind), tuple(shape)) for name, kind, shape in header["arrays"]]
        sound = all(
            isinstance(name, str)
            and kind.kind in KINDS
            and all(type(n) is int and n >= 0 for n in shape)
            for name, kind, shape in kinds
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        sound = False
    if not sound:
        raise Broken("its header is none")
    sizes = [kind.itemsize * math.prod(shape) for _, kind, shape in kinds]
    body = _exactly(pipe, _within(sum(sizes)))
    arrays, start = {}, 0
    for i, (name, kind, shape) in enumerate(kinds):
        try:
            arrays[name] = np.ndarray(shape, kind, body[start : start + sizes[i]]).copy()
        except (ValueError, TypeError):
            raise Broken("its header is none") from None
        start += sizes[i]
    return Frame(header, arrays)


def _within(size: int) -> int:
    if size > MOST:
        raise Broken(f"it would have {size} bytes")
    return size


def _exactly(pipe: int, size: int) -> bytes:
    out = bytearray()
    while len(out) < size:
        piece = os.read(pipe, min(size - len(out), 2**20))
        if not piece:
            raise EOFError
        out += piece
    return bytes(out)


class Observation:
    """What the agent sees: attributes by name, some of which are computed when asked for."""

    def __init__(self, frame: Frame, compute: Callable[[str], Any]) -> None:
        self.__dict__.update({name: {} for name in frame.header["groups"]})
        self.__dict__.update({name: None for name in frame.header["none"]})
        for name, array in frame.part("observation").items():
            group, _, key = name.partition("/")
            if key:
                self.__dict__[group][key] = array
            else:
                self.__dict__[name] = array
        self._names = [name for name in self.__dict__ if not name.startswith("_")]
        self._computed = frame.header["computed"]
        self._compute = compute

    def __getattr__(self, name: str) -> Any:
        """Returns what is computed when it is asked for."""
        if name in self.__dict__.get("_computed", ()):
            self.__dict__[name] = value = self._compute(name)
            return value
        raise AttributeError(f"the observation has no {name}; it has {', '.join(self._names)}")


class Instructions(NamedTuple):
    """What has been said: the texts of the batch, and each episode's index into them."""

    texts: Any
    ids: Any


def loaded(module: str, name: str) -> Any:
    """Returns the agent at `module:name`.

    Raises:
      Refused: there is none.
    """
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [one for one in sys.path if one and os.path.realpath(one) != here]
    sys.path.append(os.getcwd())
    try:
        found = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # a module may be anybody's, and do anything
        raise Refused(f"cannot import {module}: {type(error).__name__}: {error}") from None
    if not hasattr(found, name):
        raise Refused(f"module {module} has no {name}")
    kind = getattr(found, name)
    acts = all(callable(getattr(kind, one, None)) for one in ("begin", "act"))
    if not inspect.isclass(kind) or not acts:
        raise Refused("is not an agent: expected a class with a name, begin and act")
    try:
        return kind()
    except (Exception, SystemExit) as error:
        raise Refused(f"must be made without arguments: {error}") from None


def described(agent: Any) -> Frame:
    """Returns what the parent must know of an agent: what it says of itself, and its identity.

    What it was made with is told as Python writes it, or as an array; of what is neither, the kind.
    """
    kind = type(agent)
    written, hidden, arrays = {}, {}, {}
    for name, value in attributes(agent).items():
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in KINDS:
            arrays["state/" + name] = value
        elif _plain(value):
            written[name] = repr(value)
        else:
            hidden[name] = type(value).__name__
    header = {
        "attributes": {name: getattr(agent, name) for name in TOLD if hasattr(agent, name)},
        "played_by": {"python": sys.version.split()[0], "numpy": np.__version__},
        "finishes": callable(getattr(agent, "finish", None)),
        "module": kind.__module__,
        "class": kind.__qualname__,
        "at_its_name": at_its_name(kind),
        "named": isinstance(getattr(agent, "parameters", None), (tuple, list)),
        "path": sys.path,
        "state": written,
        "hidden": hidden,
    }
    return Frame(header, arrays)


def at_its_name(kind: type) -> bool:
    """Says whether a class is what stands at its name, as one made in a function is not."""
    stands: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        stands = getattr(stands, part, None)
    return stands is kind


def attributes(agent: Any) -> dict[str, Any]:
    """Returns what an object names as its parameters, or else keeps and does not derive."""
    named = getattr(agent, "parameters", None)
    if isinstance(named, (tuple, list)):
        return {name: getattr(agent, name) for name in named}
    kept = dict(getattr(agent, "__dict__", {}))
    for kind in type(agent).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(agent, name):
                kept[name] = getattr(agent, name)
    derived = functools.cached_property
    return {
        name: value
        for name, value in kept.items()
        if name not in TOLD and not isinstance(getattr(type(agent), name, 0), derived)
    }


def _plain(value: Any, depth: int = 0) -> bool:
    """Whether Python can read a value from what it writes of it."""
    if isinstance(value, (float, complex)) and not np.isfinite(value):
        return False
    if type(value) in _PLAIN:
        return True
    if type(value) not in (list, tuple, dict, set) or depth > _DEPTH:
        return False
    inside = [*value, *value.values()] if type(value) is dict else value
    return all(_plain(one, depth + 1) for one in inside)


def find(name: str) -> Any:
    """Returns the file and the folders of a module that is loaded, or that a top one would have."""
    module = sys.modules.get(name)
    if module is not None:
        return getattr(module, "__file__", None), tuple(getattr(module, "__path__", ()))
    try:
        spec = None if "." in name else importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return None, ()
    return spec.origin if spec.has_location else None, tuple(spec.submodule_search_locations or ())


class Server:
    """Answers requests, one after the other."""

    def __init__(self, agent: Any, requests: int, answers: int) -> None:
        self._agent, self._requests, self._answers = agent, requests, answers
        self._ways = {"find": self._find, "begin": self._begin}
        self._ways["describe"] = lambda request: described(self._agent)
        self._ways.update({"act": self._act, "finish": self._finish})

    def serve(self) -> None:
        """Answers until the parent has gone."""
        try:
            send(self._answers, *described(self._agent))
            while True:
                self._answer(receive(self._requests))
        except (EOFError, BrokenPipeError):
            return

    def _answer(self, request: Frame) -> None:
        """Writes what comes of a request, an exception too; of an array of objects nothing goes."""
        try:
            send(self._answers, *self._ways[request.header["do"]](request))
        except BrokenPipeError:
            raise
        except (Exception, SystemExit) as error:
            send(self._answers, {"raised": [type(error).__name__, str(error)]}, {})

    def _find(self, request: Frame) -> Frame:
        return Frame({"found": find(request.header["name"])}, {})

    def _begin(self, request: Frame) -> Frame:
        memory = self._agent.begin(request.header["batch"], request.header["roles"])
        return Frame({}, _remembered(memory))

    def _finish(self, request: Frame) -> Frame:
        observation = self._observed(request)
        memory = self._agent.finish(observation, request.part("memory"))
        observation._computed = ()
        return Frame({}, _remembered(memory))

    def _act(self, request: Frame) -> Frame:
        observation = self._observed(request)
        texts = Instructions(tuple(request.header["texts"]), request.arrays["ids"])
        memory, draws = request.part("memory"), request.arrays["draws"]
        answer = self._agent.act(observation, texts, memory, draws)
        observation._computed = ()  # what it asked for later would be of another step
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise TypeError(f"act must return (choice, memory), found {type(answer).__name__}")
        return Frame({}, dict(_remembered(answer[1]), **_chosen(answer[0])))

    def _observed(self, request: Frame) -> Observation:
        return Observation(request, self._compute)

    def _compute(self, name: str) -> Any:
        send(self._answers, {"compute": name}, {})
        return receive(self._requests).arrays["computed"]


def _chosen(choice: Any) -> dict[str, Any]:
    """Returns the arrays of a choice: by name, or moves, says and log_probs in this order."""
    names = ("moves", "says", "log_probs")
    if isinstance(choice, dict):
        parts = [choice["moves"], *map(choice.get, names[1:])]
    elif hasattr(choice, "moves"):
        parts = [getattr(choice, name, None) for name in names]
    else:
        parts = [*choice] if isinstance(choice, tuple) else [choice]
    if not 1 <= len(parts) <= len(names):
        raise TypeError(f"expected a choice of {', '.join(names)}, found {len(parts)} parts")
    return {"choice/" + names[i]: part for i, part in enumerate(parts) if part is not None}


def _remembered(memory: Any) -> dict[str, Any]:
    if not isinstance(memory, dict) or not all(isinstance(name, str) for name in memory):
        raise TypeError(f"memory must be a dict of arrays, found {type(memory).__name__}")
    return {"memory/" + name: value for name, value in memory.items()}


def _end_with_parent(life: int) -> None:
    """Has this process, and all that it begins, end when nobody holds the pipe's other end.

    A thread sees to it, and on Linux the system, as compiled code may let no thread run.
    """
    os.set_inheritable(life, False)

    def end() -> None:
        poll = select.poll()
        poll.register(life, 0)
        poll.poll()
        time.sleep(GRACE)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=end, daemon=True).start()
    if sys.platform == "linux":
        fcntl.fcntl(life, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(life, fcntl.F_SETFL, os.O_ASYNC)


def main(module: str, name: str, life: str) -> None:
    """Plays until the parent has gone."""
    requests, answers = os.dup(0), os.dup(1)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    if life:
        _end_with_parent(int(life))
    try:
        if _NO_NUMPY:
            raise Refused(_NO_NUMPY)
        agent = loaded(module, name)
    except Refused as error:
        send(answers, {"refused": str(error)}, {})
        return
    Server(agent, requests, answers).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
