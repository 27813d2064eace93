"""The plan of a run: exactly what was not there when it was made, cut into chunks.

The chunks depend on that list and on nothing else, never on who does them; the plan's hash names
the parts that they are kept as.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import sts
from sts.agents.facts import Facts
from sts.continuations.index import Index
from sts.continuations.takeover import always_alike, shape
from sts.errors import ArgumentError
from sts.storage.files import canonical_json, content_hash
from sts.suites.types import Scenario

FEWEST, MOST = 40, 400
"""Continuations of a chunk: a large plan has large parts, a small one enough chunks to share."""
CHUNKS = 64
"""That a plan has where neither bound is met."""
_FORMAT = 1


class Share(NamedTuple):
    """Which continuations of a scenario are made."""

    scenario: Scenario
    indices: tuple[int, ...]


class Chunk(NamedTuple):
    """Continuations of one agent that are made together and kept as one part.

    Attributes:
      plan: the plan's name.
      number: among its chunks; with "-" and that of a share, the one share of it.
      agent: by name or `module:Class`.
      fingerprint: the agent's when this was planned; as another it is not done.
      version: of the suite when this was planned; by another it is not done.
      seed: selects the agent's streams.
      shares: in the order that they are made in.
    """

    plan: str
    number: str
    agent: str
    fingerprint: str
    version: str
    seed: int
    shares: tuple[Share, ...]

    @property
    def size(self) -> int:
        """How many continuations it makes."""
        return sum(len(share.indices) for share in self.shares)

    @property
    def parts(self) -> list[Chunk]:
        """Each of its shares as a chunk of its own."""
        if len(self.shares) == 1:
            return [self]
        return [
            self._replace(number=f"{self.number}-{i}", shares=(share,))
            for i, share in enumerate(self.shares)
        ]

    def check(self) -> None:
        """Refuse to be done by another version of the suite."""
        if self.version != sts.__version__:
            raise ArgumentError(
                f"this was planned by sts {self.version} and is not done by sts {sts.__version__}: "
                "have all workers use one version, and start again"
            )


class Plan(NamedTuple):
    """What a run makes.

    Attributes:
      chunks: in the order of agents and scenarios.
      made: how many continuations of each agent, as it was named, are planned.
      kept: how many are there already.
    """

    chunks: tuple[Chunk, ...]
    made: dict[str, int]
    kept: dict[str, int]


def planned(
    index: Index,
    scenarios: Sequence[Scenario],
    names: Sequence[str],
    known: Mapping[str, Facts],
    *,
    count: int,
    seed: int,
    suite: str,
) -> Plan:
    """Return the plan of what is missing, whatever the order of scenarios and agents.

    `known` has the facts of the agents and of those that are partners, `suite` is a hash; the rest
    is as of `sts.continuations.run.run`.
    """
    order = sorted(names, key=lambda name: known[name][:2])
    ranked = sorted(scenarios, key=lambda one: (shape(one), one.id, one.hash))
    find = known.__getitem__
    each = {
        name: [1 if always_alike(known[name], one.partner, find) else count for one in ranked]
        for name in names
    }
    there = {name: index.present(known[name].name, known[name].fingerprint, seed) for name in names}
    lists = {name: _missing(there[name], ranked, each[name]) for name in order}
    made = {name: sum(len(share.indices) for share in lists[name]) for name in names}
    most = min(max(sum(made.values()) // CHUNKS, FEWEST), MOST)
    cut = [(name, chunk) for name in order for chunk in _cut(lists[name], most)]
    told = {
        "plan": _FORMAT,
        "sts": sts.__version__,
        "suite": suite,
        "seed": seed,
        "chunks": [
            [*known[name][:2], [[s.scenario.hash, s.indices] for s in chunk]] for name, chunk in cut
        ],
    }
    hashed = content_hash(canonical_json(told))[:24]
    chunks = tuple(
        Chunk(hashed, f"{i:05}", name, known[name].fingerprint, sts.__version__, seed, tuple(chunk))
        for i, (name, chunk) in enumerate(cut)
    )
    kept = {name: sum(each[name]) - made[name] for name in names}
    return Plan(chunks, made, kept)


def _missing(
    present: Mapping[str, Mapping[int, int]], scenarios: Sequence[Scenario], counts: Sequence[int]
) -> list[Share]:
    """Return what an agent lacks; of a batch-sensitive one, the whole of each such scenario."""
    out = []
    for scenario, count in zip(scenarios, counts, strict=True):
        have = present.get(scenario.hash, {})
        lacking = tuple(i for i in range(count) if i not in have)
        if lacking:
            sensitive = any(have.values())
            out.append(Share(scenario, tuple(range(count)) if sensitive else lacking))
    return out


def _cut(shares: Sequence[Share], most: int) -> list[list[Share]]:
    """Return shares in runs of at most so many continuations, or of one share."""
    out: list[list[Share]] = []
    room = 0
    for share in shares:
        if len(share.indices) > room:
            out.append([])
            room = most
        out[-1].append(share)
        room -= len(share.indices)
    return out
