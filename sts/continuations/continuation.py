"""Continuations: the episode of the context and what followed it, and whose it is."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Sees
from sts.agents.registry import HUMAN as HUMAN
from sts.domains import load_domain
from sts.episodes import Episode, Instruction, sort_instructions
from sts.errors import StsError
from sts.numerics.streams import stream
from sts.storage.files import canonical_json, content_hash
from sts.suites.suite import Scenario


@dataclass(frozen=True)
class Identity:
    """The values that identify a continuation."""

    scenario: str  # the scenario's content hash
    agent: str  # the agent's name
    fingerprint: str  # of its code, see `sts.agents.identity`; of the person, for a human
    seed: int  # of the run
    index: int  # 0, 1, ... among the continuations of one scenario

    @cached_property
    def id(self) -> str:
        """A hash of the identity, 24 hex digits."""
        terms = [self.scenario, self.agent, self.fingerprint, self.seed, self.index]
        return content_hash(canonical_json(terms))[:24]

    def random_stream(self, team: str, agent: str) -> np.uint64:
        """Return the random stream of the agent that plays a team, "agent" or "partner", in it.

        The fingerprint does not enter: all versions of an agent have the same random numbers, and
        so does a partner, whichever agent it plays with.
        """
        return stream("continuation", team, self.scenario, agent, self.seed, self.index)


@dataclass(frozen=True, eq=False)
class Continuation:
    """One recorded continuation.

    Attributes:
      identity: scenario, agent, seed and index.
      scenario_id: the scenario's name in the suite it was run from.
      category: the scenario's.
      kind: "instruction" or "question".
      instruction: the one that is judged; `given_at` counts from the start of the context.
      earlier_instructions: others that the evaluated players were given, each at its own step.
      players: the players under evaluation.
      takeover: C, the number of context steps; the agent decides from step C on.
      horizon: L, the number of steps after it.
      sees: "observation", or the privileged information that makes it a baseline.
      deterministic: neither the agent nor its partner draws; all continuations are the same.
      together: the size of the batch of its scenario, if its results depend on that; else 0.
      episode: C + L steps.
      log_probs: float32[C + L, R], of each role's actions under the agent; NaN if it has none.
      seconds: its share of the time that the batch took; in no hash.
      provenance: versions and commit; in no hash.
    """

    identity: Identity
    scenario_id: str
    category: str
    kind: str
    instruction: Instruction
    earlier_instructions: tuple[Instruction, ...]
    players: tuple[int, ...]
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
        """All instructions to its roles, in the order of their steps, the judged one last."""
        return sort_instructions(self.instruction, self.earlier_instructions)

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

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of the episode, the evaluated roles, and what the agent may see.

        The same on every machine and in every order.
        """
        terms = _encode_terms(*(getattr(self, name) for name in _TERMS))
        return content_hash(self.id.encode(), terms, self.episode.content_hash.encode())

    @cached_property
    def clip(self) -> str:
        """A hash of what can be seen and heard of it, 32 hex digits.

        Continuations of one scenario that look and sound the same share it. It depends neither on
        the agent nor on actions and rewards that are not visible: actions count if the domain
        draws them.
        """
        fields = [self.scenario_hash.encode(), self.episode.appearance_hash.encode()]
        if _draws_actions(self.episode.domain):
            fields.append(self.episode.actions.tobytes())
        return content_hash(*fields)[:32]


def _draws_actions(domain: str) -> bool:
    """Return True if a domain draws actions; False if it is not available here."""
    try:
        return bool(getattr(load_domain(domain), "draws_actions", False))
    except StsError:
        return False


_TERMS = (
    *("category", "kind", "instruction", "earlier_instructions", "players", "takeover", "horizon"),
    *("sees", "deterministic"),
)
"""The hashed attributes that all continuations of a scenario and agent share."""


@lru_cache(maxsize=4096)
def _encode_terms(*values: Any) -> bytes:
    terms = dict(zip(_TERMS, values, strict=True))
    terms["roles"] = terms.pop("players")  # the key in the hashed form
    terms["instruction"] = terms["instruction"].to_json()
    earlier = terms.pop("earlier_instructions")
    if earlier:  # keeps the hashes of scenarios without any
        terms["heard"] = [instruction.to_json() for instruction in earlier]
    return canonical_json(terms)


def make_continuation(
    scenario: Scenario, identity: Identity, episode: Episode, **attributes: Any
) -> Continuation:
    """Make the continuation of `scenario` that has this identity and episode.

    `attributes` are those of `Continuation` that do not follow from these; `together` is 0, for
    results that do not depend on the batch, unless given.
    """
    fields = {name: getattr(scenario, name) for name in _TERMS if hasattr(scenario, name)}
    fields |= {"takeover": scenario.context, "together": 0} | attributes
    return Continuation(identity=identity, scenario_id=scenario.id, episode=episode, **fields)
