"""An agent that plays a few episodes in each call, so that no result depends on the others."""

from __future__ import annotations

import copy
from typing import Any, cast

import numpy as np

from sts.agents.protocol import Agent, Draws, Instructions, Memory, PolicyOutput


def play_apart(agent: Agent, size: int) -> Agent:
    """Return the agent such that each of its calls has `size` episodes of a larger batch."""
    return cast("Agent", _Apart(agent, size))


class _Apart:
    def __init__(self, agent: Agent, size: int) -> None:
        self._agent, self._size = agent, size

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    def initial_state(self, batch: int, players: int) -> Memory:
        return _join([self._agent.initial_state(self._size, players)] * (batch // self._size))

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        outputs, memories = [], []
        for at in range(0, len(draws), self._size):
            rows = slice(at, at + self._size)
            heard = instructions._replace(ids=instructions.ids[rows])
            known = _take_rows(memory, rows)
            output, state = self._agent.act(
                _take_rows(observation, rows), heard, known, draws[rows]
            )
            outputs.append(output)
            memories.append(state)
        fields: list[Any] = [
            None if any(own is None for own in column) else np.concatenate(column)
            for column in zip(*outputs, strict=True)
        ]
        return PolicyOutput(*fields), _join(memories)


def _take_rows(value: Any, rows: slice) -> Any:
    """Return the rows of an observation or memory: of the arrays and tuples in it."""
    if isinstance(value, dict):
        return {name: _take_rows(own, rows) for name, own in value.items()}
    if hasattr(value, "_asdict"):
        return value._replace(**_take_rows(value._asdict(), rows))
    if isinstance(value, np.ndarray | tuple):
        return value[rows]
    if not hasattr(value, "__dict__"):
        return value
    taken = copy.copy(value)
    for name, own in vars(value).items():
        object.__setattr__(taken, name, _take_rows(own, rows))
    return taken


def _join(memories: list[Memory]) -> Memory:
    return {name: np.concatenate([own[name] for own in memories]) for name in memories[0]}
