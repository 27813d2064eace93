"""Trajectories: an episode, its players, and the instructions they were given."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.domains import load_domain
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
      intended: int8[T, P], the named moves that the players chose, from which the executed ones of
        the episode may differ; None if unknown. Read-only.
    """

    episode: Episode
    players: tuple[Player, ...]
    instructions: tuple[Instruction, ...]
    world: str
    source: str
    provenance: dict[str, Any]
    intended: NDArray[np.int8] | None = None

    def __post_init__(self) -> None:
        """Raise DamagedData if `intended` does not have the form of the episode's moves."""
        if self.intended is None:
            return
        intended, moves = np.ascontiguousarray(self.intended), self.episode.actions
        if not (intended.size and intended.dtype == moves.dtype == np.int8) or (
            intended.shape != moves.shape
        ):
            raise DamagedData(
                f"expected intended moves like the executed ones, {moves.dtype}"
                f"{list(moves.shape)}, found {intended.dtype}{list(intended.shape)}"
            )
        intended.flags.writeable = False
        object.__setattr__(self, "intended", intended)

    @cached_property
    def id(self) -> str:
        """A hash of episode, players, instructions, source and intended moves, 16 hex digits."""
        people = [[p.kind, p.name] for p in self.players]
        instructions = [i.to_json() for i in self.instructions]
        content = [self.episode.content_hash, people, instructions, self.source]
        if self.intended is not None:  # keeps the id of trajectories without them
            content.append(content_hash(self.intended.tobytes()))
        return content_hash(canonical_json(content))[:16]

    @property
    def split(self) -> str:
        """The split of its world: "test" for one in five, else "train"."""
        return get_split(self.world, self.provenance)

    def find_latest_instructions(self, player: int) -> list[Instruction | None]:
        """Return the instruction that a player has at each step and after the last."""
        latest: list[Instruction | None] = [None] * (self.episode.steps + 1)
        for instruction in sorted(self.instructions, key=lambda i: i.given_at):
            if instruction.is_heard_by(player):
                later = range(max(0, instruction.given_at), len(latest))
                latest[later.start :] = [instruction] * len(later)
        return latest


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
    world = load_domain(episode.domain).world_id(episode.state)
    return Trajectory(episode, players, (), world, source, provenance)
