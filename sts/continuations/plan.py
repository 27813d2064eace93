"""The plan of a run: the continuations that are missing when it starts, cut into chunks.

The chunks depend on that list alone and not on the workers; the plan's hash names the parts in
which they are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import sts
from sts.agents.info import AgentInfo
from sts.continuations.index import Index
from sts.continuations.takeover import compute_shape, is_deterministic
from sts.errors import ArgumentError
from sts.storage.files import canonical_json, content_hash
from sts.suites.suite import Scenario

MIN_CHUNK_SIZE, MAX_CHUNK_SIZE = 40, 400
"""Bounds of the size of a chunk: few files in large plans, work for every worker in small ones."""
TARGET_CHUNKS = 16
"""Number of chunks of a plan if neither bound applies."""
_FORMAT = 1


class Share(NamedTuple):
    """The continuations of one scenario in a chunk."""

    scenario: Scenario
    indices: tuple[int, ...]


class Chunk(NamedTuple):
    """Continuations of one agent that are made together and stored as one part."""

    plan: str  # the plan's name
    number: str  # position in the plan, and "-" and that of the share if it is one alone
    agent: str  # by name or `module:Class`
    fingerprint: str  # the agent's when this was planned; another one is rejected
    version: str  # of this package when this was planned; another one is rejected
    seed: int  # selects the agent's streams
    shares: tuple[Share, ...]  # in the order in which they are made
    replay: bool = True  # False if the run was told not to replay any

    @property
    def size(self) -> int:
        """The number of continuations it makes."""
        return sum(len(share.indices) for share in self.shares)

    def split(self) -> list[Chunk]:
        """Return each of its shares as a chunk of its own."""
        if len(self.shares) == 1:
            return [self]
        return [
            self._replace(number=f"{self.number}-{i}", shares=(share,))
            for i, share in enumerate(self.shares)
        ]

    def check(self) -> None:
        """Raise ArgumentError if this version of the package is not the one that planned it."""
        if self.version != sts.__version__:
            raise ArgumentError(
                f"this run was planned by sts {self.version}, and this worker has sts "
                f"{sts.__version__}: install one version on all workers and start the run again"
            )


class Plan(NamedTuple):
    """The work of a run."""

    chunks: tuple[Chunk, ...]  # in the order of agents and scenarios
    new: dict[str, int]  # planned continuations of each agent, by the name it was given by
    reused: dict[str, int]  # reused ones of each agent


def make_plan(
    index: Index,
    scenarios: Sequence[Scenario],
    names: Sequence[str],
    infos: Mapping[str, AgentInfo],
    *,
    count: int,
    seed: int,
    suite: str,
) -> Plan:
    """Plan the missing continuations; the order of scenarios and agents does not matter.

    `infos` has the facts of the agents and of the partners, `suite` is a hash; see
    `sts.continuations.run.run` for the rest.
    """
    order = sorted(names, key=lambda name: infos[name][:2])
    ranked = sorted(scenarios, key=lambda s: (compute_shape(s), s.steps, s.id, s.hash))
    find_agent = infos.__getitem__
    counts = {
        name: [plan_count(infos[name], scenario, find_agent, count) for scenario in ranked]
        for name in names
    }
    missing = {
        name: index.missing_indices(infos[name].name, infos[name].fingerprint, seed, count)
        for name in names
    }
    shares = {name: _find_missing_shares(missing[name], ranked, counts[name]) for name in order}
    new = {name: sum(len(share.indices) for share in shares[name]) for name in names}
    max_size = min(max(sum(new.values()) // TARGET_CHUNKS, MIN_CHUNK_SIZE), MAX_CHUNK_SIZE)
    chunked = [(name, c) for name in order for c in _cut_into_chunks(shares[name], max_size)]
    listed = [
        [*infos[name][:2], [[s.scenario.hash, s.indices] for s in chunk]] for name, chunk in chunked
    ]
    content = {"plan": _FORMAT, "sts": sts.__version__, "suite": suite, "seed": seed}
    plan = content_hash(canonical_json({**content, "chunks": listed}))[:24]
    chunks = tuple(
        Chunk(plan, f"{i:05}", name, infos[name].fingerprint, sts.__version__, seed, tuple(chunk))
        for i, (name, chunk) in enumerate(chunked)
    )
    reused = {name: sum(counts[name]) - new[name] for name in names}
    return Plan(chunks, new, reused)


def plan_count(
    agent: AgentInfo, scenario: Scenario, find_agent: Callable[[str], AgentInfo], count: int
) -> int:
    """Return how many continuations a scenario gets: 1 if neither agent nor partner draws."""
    return 1 if is_deterministic(agent, scenario.partner, find_agent) else count


def _find_missing_shares(
    missing: Mapping[str, tuple[Sequence[int], bool]],
    scenarios: Sequence[Scenario],
    counts: Sequence[int],
) -> list[Share]:
    """Return the missing continuations of an agent; a batch-sensitive scenario is redone whole."""
    shares = []
    for scenario, count in zip(scenarios, counts, strict=True):
        indices, sensitive = missing.get(scenario.hash, (range(count), False))
        lacking = tuple(i for i in indices if i < count)
        if lacking:
            shares.append(Share(scenario, tuple(range(count)) if sensitive else lacking))
    return shares


def _cut_into_chunks(shares: Sequence[Share], max_size: int) -> list[list[Share]]:
    """Split shares into runs of at most `max_size` continuations each, or of a single share."""
    chunks: list[list[Share]] = []
    room = 0
    for share in shares:
        if len(share.indices) > room:
            chunks.append([])
            room = max_size
        chunks[-1].append(share)
        room -= len(share.indices)
    return chunks
