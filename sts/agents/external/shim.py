"""Server that runs an agent in an interpreter of its own, for a parent that runs the environment.

    PYTHON shim.py FRAMES DESCRIBED MODULE CLASS PIPE LIFE ARGUMENTS

It needs Python 3.8 or later and NumPy, not this distribution. FRAMES is the file that encodes
messages (`sts/jobs/frames.py`), and DESCRIBED the one that describes agents
(`sts/agents/introspection.py`). PIPE is one end of a `multiprocessing.Pipe`. Nothing is written to
the pipe LIFE: when its other end closes, the parent has ended, and this process is killed.
ARGUMENTS are those of the agent's constructor, in JSON. The agent's prints go to standard error.

A request is a name and its arguments. Its answer is ("done", value) or ("raised", type, text).
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import sys
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

LOAD_FAILED = b"!"
"""Prefix of a message with the reason why the agent cannot be loaded."""
OUTPUT_FIELDS = ("actions", "utterances", "log_probs")
"""The fields of `sts.agents.PolicyOutput`."""


class LoadFailed(Exception):
    """The agent cannot be loaded; the message is the reason."""


class Observation:
    """An observation, with its arrays as attributes."""

    def __init__(self, values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        """Raise an AttributeError that lists the attributes."""
        raise AttributeError(f"the observation has no {name}; it has {', '.join(vars(self))}")


class Instructions(NamedTuple):
    """The current instructions: the texts of the batch, and each episode's index into them."""

    texts: Any
    ids: Any


def load_agent(module: str, name: str, arguments: Any) -> Any:
    """Import and construct the agent at `module:name` with these arguments.

    Raises:
      LoadFailed: there is no such agent.
    """
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry and os.path.realpath(entry) != here]
    sys.path.append(os.getcwd())
    try:
        imported = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # third-party code
        raise LoadFailed(f"cannot import {module}: {type(error).__name__}: {error}") from None
    if not hasattr(imported, name):
        raise LoadFailed(f"module {module} has no {name}")
    kind = getattr(imported, name)
    has_methods = all(callable(getattr(kind, method, None)) for method in ("initial_state", "act"))
    if not inspect.isclass(kind) or not has_methods:
        raise LoadFailed("is not an agent: expected a class with a name, initial_state and act")
    try:
        return kind(**arguments)
    except (Exception, SystemExit) as error:
        which = "with " + ", ".join(arguments) if arguments else "without arguments"
        raise LoadFailed(f"cannot be constructed {which}: {error}") from None


class Server:
    """Request loop of one agent."""

    def __init__(self, agent: Any, frames: Any, described: Any, pipe: Connection) -> None:
        self._agent, self._frames, self._described, self._pipe = agent, frames, described, pipe
        self._handlers: Any = {"describe": self._describe, "find": described.find_module}
        self._handlers.update(
            {"initial_state": self._initial_state, "act": self._act, "finish": self._finish}
        )

    def serve(self) -> None:
        """Answer requests until the parent has ended."""
        try:
            while True:
                self._answer(*self._frames.decode(self._pipe.recv_bytes()))
        except (EOFError, OSError):
            return

    def _answer(self, name: str, *arguments: Any) -> None:
        try:
            answer = self._frames.encode(("done", self._handlers[name](*arguments)))
        except BaseException as error:
            answer = self._frames.encode(("raised", type(error).__name__, str(error)))
        self._pipe.send_bytes(answer)

    def _describe(self) -> Any:
        """Return the agent's description, with only the type of values that cannot be sent."""
        description = self._described.describe(self._agent)
        description["hidden"] = {}
        for name, value in list(description["kept"].items()):
            try:
                self._frames.encode(value)
            except (TypeError, RecursionError):
                kind = type(description["kept"].pop(name)).__name__
                description["hidden"][name] = kind
        numpy = sys.modules["numpy"].__version__
        description["played_by"] = {"python": sys.version.split()[0], "numpy": numpy}
        description["finishes"] = callable(getattr(self._agent, "finish", None))
        return description

    def _initial_state(self, batch: int, players: int) -> Any:
        return _encode_state(self._agent.initial_state(batch, players))

    def _act(self, values: Any, texts: Any, ids: Any, memory: Any, draws: Any) -> Any:
        answer = self._agent.act(Observation(values), Instructions(texts, ids), memory, draws)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise TypeError(f"act must return (output, memory), found {type(answer).__name__}")
        return _encode_output(answer[0]), _encode_state(answer[1])

    def _finish(self, values: Any, memory: Any) -> Any:
        return _encode_state(self._agent.finish(Observation(values), memory))


def _encode_output(choice: Any) -> dict[str, Any]:
    """Return the fields of a policy output, given by name or in the order of `OUTPUT_FIELDS`."""
    if isinstance(choice, dict):
        parts = [choice["actions"], *map(choice.get, OUTPUT_FIELDS[1:])]
    elif hasattr(choice, "actions"):
        parts = [getattr(choice, name, None) for name in OUTPUT_FIELDS]
    else:
        parts = [*choice] if isinstance(choice, tuple) else [choice]
    if not 1 <= len(parts) <= len(OUTPUT_FIELDS):
        raise TypeError(
            f"expected a policy output of {', '.join(OUTPUT_FIELDS)}, found {len(parts)} parts"
        )
    return _as_arrays({name: part for name, part in zip(OUTPUT_FIELDS, parts) if part is not None})  # noqa: B905


def _encode_state(memory: Any) -> dict[str, Any]:
    if not isinstance(memory, dict) or not all(isinstance(name, str) for name in memory):
        raise TypeError(f"memory must be a dict of arrays, found {type(memory).__name__}")
    return _as_arrays(memory)


def _as_arrays(values: dict[str, Any]) -> dict[str, Any]:
    asarray = sys.modules["numpy"].asarray
    out = {name: asarray(value) for name, value in values.items()}
    for name, array in out.items():
        if array.dtype.kind not in "biufcSUT":
            raise TypeError(f"expected {name} as numbers or texts, found {array.dtype}")
    return out


def _load_file(path: str) -> Any:
    name = os.path.splitext(os.path.basename(path))[0]
    spec: Any = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(
    frames: str, described: str, module: str, name: str, pipe: str, life: str, arguments: str
) -> None:
    """Load the agent and answer requests until the parent has ended."""
    for descriptor in (pipe, life):
        os.set_inheritable(int(descriptor), False)
    connection = Connection(int(pipe))
    sys.stdout = sys.stderr
    try:
        codec = _load_file(frames)
        codec.end_with_parent(int(life))
    except Exception as error:  # a broken NumPy may raise anything
        line = f"NumPy cannot be imported ({type(error).__name__}: {error})"
        connection.send_bytes(LOAD_FAILED + line.encode())
        return
    try:
        agent = load_agent(module, name, json.loads(arguments))
        server = Server(agent, codec, _load_file(described), connection)
    except LoadFailed as error:
        connection.send_bytes(LOAD_FAILED + str(error).encode())
        return
    server.serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
