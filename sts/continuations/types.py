"""A continuation: the episode of context and what an agent did after it, and whose it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Sees
from sts.agents.registry import HUMAN as HUMAN
from sts.episodes import Episode, Instruction, in_order
from sts.numerics.streams import stream
from sts.storage.files import canonical_json, content_hash
from sts.suites.types import Scenario


@dataclass(frozen=True)
class Identity:
    """What tells one continuation from every other.

    Attributes:
      scenario: the scenario's content hash.
      agent: the agent's name.
      fingerprint: of its code, see `sts.agents.identity`; of the person, for a human.
      seed: chosen by whoever ran it.
      index: 0, 1, ... among the continuations of one scenario.
    """

    scenario: str
    agent: str
    fingerprint: str
    seed: int
    index: int

    @cached_property
    def id(self) -> str:
        """24 hex digits."""
        own = [self.scenario, self.agent, self.fingerprint, self.seed, self.index]
        return content_hash(canonical_json(own))[:24]

    def stream(self, part: str, agent: str) -> np.uint64:
        """Return the draws of the agent of this name that plays a part in it.

        The fingerprint is left out: every version of an agent plays with the same dice, and so does
        a partner beside whomever.

        Args:
          part: "agent", under evaluation, or "partner".
          agent: its name.
        """
        return stream("continuation", part, self.scenario, agent, self.seed, self.index)


@dataclass(frozen=True, eq=False)
class Continuation:
    """One recorded continuation.

    Attributes:
      identity: scenario, agent, seed and index.
      scenario_id: the scenario's name in the suite it was run from.
      category: the scenario's.
      kind: "instruction" or "question".
      instruction: what was asked; `given_at` counts from the start of the context.
      heard: what else the evaluated roles were told, each from its own step on.
      roles: the participants under evaluation.
      takeover: C, the number of context steps; the agent decides from step C on.
      horizon: L, the number of steps after it.
      sees: "observation", or what makes it a baseline.
      deterministic: neither the agent nor one that it plays beside draws; all are the same.
      together: how many continuations of its scenario were made in one batch with it, where its
        results depend on that; else 0.
      episode: C + L steps.
      log_probs: float32[C + L, R], of what each role did, under the agent; NaN where it has none.
      seconds: what it took, its share of a batch; in no hash.
      provenance: versions and commit; in no hash.
    """

    identity: Identity
    scenario_id: str
    category: str
    kind: str
    instruction: Instruction
    heard: tuple[Instruction, ...]
    roles: tuple[int, ...]
    takeover: int
    horizon: int
    sees: Sees
    deterministic: bool
    together: int
    episode: Episode
    log_probs: NDArray[np.float32]
    seconds: float
    provenance: dict[str, Any]

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """All that its roles were told, in the order of its steps, the judged one last."""
        return in_order(self.instruction, self.heard)

    @property
    def id(self) -> str:
        """The identity's 24 hex digits."""
        return self.identity.id

    @property
    def agent(self) -> str:
        """The agent's name."""
        return self.identity.agent

    @property
    def fingerprint(self) -> str:
        """The agent's fingerprint."""
        return self.identity.fingerprint

    @property
    def scenario_hash(self) -> str:
        """The scenario's content hash."""
        return self.identity.scenario

    @property
    def batch_sensitive(self) -> bool:
        """Whether its results depend on what ran beside it."""
        return self.together > 0

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of what happened, to whom, and what its agent may see.

        The same on every machine and in every order.
        """
        terms = _terms(*(getattr(self, name) for name in _TERMS))
        return content_hash(self.id.encode(), terms, self.episode.content_hash.encode())

    @cached_property
    def clip(self) -> str:
        """32 hex digits of what there is to be seen and heard of it.

        Continuations of one scenario that look and sound the same have one; which moves and
        rewards made it so is not told by it, nor by whom.
        """
        return content_hash(self.scenario_hash.encode(), self.episode.appearance.encode())[:32]


_TERMS = (
    *("category", "kind", "instruction", "heard", "roles", "takeover", "horizon"),
    *("sees", "deterministic"),
)
"""What all continuations of a scenario and agent share of what is hashed."""


@lru_cache(maxsize=4096)
def _terms(*values: Any) -> bytes:
    terms = dict(zip(_TERMS, values, strict=True))
    terms["instruction"] = terms["instruction"].view()
    terms["heard"] = [one.view() for one in terms["heard"]]
    if not terms["heard"]:  # which leaves hashes alone
        del terms["heard"]
    return canonical_json(terms)


def continuation(
    scenario: Scenario, identity: Identity, episode: Episode, **more: Any
) -> Continuation:
    """Return the continuation of `scenario` that `episode` is.

    `more` are the attributes that do not follow from these; `together` is 0 unless it is given.
    """
    own = {name: getattr(scenario, name) for name in _TERMS if hasattr(scenario, name)}
    own |= {"together": 0} | more
    return Continuation(identity=identity, scenario_id=scenario.id, episode=episode, **own)
