"""An agent that another interpreter plays, as the engine sees it: arrays go over, arrays come back.

Each process begins a child of its own for an agent, and uses it for all batches.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from sts.agents.elsewhere.child import child
from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.errors import ArgumentError, StsError

_SENT = (np.ndarray, np.generic, dict, type(None))


class Elsewhere(Agent):
    """What stands for the agent here; its name and all that it declares are the agent's own.

    If the agent learns from an episode that has come to its end, it has `finish`.

    Attributes:
      child: plays it.
      played_by: the versions at work there.
    """

    def __init__(self, spelling: str) -> None:
        """Begin the agent's process, unless this process has it.

        Raises:
          ArgumentError: it is not PYTHON:module:Class, or the interpreter does not exist, has no
            NumPy, or has no such agent.
          Died: it ends or does not come back.
        """
        python, module, name = spelling.rsplit(":", 2)
        if not python or not all(part.isidentifier() for part in (*module.split("."), name)):
            raise ArgumentError(f"expected agent as PYTHON:module:Class, found {spelling!r}")
        try:
            self.child = child(python, module, name)
        except StsError as error:
            raise error.saying(f"agent {spelling!r}: {error}") from error
        self.played_by = {n: str(v) for n, v in self.child.told["played_by"].items()}
        for attribute, value in self.child.told["declared"].items():
            setattr(self, attribute, value)
        if self.child.told["finishes"]:
            self.finish = self._finish

    def begin(self, batch: int, roles: int) -> Memory:
        """Return what the agent begins with."""
        return _memory(self.child.ask("begin", batch, roles))

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return what the agent chooses, and its memory after it."""
        choice, memory = self._ask("act", observation, *instructions, memory, draws)
        if "moves" not in choice:
            raise StsError("it chose no moves")
        made = Choice(choice["moves"], choice.get("says"), choice.get("log_probs"))
        return made, _memory(memory)

    def _finish(self, observation: Any, memory: Memory) -> Memory:
        return _memory(self._ask("finish", observation, memory))

    def _ask(self, request: str, observation: Any, *given: Any) -> Any:
        """Return its answer to a request about an observation.

        Its arrays, groups of them and properties go over. What is not an array, such as the worlds
        themselves, stays here.
        """
        if is_dataclass(observation):
            values = {field.name: getattr(observation, field.name) for field in fields(observation)}
        elif hasattr(observation, "_asdict"):
            values = observation._asdict()
        else:
            values = dict(vars(observation))
        for name, value in vars(type(observation)).items():
            if isinstance(value, property) and not name.startswith("_"):
                values[name] = getattr(observation, name)
        sent = {name: value for name, value in values.items() if isinstance(value, _SENT)}
        return self.child.ask(request, sent, *given)


def is_spelling(name: str) -> bool:
    """Return True if a name is PYTHON:module:Class."""
    return name.count(":") >= 2


def _memory(memory: Any) -> Memory:
    """Return a memory; a `StsError` if it is not one."""
    if not isinstance(memory, dict) or not all(isinstance(v, np.ndarray) for v in memory.values()):
        raise StsError("it remembers something else than arrays")
    return memory
