"""Plays an agent in an interpreter of its own, for a parent that has the worlds.

    PYTHON shim.py FRAMES DESCRIBED MODULE CLASS PIPE LIFE

It needs NumPy and Python 3.8 or later: nothing of the suite is installed there. Messages go over
PIPE, one end of a `multiprocessing.Pipe`, as plain values; FRAMES is the file that writes and reads
these (`sts/jobs/frames.py`), and DESCRIBED that which says what an agent is
(`sts/agents/described.py`). What the agent prints goes to standard error. Nothing is ever written
to the pipe LIFE: when its other end closes, the parent has gone, and this process ends, whatever it
is at.

A request is a name and its arguments. Its answer is ("done", value) or ("raised", type, text).
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

REFUSED = b"!"
"""Begins a message that says why there is no agent to play."""
PARTS = ("moves", "says", "log_probs")
"""The parts of a choice."""


class Refused(Exception):
    """There is no agent to play; says why."""


class Observation:
    """What the agent sees, as attributes by name."""

    def __init__(self, values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        """Refuse what there is not."""
        raise AttributeError(f"the observation has no {name}; it has {', '.join(vars(self))}")


class Instructions(NamedTuple):
    """What has been said: the texts of the batch, and each episode's index into them."""

    texts: Any
    ids: Any


def loaded(module: str, name: str) -> Any:
    """Return the agent at `module:name`.

    Raises:
      Refused: there is no such agent.
    """
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [one for one in sys.path if one and os.path.realpath(one) != here]
    sys.path.append(os.getcwd())
    try:
        found = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # the module may be anyone's, and do anything
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


class Server:
    """Answers requests, one after the other."""

    def __init__(self, agent: Any, frames: Any, described: Any, pipe: Connection) -> None:
        self._agent, self._frames, self._described, self._pipe = agent, frames, described, pipe
        self._ways: Any = {"describe": self._describe, "find": described.find}
        self._ways.update({"begin": self._begin, "act": self._act, "finish": self._finish})

    def serve(self) -> None:
        """Answer until the parent has gone."""
        try:
            while True:
                self._answer(*self._frames.unpack(self._pipe.recv_bytes()))
        except (EOFError, OSError):
            return

    def _answer(self, name: str, *given: Any) -> None:
        try:
            answer = self._frames.pack(("done", self._ways[name](*given)))
        except BaseException as error:
            answer = self._frames.pack(("raised", type(error).__name__, str(error)))
        self._pipe.send_bytes(answer)

    def _describe(self) -> Any:
        """Return what the agent says of itself; of what it keeps that is not plain, the kind."""
        found = self._described.describe(self._agent)
        found["hidden"] = {}
        for name, value in list(found["kept"].items()):
            try:
                self._frames.pack(value)
            except (TypeError, RecursionError):
                found["hidden"][name] = type(found["kept"].pop(name)).__name__
        numpy = sys.modules["numpy"].__version__
        found["played_by"] = {"python": sys.version.split()[0], "numpy": numpy}
        found["finishes"] = callable(getattr(self._agent, "finish", None))
        return found

    def _begin(self, batch: int, roles: int) -> Any:
        return _remembered(self._agent.begin(batch, roles))

    def _act(self, shown: Any, texts: Any, ids: Any, memory: Any, draws: Any) -> Any:
        answer = self._agent.act(Observation(shown), Instructions(texts, ids), memory, draws)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise TypeError(f"act must return (choice, memory), found {type(answer).__name__}")
        return _chosen(answer[0]), _remembered(answer[1])

    def _finish(self, shown: Any, memory: Any) -> Any:
        return _remembered(self._agent.finish(Observation(shown), memory))


def _chosen(choice: Any) -> dict[str, Any]:
    """Return the parts of a choice, which are given by name or in this order."""
    if isinstance(choice, dict):
        parts = [choice["moves"], *map(choice.get, PARTS[1:])]
    elif hasattr(choice, "moves"):
        parts = [getattr(choice, name, None) for name in PARTS]
    else:
        parts = [*choice] if isinstance(choice, tuple) else [choice]
    if not 1 <= len(parts) <= len(PARTS):
        raise TypeError(f"expected a choice of {', '.join(PARTS)}, found {len(parts)} parts")
    return _arrays({name: part for name, part in zip(PARTS, parts) if part is not None})  # noqa: B905


def _remembered(memory: Any) -> dict[str, Any]:
    if not isinstance(memory, dict) or not all(isinstance(name, str) for name in memory):
        raise TypeError(f"memory must be a dict of arrays, found {type(memory).__name__}")
    return _arrays(memory)


def _arrays(values: dict[str, Any]) -> dict[str, Any]:
    asarray = sys.modules["numpy"].asarray
    out = {name: asarray(value) for name, value in values.items()}
    for name, array in out.items():
        if array.dtype.kind not in "biufcSUT":
            raise TypeError(f"{name} is not an array of numbers or texts")
    return out


def _loaded_file(path: str) -> Any:
    name = os.path.splitext(os.path.basename(path))[0]
    spec: Any = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(frames: str, described: str, module: str, name: str, pipe: str, life: str) -> None:
    """Play until the parent has gone."""
    for one in (pipe, life):
        os.set_inheritable(int(one), False)
    connection = Connection(int(pipe))
    sys.stdout = sys.stderr
    try:
        codec = _loaded_file(frames)
        codec.end_with_parent(int(life))
    except Exception as error:  # a broken NumPy may raise anything
        line = f"it has no NumPy that can be imported ({type(error).__name__}: {error})"
        connection.send_bytes(REFUSED + line.encode())
        return
    try:
        server = Server(loaded(module, name), codec, _loaded_file(described), connection)
    except Refused as error:
        connection.send_bytes(REFUSED + str(error).encode())
        return
    server.serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
