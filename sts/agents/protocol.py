"""The agent protocol: one agent plays a team of R players in B episodes at once.

An agent is a pure function of its arguments. The engine samples the distributions that it returns,
and passes random numbers to an agent that asks for some.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Sees = Literal["observation", "world", "rehearsal", "recording"]


class Instructions(NamedTuple):
    """The current instruction of each episode's team.

    Attributes:
      texts: of this batch so far; `texts[0]` is "", for no instruction yet.
      ids: int32[B], the index of each episode's text. Parse `texts`, then index by `ids`. Each new
        instruction of an episode has a larger id than its earlier ones, even with the same text.
    """

    texts: tuple[str, ...]
    ids: NDArray[np.int32]


class PolicyOutput(NamedTuple):
    """The policy output of a team for one step.

    Attributes:
      actions: weights, float64[B, R, A] over A named actions, at least 0 and not all 0,
        proportional to their probabilities; or the chosen actions, integers [B, R]. If an action is
        several numbers or real ones: actions [B, R, ...], of the domain's dtype and shape and
        within its bounds.
      utterances: the same for tokens, or texts [B, R] if the domain has no tokens; None is silence.
      log_probs: float[B, R], the log-probability or log-density of each action under the agent, if
        `actions` are chosen actions; None if unknown.
    """

    actions: NDArray[Any]
    utterances: NDArray[Any] | None = None
    log_probs: NDArray[Any] | None = None


Memory: TypeAlias = dict[str, NDArray[Any]]
"""The recurrent state of a team: arrays whose first axis is the episode."""
Draws: TypeAlias = NDArray[np.float64]
"""Random numbers for an agent's own planning: float64[B, R, draws] in [0, 1)."""


class Agent(ABC):
    """The policy of a team. Derive from this class, or define the same attributes.

    Attributes:
      name: shown in reports.
      sees: access level: "observation" is ranked; "world", "rehearsal" and "recording" have
        privileged information and are baselines.
      sees_frame: True if its observation should have `frame`, the players' rendered pictures.
      deterministic: True if it always acts the same, so that one continuation is enough when its
        partner is deterministic too.
      draws: the number of uniform random numbers that each player needs per step.
      domain: the name of the only domain that it plays; "" for any.
      trained_on: a short description of the recordings used for training; "" for none.
      wordings: the instructions that it understands, if it understands few others. In live sessions
        people can choose from them.
      version: set by its author if the code does not determine the behaviour; else "".
      reproducible: False if it cannot repeat itself, such as a language model or a robot. It then
        needs a version, and its continuations are never played again.
      parameters: names of the attributes that enter the fingerprint and stay fixed while it plays;
        None for all attributes set by its constructor, see docs/agents.md.

    Examples:
      >>> import numpy as np
      >>> import sts
      >>> from sts.agents import PolicyOutput
      >>> class Still(sts.Agent):
      ...     name, domain = "still", "lambda-star"
      ...
      ...     def act(self, observation, instructions, memory, draws):
      ...         return PolicyOutput(np.zeros(draws.shape[:2], np.int64)), memory
    """

    name: ClassVar[str]
    sees: ClassVar[Sees] = "observation"
    sees_frame: ClassVar[bool] = False
    deterministic: ClassVar[bool] = False
    draws: int = 0
    domain: ClassVar[str] = ""
    trained_on: str = ""
    wordings: tuple[str, ...] = ()
    version: str = ""
    reproducible: bool = True
    parameters: ClassVar[tuple[str, ...] | None] = None

    def initial_state(self, batch: int, players: int) -> Memory:
        """Return the team's state before the first step: arrays whose first axis is the episode."""
        return {}

    @abstractmethod
    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the policy output for this step, and the team's next state.

        Args:
          observation: the domain's observation, arrays of leading shape (B, R).
          instructions: the team's current instructions.
          memory: the state returned by the previous call; do not modify it in place.
          draws: float64[B, R, self.draws] in [0, 1).
        """
