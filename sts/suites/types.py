"""What a scenario is, and a frozen set of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from sts.episodes import Episode, Instruction, in_order
from sts.errors import StsError
from sts.storage.files import canonical_json, content_hash

KINDS = ("instruction", "question")
DIFFICULTIES = ("easy", "medium", "hard")
DONE = "done-in-recording"
"""The tag of a scenario whose recording does what is asked, by the rule of its category."""
LINKS = ("pair", "series", "turn", "replaces")
"""What ties a scenario to others; it changes neither how it runs nor how it is judged."""
ROW = ("id", "trajectory", "world", "context_start", "difficulty", "tags", "provenance")
"""What else is no part of what it means, and yet of what is frozen."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Summary:
    """A scenario without its recording, as it is listed.

    Attributes:
      id: its name within a suite, such as "CATEGORY-03".
      category: the kind of behaviour it tests.
      kind: "instruction" or "question".
      instruction: what is judged; `given_at` is counted from the start of the context.
      parameters: what the category's automatic label needs to know, such as the answer; JSON
        values.
      trajectory: the id of the trajectory it came from.
      world: the hash of its world.
      context_start: the step of the trajectory at which the context begins.
      takeover: C, the number of context steps.
      horizon: L, the number of continuation steps.
      roles: the participants under evaluation.
      partner: what the others do after takeover: "no-op", "replay" or "agent:NAME".
      difficulty: "easy", "medium" or "hard".
      tags: free words.
      takeover_hash: `content_hash` of the serialised state at takeover.
      provenance: what mined it.
      heard: what else the evaluated roles are told, each from its own step on, counted from the
        start of the context; none later than the instruction that is judged.
      pair: names it and the one other scenario of the same takeover that asks the opposite; "" for
        none.
      series: names a dialogue; "" for none.
      turn: which turn of the dialogue it is, from 1; 0 without one.
      replaces: the id, in the parent version, of the scenario that this one was changed from; "".
    """

    id: str
    category: str
    kind: str
    instruction: Instruction
    parameters: dict[str, Any]
    trajectory: str
    world: str
    context_start: int
    takeover: int
    horizon: int
    roles: tuple[int, ...]
    partner: str
    difficulty: str
    tags: tuple[str, ...]
    takeover_hash: str
    provenance: dict[str, Any]
    heard: tuple[Instruction, ...] = ()
    pair: str = ""
    series: str = ""
    turn: int = 0
    replaces: str = ""

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all that can change a continuation or its judgement.

        Not of its id or tags, nor of which others it belongs with: those are the suite's. Without
        the recording it cannot be computed: what reads a summary states it.
        """
        raise StsError(f"{self.id}: a summary states its hash when it is read; found none")

    @cached_property
    def row_hash(self) -> str:
        """SHA-256 of everything in it."""
        own = {name: getattr(self, name) for name in ROW} | {"tags": list(self.tags)}
        links = {name: getattr(self, name) for name in LINKS if getattr(self, name)}
        return content_hash(self.hash.encode(), canonical_json(own | links))

    @property
    def text(self) -> str:
        """The instruction that is judged."""
        return self.instruction.text

    @property
    def source(self) -> str:
        """What recorded it; "" where that is not known."""
        return str(self.provenance.get("source", ""))

    @property
    def recorded_by(self) -> tuple[str, ...]:
        """Who took part in the recording."""
        return tuple(map(str, self.provenance.get("recorded_by", ())))


@dataclass(frozen=True, eq=False, kw_only=True)
class Scenario(Summary):
    """Context, takeover point, continuation length and instruction, mined from a trajectory.

    Attributes:
      recording: the trajectory from `context_start` on: at least C steps, C + L for "replay".
    """

    recording: Episode

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """All that the evaluated roles are told, in the order of its steps, the judged one last."""
        return in_order(self.instruction, self.heard)

    @cached_property
    def hash(self) -> str:
        """As of `Summary`."""
        meaning: dict[str, Any] = {
            "category": self.category,
            "kind": self.kind,
            "instruction": self.instruction.view(),
            "parameters": self.parameters,
            "takeover": self.takeover,
            "horizon": self.horizon,
            "roles": list(self.roles),
            "partner": self.partner,
            "takeover_hash": self.takeover_hash,
        }
        if self.heard:  # so that a scenario of one instruction keeps its hash
            meaning["heard"] = [one.view() for one in self.heard]
        return content_hash(canonical_json(meaning), self.recording.content_hash.encode())


class Change(NamedTuple):
    """One line of a version's changelog.

    Attributes:
      kind: "added", "retired" or "replaced".
      id: of the scenario; of one that was replaced, its id in the parent.
      by: the id of what stands in its place; "" for other kinds.
      reason: why, as far as somebody has said; "".
    """

    kind: str
    id: str
    by: str
    reason: str


@dataclass(frozen=True, eq=False)
class Suite:
    """A frozen, versioned set of scenarios.

    Attributes:
      name: lower-case letters, digits and dashes.
      version: 1, 2, ...
      parent: "NAME@VERSION" that it grew from, or None.
      description: one line.
      scenarios: in the order of their ids.
      provenance: what froze it.
      changes: what makes it another than its parent; empty without one.
      last: the highest number that an id of each category was ever given, in any version.
    """

    name: str
    version: int
    parent: str | None
    description: str
    scenarios: tuple[Scenario, ...]
    provenance: dict[str, Any]
    changes: tuple[Change, ...] = ()
    last: Mapping[str, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """NAME@VERSION."""
        return f"{self.name}@{self.version}"

    @cached_property
    def hash(self) -> str:
        """SHA-256 over every scenario and the suite's own fields."""
        own: list[Any] = [self.name, self.version, self.parent, self.description, self.provenance]
        if self.changes or self.last:  # so that a suite of an earlier format keeps its hash
            own += [[list(one) for one in self.changes], dict(self.last)]
        return content_hash(canonical_json(own), *(s.row_hash.encode() for s in self.scenarios))


def pairs(scenarios: Iterable[Scenario]) -> dict[str, tuple[Scenario, ...]]:
    """Return the scenarios of each pair, in the order of their ids, by its name."""
    return _grouped(sorted((one for one in scenarios if one.pair), key=lambda s: s.id), "pair")


def series(scenarios: Iterable[Scenario]) -> dict[str, tuple[Scenario, ...]]:
    """Return the turns of each dialogue, in their order, by its name."""
    return _grouped(
        sorted((one for one in scenarios if one.series), key=lambda s: s.turn), "series"
    )


def _grouped(scenarios: Iterable[Scenario], link: str) -> dict[str, tuple[Scenario, ...]]:
    out: dict[str, tuple[Scenario, ...]] = {}
    for one in scenarios:
        name = getattr(one, link)
        out[name] = (*out.get(name, ()), one)
    return dict(sorted(out.items()))
