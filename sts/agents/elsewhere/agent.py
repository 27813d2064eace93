"""An agent that another interpreter plays, as the engine sees it: arrays go over, arrays come back.

Each process begins a child of its own for an agent, and uses it for all batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from sts.agents.elsewhere.child import Child, child
from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.errors import ArgumentError, StsError

_SENT = (np.ndarray, np.generic, dict)


class Elsewhere(Agent):
    """What stands for the agent here; its name and all that it declares are the agent's own.

    Attributes:
      child: plays it.
      played_by: the versions at work there.
    """

    def __init__(self, spelling: str) -> None:
        """Begin the agent's process, unless this process has it.

        Raises:
          ArgumentError: the interpreter does not exist, has no NumPy, or has no such agent.
          Died: it ends or does not come back.
        """
        self.child = _child(spelling)
        self.played_by = {n: str(v) for n, v in self.child.told["played_by"].items()}
        for name, value in self.child.told["declared"].items():
            setattr(self, name, value)

    def begin(self, batch: int, roles: int) -> Memory:
        """Return what the agent begins with."""
        return _memory(self.child.ask("begin", batch, roles))

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return what the agent chooses, and its memory after it."""
        shown, compute = _shown(observation)
        given = (*instructions, memory, draws)
        choice, memory = self.child.ask("act", shown, *given, compute=compute)
        if "moves" not in choice:
            raise StsError("it chose no moves")
        made = Choice(choice["moves"], choice.get("says"), choice.get("log_probs"))
        return made, _memory(memory)


class Rehearsing(Elsewhere):
    """One that learns from an episode that has come to its end."""

    def finish(self, observation: Any, memory: Memory) -> Memory:
        """Return the memory with which the agent begins the episode again."""
        shown, compute = _shown(observation)
        return _memory(self.child.ask("finish", shown, memory, compute=compute))


def is_spelling(name: str) -> bool:
    """Says whether a name is PYTHON:module:Class."""
    return name.count(":") >= 2


def load(spelling: str) -> Elsewhere:
    """Returns the agent of PYTHON:module:Class.

    Raises:
      ArgumentError: the interpreter is none, has no NumPy, or has no such agent.
      Died: it ends or does not come back.
    """
    rehearses = _child(spelling).told["finishes"]
    return Rehearsing(spelling) if rehearses else Elsewhere(spelling)


def _child(spelling: str) -> Child:
    python, module, name = spelling.rsplit(":", 2)
    if not python or not all(part.isidentifier() for part in (*module.split("."), name)):
        raise ArgumentError(f"expected agent as PYTHON:module:Class, found {spelling!r}")
    try:
        return child(python, module, name)
    except StsError as error:
        raise error.saying(f"agent {spelling!r}: {error}") from error


def _shown(observation: Any) -> tuple[tuple[dict[str, Any], list[str]], Callable[[str], Any]]:
    """Take an observation apart.

    Returns:
      its arrays and groups of arrays by name, and the names of what it computes; and what computes
      these. What is not an array, such as the worlds themselves, stays here.
    """
    if is_dataclass(observation):
        values = {field.name: getattr(observation, field.name) for field in fields(observation)}
    elif hasattr(observation, "_asdict"):
        values = observation._asdict()
    else:
        values = dict(vars(observation))
    sent = {n: v for n, v in values.items() if v is None or isinstance(v, _SENT)}
    kind = vars(type(observation)).items()
    computed = [n for n, v in kind if isinstance(v, property) and not n.startswith("_")]

    def compute(name: str) -> Any:
        if name not in computed:
            raise StsError(f"it asks for {name!r}, which the observation has not")
        return getattr(observation, name)

    return (sent, computed), compute


def _memory(memory: Any) -> Memory:
    """Return a memory, if it is one.

    Raises:
      StsError: it is not.
    """
    if not isinstance(memory, dict) or not all(isinstance(v, np.ndarray) for v in memory.values()):
        raise StsError("it remembers something else than arrays")
    return memory
