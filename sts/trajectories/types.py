"""A trajectory: an episode, who took part in it, and what they were told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sts.domains import domain as find_domain
from sts.episodes import Episode, Instruction
from sts.errors import DamagedData
from sts.storage.files import canonical_json, content_hash

TEST_SHARE = 5
SIDES = ("train", "test")


@dataclass(frozen=True)
class Participant:
    """Who a participant was: `kind` is "human", "agent" or "script"."""

    kind: str
    name: str

    def __post_init__(self) -> None:
        """Raise DamagedData where a field is no text, as in a file made elsewhere."""
        if not isinstance(self.kind, str) or not isinstance(self.name, str):
            raise DamagedData(f"expected a participant's kind and name, found {self}")


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One recorded episode.

    Attributes:
      episode: what happened.
      participants: who took part, in the order of the episode's columns.
      instructions: what was said to them by a setter during the recording.
      world: the hash of the world, whoever took part in it; it decides the split.
      source: what recorded it, and where in there it stands.
      provenance: versions, commit and seed.
    """

    episode: Episode
    participants: tuple[Participant, ...]
    instructions: tuple[Instruction, ...]
    world: str
    source: str
    provenance: dict[str, Any]

    @cached_property
    def id(self) -> str:
        """16 hex digits of what happened, to whom, and from where it is known."""
        who = [[p.kind, p.name] for p in self.participants]
        said = [i.view() for i in self.instructions]
        marks = canonical_json([self.episode.content_hash, who, said, self.source])
        return content_hash(marks)[:16]

    @property
    def split(self) -> str:
        """The side of its world: "test" for one world in five, else "train"."""
        return split(self.world, self.provenance)

    def asked(self) -> list[str]:
        """Return what had last been asked before each step and after the last; "" for nothing."""
        out = [""] * (self.episode.steps + 1)
        for one in sorted(self.instructions, key=lambda one: one.given_at):
            later = range(max(0, one.given_at), len(out))
            out[later.start :] = [one.text] * len(later)
        return out


def split(world: str, provenance: Mapping[str, Any] | None = None) -> str:
    """Return the side of a world, by its hash; the one that a source's `provenance` states wins."""
    own = (provenance or {}).get("split")
    if own in SIDES:
        return str(own)
    return "test" if int(world[:8], 16) % TEST_SHARE == 0 else "train"


def trajectory(
    episode: Episode,
    participants: tuple[Participant, ...],
    *,
    source: str,
    provenance: dict[str, Any],
) -> Trajectory:
    """Return a trajectory without instructions, of the world that its episode began in."""
    world = find_domain(episode.domain).world(episode.state)
    return Trajectory(episode, participants, (), world, source, provenance)
