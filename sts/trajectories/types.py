"""Trajectories: an episode, its players, and the instructions they were given."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sts.domains import load_domain as find_domain
from sts.episodes import Episode, Instruction
from sts.errors import DamagedData
from sts.storage.files import canonical_json, content_hash

TEST_SHARE = 5
SPLITS = ("train", "test")


@dataclass(frozen=True)
class Player:
    """A player of an episode; `kind` is "human", "agent" or "script"."""

    kind: str
    name: str

    def __post_init__(self) -> None:
        """Raise DamagedData if a field is not text, as a file of another program may have."""
        if not isinstance(self.kind, str) or not isinstance(self.name, str):
            raise DamagedData(f"expected a player's kind and name, found {self}")


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One recorded episode.

    Attributes:
      episode: what happened.
      players: in the order of the episode's columns.
      instructions: that a setter gave during the recording.
      world: the hash of the world, independent of the players; it decides the split.
      source: what recorded it, with its position there.
      provenance: versions, commit and seed.
    """

    episode: Episode
    players: tuple[Player, ...]
    instructions: tuple[Instruction, ...]
    world: str
    source: str
    provenance: dict[str, Any]

    @cached_property
    def id(self) -> str:
        """A hash of episode, players, instructions and source, 16 hex digits."""
        people = [[p.kind, p.name] for p in self.players]
        instructions = [i.to_json() for i in self.instructions]
        content = canonical_json([self.episode.content_hash, people, instructions, self.source])
        return content_hash(content)[:16]

    @property
    def split(self) -> str:
        """The split of its world: "test" for one in five, else "train"."""
        return get_split(self.world, self.provenance)

    def find_latest_instructions(self) -> list[str]:
        """Return the latest instruction before each step and after the last, "" if none."""
        texts = [""] * (self.episode.steps + 1)
        for instruction in sorted(self.instructions, key=lambda i: i.given_at):
            later = range(max(0, instruction.given_at), len(texts))
            texts[later.start :] = [instruction.text] * len(later)
        return texts


def get_split(world: str, provenance: Mapping[str, Any] | None = None) -> str:
    """Return the split of a world, by its hash unless the `provenance` of its source states one."""
    stated = (provenance or {}).get("split")
    if stated in SPLITS:
        return str(stated)
    return "test" if int(world[:8], 16) % TEST_SHARE == 0 else "train"


def make_trajectory(
    episode: Episode, players: tuple[Player, ...], *, source: str, provenance: dict[str, Any]
) -> Trajectory:
    """Make a trajectory without instructions; its world is the episode's."""
    world = find_domain(episode.domain).world_id(episode.state)
    return Trajectory(episode, players, (), world, source, provenance)
