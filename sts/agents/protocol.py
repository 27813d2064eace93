"""The one protocol: an agent plays a team of R roles in B episodes at once.

Everything random that happens is drawn by the engine: it samples the returned distribution, and
gives an agent that plans with chance its numbers. So an agent is a pure function of what it is
passed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Sees = Literal["observation", "world", "rehearsal", "recording"]


class Instructions(NamedTuple):
    """What each episode's team has been told so far.

    Attributes:
      texts: the distinct texts of this batch; `texts[0]` is "", nothing said yet.
      ids: int32[B], which text each episode has now. Parse `texts`, then index by `ids`.
    """

    texts: tuple[str, ...]
    ids: NDArray[np.int32]


class Choice(NamedTuple):
    """What a team does next.

    Attributes:
      moves: weights, float64[B, R, moves], at least 0 and not all 0, proportional to the
        probability of each move; or, from an agent that only has actions, integers [B, R]. Where a
        world's actions are several numbers or real ones: actions [B, R, ...], of its dtype and
        shape and within its bounds, made with the agent's `draws`.
      says: the same over tokens, or, where a world names none, texts [B, R]; None is silence.
      log_probs: where `moves` are actions, the log-probability of each, or its log-density under
        the agent; float[B, R]. None says that it has none.
    """

    moves: NDArray[Any]
    says: NDArray[Any] | None = None
    log_probs: NDArray[Any] | None = None


Memory: TypeAlias = dict[str, NDArray[Any]]
"""What a team remembers: arrays whose first axis is the episode."""
Draws: TypeAlias = NDArray[np.float64]
"""What an agent plans with: B, R and as many as it asks for, each in [0, 1)."""


class Agent(ABC):
    """A team's policy: derive from it, or offer the same names.

    Attributes:
      name: how reports call it.
      sees: "observation" (ranked); "world", "rehearsal" and "recording" are baselines outside it.
      deterministic: it always answers alike, so one continuation is enough where its partner does
        too.
      draws: how many uniform numbers each role needs at each step for its own planning.
      domain: whose worlds it plays; "" for any.
      trained_on: the recordings that it has learned from, in a few words; "" for none.
      version: stated by its author where its code does not say all that it is; "" elsewhere.
      parameters: names of the attributes that make it the agent that it is and stay as they are
        while it plays; None for all that it keeps when it is made, as docs/agents.md says.
    """

    name: ClassVar[str]
    sees: ClassVar[Sees] = "observation"
    deterministic: ClassVar[bool] = False
    draws: int = 0
    domain: ClassVar[str] = ""
    trained_on: str = ""
    version: str = ""
    parameters: ClassVar[tuple[str, ...] | None] = None

    def begin(self, batch: int, roles: int) -> Memory:
        """Return a team's memory at the start: arrays whose first axis is the episode."""
        return {}

    @abstractmethod
    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return what the team does at this step, and its memory after it.

        Args:
          observation: what the domain shows the team's roles, arrays of leading shape (B, R).
          instructions: what has been said to the team.
          memory: what it returned last; never written to in place.
          draws: float64[B, R, self.draws] in [0, 1).
        """
