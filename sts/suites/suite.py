"""Scenarios and frozen suites of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from sts.episodes import Episode, Instruction, sort_instructions
from sts.errors import StsError
from sts.storage.files import canonical_json, content_hash

KINDS = ("instruction", "question")
DIFFICULTIES = ("easy", "medium", "hard")
DONE_TAG = "done-in-recording"
"""The tag of a scenario whose recording does what is asked, by the rule of its category."""
LINK_FIELDS = ("pair", "dialogue", "turn", "replaces")
"""Fields that link a scenario to others; they affect neither its run nor its judgement."""
ROW_FIELDS = ("id", "trajectory", "world", "context_start", "difficulty", "tags", "provenance")
"""Further fields that are frozen but do not enter `Summary.hash`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Summary:
    """A scenario without its recording, as listings read it."""

    id: str  # its name within a suite, such as "CATEGORY-03"
    category: str  # the kind of behaviour it tests
    kind: str  # "instruction" or "question"
    # the one that is judged; `given_at` counts from the start of the context
    instruction: Instruction
    parameters: dict[str, Any]  # JSON values for the category's automatic label, such as the answer
    trajectory: str  # the id of the trajectory it came from
    world: str  # the hash of its world
    context_start: int  # the step of the trajectory at which the context starts
    context: int  # C, the number of context steps
    horizon: int  # L, the number of continuation steps
    players: tuple[int, ...]  # the players under evaluation
    partner: str  # policy of the others after takeover: "no-op", "replay" or "agent:NAME"
    difficulty: str  # "easy", "medium" or "hard"
    tags: tuple[str, ...]  # free words
    takeover_hash: str  # `content_hash` of the serialised state at takeover
    provenance: dict[str, Any]  # how it was mined
    # others to the evaluated players, each at its own step of the context; none later than the
    # one that is judged
    earlier_instructions: tuple[Instruction, ...] = ()
    # name of the pair it forms with the scenario of the same takeover that asks the opposite; ""
    # for none
    pair: str = ""
    dialogue: str = ""  # name of its dialogue; "" for none
    turn: int = 0  # its turn in the dialogue, from 1; 0 without one
    # the id of the scenario in the parent version that it was changed from; "" for none
    replaces: str = ""
    criterion: str = ""  # the success criterion in the curator's words; "" for that of the category
    edge_cases: str = ""  # the edge cases in the curator's words; "" for those of the category

    @cached_property
    def hash(self) -> str:
        """SHA-256 of everything that can change a continuation or its judgement.

        Id, tags and links to other scenarios do not enter; they are the suite's. It depends on the
        recording, so a summary has the hash that was read with it.
        """
        raise StsError(f"{self.id}: this summary was made without its hash, which only files state")

    @cached_property
    def row_hash(self) -> str:
        """SHA-256 of everything in it."""
        fields = {name: getattr(self, name) for name in ROW_FIELDS} | {"tags": list(self.tags)}
        links = {name: getattr(self, name) for name in LINK_FIELDS if getattr(self, name)}
        if self.dialogue:
            links["series"] = links.pop("dialogue")  # the key in the hashed form
        return content_hash(self.hash.encode(), canonical_json(fields | links))

    @property
    def step(self) -> int:
        """The step of the trajectory at which the agent takes over."""
        return self.context_start + self.context

    @property
    def text(self) -> str:
        """The instruction that is judged."""
        return self.instruction.text

    @property
    def source(self) -> str:
        """The command or data set that recorded it; "" if unknown."""
        return str(self.provenance.get("source", ""))

    @property
    def recorded_by(self) -> tuple[str, ...]:
        """The names of the recorded players."""
        return tuple(map(str, self.provenance.get("recorded_by", ())))

    @property
    def people(self) -> tuple[str, ...]:
        """The names of the recorded players who are people."""
        return tuple(map(str, self.provenance.get("people", ())))


@dataclass(frozen=True, eq=False, kw_only=True)
class Scenario(Summary):
    """Context, takeover point, continuation length and instruction, mined from a trajectory.

    Attributes:
      recording: the trajectory from `context_start` on: at least C steps, C + L for "replay".
    """

    recording: Episode

    @property
    def steps(self) -> int:
        """The number of steps of a continuation, C + L."""
        return self.context + self.horizon

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """All instructions to the evaluated players, in step order, the judged one last."""
        return sort_instructions(self.instruction, self.earlier_instructions)

    @cached_property
    def hash(self) -> str:
        """See `Summary.hash`."""
        names = "category kind parameters horizon partner takeover_hash".split()
        meaning: dict[str, Any] = {name: getattr(self, name) for name in names}
        meaning |= {"instruction": self.instruction.to_json(), "roles": list(self.players)}
        meaning["takeover"] = self.context  # the key in the hashed form
        if self.earlier_instructions:  # keeps the hash of scenarios of one instruction
            meaning["heard"] = [instruction.to_json() for instruction in self.earlier_instructions]
        own = {"criterion": self.criterion, "edge_cases": self.edge_cases}
        meaning |= {name: text for name, text in own.items() if text}
        return content_hash(canonical_json(meaning), self.recording.content_hash.encode())


class Change(NamedTuple):
    """One line of a version's changelog."""

    kind: str  # "added", "retired" or "replaced"
    id: str  # of the scenario; of a replaced one, its id in the parent
    by: str  # the id of the replacement; "" for other kinds
    reason: str  # a curator's reason, or ""


@dataclass(frozen=True, eq=False)
class Suite:
    """A frozen, versioned set of scenarios.

    Attributes:
      name: lower-case letters, digits and dashes.
      version: 1, 2, ...
      parent: "NAME@VERSION" that it was derived from, or None.
      description: one line.
      scenarios: sorted by id.
      provenance: of the freezing.
      changes: from its parent; empty without one.
      last: the highest number ever given in an id of each category, in any version.
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

    @property
    def unreviewed(self) -> tuple[str, ...]:
        """The ids of the scenarios whose instructions were not reviewed by a second person."""
        return tuple(map(str, self.provenance.get("unreviewed", ())))

    @cached_property
    def hash(self) -> str:
        """SHA-256 over every scenario and the suite's own fields."""
        names = ("name", "version", "parent", "description", "provenance")
        fields: list[Any] = [getattr(self, name) for name in names]
        if self.changes or self.last:  # keeps the hash of suites of an earlier format
            fields += [[list(change) for change in self.changes], dict(self.last)]
        return content_hash(canonical_json(fields), *(s.row_hash.encode() for s in self.scenarios))


def describe_unreviewed(suite: Suite, before: str = "\n") -> str:
    """Return a sentence on unreviewed instructions, after `before`; "" without one."""
    count, total = len(suite.unreviewed), len(suite.scenarios)
    share = "" if count == total else f": {count} of {total}"
    return f"{before}instructions not reviewed by a second person{share}" if count else ""


def group_pairs(scenarios: Iterable[Scenario]) -> dict[str, tuple[Scenario, ...]]:
    """Return the scenarios of each pair, sorted by id, by the pair's name."""
    return _group_by_name(scenarios, "pair", "id")


def group_dialogues(scenarios: Iterable[Scenario]) -> dict[str, tuple[Scenario, ...]]:
    """Return the scenarios of each dialogue, sorted by turn, by the dialogue's name."""
    return _group_by_name(scenarios, "dialogue", "turn")


def _group_by_name(
    scenarios: Iterable[Scenario], link: str, order: str
) -> dict[str, tuple[Scenario, ...]]:
    groups: dict[str, tuple[Scenario, ...]] = {}
    for scenario in sorted(scenarios, key=lambda s: getattr(s, order)):
        if name := getattr(scenario, link):
            groups[name] = (*groups.get(name, ()), scenario)
    return dict(sorted(groups.items()))
