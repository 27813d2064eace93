"""Agents that keep what they are made with; in a file of its own, which is read as their code."""

import functools
from dataclasses import dataclass

import numpy as np

from sts import agents


@dataclass(frozen=True)
class Setting:
    share: float
    words: tuple[str, ...] = ()


class Made(agents.Agent):
    name = "made"

    def __init__(self, **kept: object) -> None:
        self.__dict__.update(kept)

    def act(self, observation, instructions, memory, draws):
        return agents.PolicyOutput(np.ones((1, 1, 9))), memory

    @functools.cached_property
    def derived(self):
        return object()


class Versioned(Made):
    version = "1.2"
