"""Proxy for an agent that runs in another Python interpreter.

Observations and actions are exchanged as arrays. Each process starts one child process per agent,
and uses it for all batches.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from sts.agents.external.child import get_process
from sts.agents.protocol import Agent, Draws, Instructions, Memory, PolicyOutput
from sts.errors import ArgumentError, StsError

_SENDABLE = (np.ndarray, np.generic, dict, type(None))


class ExternalAgent(Agent):
    """A proxy with the name and declared attributes of the external agent.

    It has a method `finish` if the external agent has one, to learn from finished episodes.

    Attributes:
      child: the process that runs the agent.
      played_by: the versions of Python and NumPy there.
    """

    def __init__(self, spelling: str, arguments: Mapping[str, Any] | None = None) -> None:
        """Start the agent's process, or use the running one with these constructor arguments.

        Raises:
          ArgumentError: `spelling` is not PYTHON:module:Class, or the interpreter does not exist,
            has no NumPy, or has no such agent.
          WorkerDied: the process exits or does not respond.
        """
        python, module, name = spelling.rsplit(":", 2)
        if not python or not all(part.isidentifier() for part in (*module.split("."), name)):
            raise ArgumentError(f"expected agent as PYTHON:module:Class, found {spelling!r}")
        try:
            self.child = get_process(python, module, name, arguments or {})
        except StsError as error:
            raise error.with_message(f"agent {spelling!r}: {error}") from error
        self.played_by = {n: str(v) for n, v in self.child.description["played_by"].items()}
        for attribute, value in self.child.description["declared"].items():
            setattr(self, attribute, value)
        self.wordings = self.child.description["wordings"]
        self.reproducible = self.child.description["reproducible"]
        if self.child.description["finishes"]:
            self.finish = self._finish

    def initial_state(self, batch: int, players: int) -> Memory:
        """Return the agent's state before the first step."""
        return _check_state(self.child.request("initial_state", batch, players))

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the agent's policy output, and its next state."""
        choice, memory = self._request("act", observation, *instructions, memory, draws)
        if "actions" not in choice:
            raise StsError("expected a policy output with actions, found none")
        output = PolicyOutput(choice["actions"], choice.get("utterances"), choice.get("log_probs"))
        return output, _check_state(memory)

    def _finish(self, observation: Any, memory: Memory) -> Memory:
        return _check_state(self._request("finish", observation, memory))

    def _request(self, request: str, observation: Any, *arguments: Any) -> Any:
        """Send an observation with a request and return the answer.

        Only arrays, dicts of arrays and public properties are sent, not other objects such as the
        worlds themselves.
        """
        kind: Any = type(observation)
        named, properties = _list_attributes(kind)
        names = (*(named or vars(observation)), *properties)
        values = ((name, getattr(observation, name)) for name in names)
        sent = {name: value for name, value in values if isinstance(value, _SENDABLE)}
        return self.child.request(request, sent, *arguments)


@cache
def _list_attributes(kind: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the fields of a class of observations, () if unknown, and its public properties."""
    named = [f.name for f in fields(kind)] if is_dataclass(kind) else getattr(kind, "_fields", ())
    properties = (name for name, value in vars(kind).items() if isinstance(value, property))
    return tuple(named), tuple(name for name in properties if not name.startswith("_"))


def is_external_path(name: str) -> bool:
    """Return True if a name has the form PYTHON:module:Class."""
    return name.count(":") >= 2


def _check_state(memory: Any) -> Memory:
    """Return an agent state; raise `StsError` if it is not a dict of arrays."""
    if not isinstance(memory, dict) or not all(isinstance(v, np.ndarray) for v in memory.values()):
        raise StsError(f"expected memory as a dict of arrays, found {type(memory).__name__}")
    return memory
