"""An agent that another interpreter plays, as the engine sees it: arrays go over, arrays come back.

It is pickled by its spelling, so that a worker begins a child of its own.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from sts.agents.elsewhere.child import Child, child
from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.errors import ArgumentError, StsError


class Elsewhere(Agent):
    """What stands for the agent here; its name and all that it declares are the agent's own.

    Attributes:
      spelling: PYTHON:module:Class.
      child: plays it.
      played_by: the versions at work there.
    """

    def __init__(self, spelling: str) -> None:
        """Begins the agent's process, unless this process has it.

        Raises:
          ArgumentError: the interpreter is none, has no NumPy, or has no such agent.
          Died: it ends or does not come back.
        """
        self.spelling, self.child = spelling, _child(spelling)
        self.played_by = {n: str(v) for n, v in self.child.told.header["played_by"].items()}
        for name, value in self.child.told.header["attributes"].items():
            setattr(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Lets it cross to a worker process."""
        return load, (self.spelling,)

    def begin(self, batch: int, roles: int) -> Memory:
        """Returns what the agent begins with."""
        return self.child.ask({"do": "begin", "batch": batch, "roles": roles}, {}).part("memory")

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Returns what the agent chooses, and its memory after it."""
        shown = _shown(observation)
        answer = self.child.ask(
            {"do": "act", "texts": instructions.texts, **shown.names},
            {**shown.arrays, **_kept(memory), "ids": instructions.ids, "draws": draws},
            lambda name: _computed(observation, shown, name),
        )
        choice = answer.part("choice")
        if "moves" not in choice:
            raise StsError("it chose no moves")
        made = Choice(choice["moves"], choice.get("says"), choice.get("log_probs"))
        return made, answer.part("memory")


class Rehearsing(Elsewhere):
    """One that learns from an episode that has come to its end."""

    def finish(self, observation: Any, memory: Memory) -> Memory:
        """Returns the memory with which the agent begins the episode again."""
        shown = _shown(observation)
        answer = self.child.ask(
            {"do": "finish", **shown.names},
            {**shown.arrays, **_kept(memory)},
            lambda name: _computed(observation, shown, name),
        )
        return answer.part("memory")


def is_spelling(name: str) -> bool:
    """Says whether a name is PYTHON:module:Class."""
    return name.count(":") >= 2


def load(spelling: str) -> Elsewhere:
    """Returns the agent of PYTHON:module:Class.

    Raises:
      ArgumentError: the interpreter is none, has no NumPy, or has no such agent.
      Died: it ends or does not come back.
    """
    rehearses = _child(spelling).told.header["finishes"]
    return Rehearsing(spelling) if rehearses else Elsewhere(spelling)


def _child(spelling: str) -> Child:
    python, module, name = spelling.rsplit(":", 2)
    if not python or not all(part.isidentifier() for part in (*module.split("."), name)):
        raise ArgumentError(f"expected agent as PYTHON:module:Class, found {spelling!r}")
    try:
        return child(python, module, name)
    except StsError as error:
        raise error.saying(f"agent {spelling!r}: {error}") from error


class _Shown(NamedTuple):
    """An observation taken apart: its arrays, and the names of what is none of these."""

    names: dict[str, list[str]]
    arrays: Memory


def _shown(observation: Any) -> _Shown:
    """Takes an observation apart; what is no array, such as the worlds themselves, stays here."""
    if is_dataclass(observation):
        values = {field.name: getattr(observation, field.name) for field in fields(observation)}
    elif hasattr(observation, "_asdict"):
        values = observation._asdict()
    else:
        values = dict(vars(observation))
    groups = {name: value for name, value in values.items() if isinstance(value, dict)}
    arrays: Memory = {
        f"observation/{name}": np.asarray(value)
        for name, value in values.items()
        if isinstance(value, np.ndarray | np.generic)
    }
    for name, group in groups.items():
        arrays |= {f"observation/{name}/{key}": value for key, value in group.items()}
    properties = [n for n, v in vars(type(observation)).items() if isinstance(v, property)]
    names = {
        "groups": list(groups),
        "none": [name for name, value in values.items() if value is None],
        "computed": [name for name in properties if not name.startswith("_")],
    }
    return _Shown(names, arrays)


def _computed(observation: Any, shown: _Shown, name: str) -> Any:
    if name not in shown.names["computed"]:
        raise StsError(f"it asks for {name!r}, which the observation has not")
    return getattr(observation, name)


def _kept(memory: Memory) -> Memory:
    return {f"memory/{name}": value for name, value in memory.items()}
