"""The domain `pond`: many ponds at once, as the suite asks for them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sts.plugin import (
    SceneFormat,
    SceneLayout,
    add_envelope,
    canonical_json,
    content_hash,
    index_players,
    remove_envelope,
)
from sts_pond.water import MOVES, NOBODY, WAIT, Water, draw_pond

NAME, VERSION = "pond", "1"


@dataclass(frozen=True)
class Seen:
    """What R ferries see on each of B ponds with Q passengers.

    Attributes:
      at: int64[B, R], the jetty at which one is.
      goal: int64[B, R], where the passenger aboard wants to; -1 where nobody is.
      waiting: int64[B, R, Q], the jetty at which each passenger waits; -1 for one who is afloat.
      last_move: int64[B, R]; -1 before the first.
    """

    at: NDArray[np.int64]
    goal: NDArray[np.int64]
    waiting: NDArray[np.int64]
    last_move: NDArray[np.int64]


class Ponds:
    """B ponds with equally many ferries and passengers."""

    def __init__(self, waters: list[Water]) -> None:
        self.waters = waters
        self.rewards = np.zeros((len(waters), len(waters[0].ferries)), np.int8)

    @property
    def scene(self) -> NDArray[np.uint16]:
        """uint16[B, K]: of each ferry and passenger the cell, on the shore (row 0) or afloat."""
        return np.array([_cells(water) for water in self.waters], np.uint16)

    def observe(self, players: ArrayLike, *, team: ArrayLike, world: bool) -> Seen:
        """Return what ferries see."""
        rows = index_players(players, len(self.waters))
        each = list(zip(self.waters, rows.tolist(), strict=True))
        goals = [
            [w.goal(w.aboard[r]) if w.aboard[r] != NOBODY else -1 for r in own] for w, own in each
        ]
        ashore = [
            [p if i in w.waiting() else -1 for i, p in enumerate(w.passengers)] for w in self.waters
        ]
        return Seen(
            np.array([[w.ferries[r] for r in own] for w, own in each]),
            np.array(goals),
            np.repeat(np.array(ashore)[:, None], rows.shape[1], 1),
            np.array([[w.made[r] for r in own] for w, own in each]),
        )

    def step(self, actions: NDArray[np.int8], utterances: NDArray[np.int8]) -> None:
        """Move every pond on by one step."""
        paid = [w.step(row) for w, row in zip(self.waters, actions.tolist(), strict=True)]
        self.rewards = np.array(paid, np.int8)

    def states(self) -> list[bytes]:
        """Return each pond serialised."""
        return [add_envelope(NAME, VERSION, water.encoded()) for water in self.waters]

    def select(self, rows: NDArray[np.intp]) -> Ponds:
        """Return the ponds of these rows as a batch."""
        chosen = Ponds([self.waters[row] for row in rows])
        chosen.rewards = self.rewards[rows]
        return chosen


def _cells(water: Water) -> list[int]:
    afloat = [water.jetties * (p in water.aboard) + at for p, at in enumerate(water.passengers)]
    return [*(water.jetties + at for at in water.ferries), *afloat]


def _water(state: bytes) -> Water:
    return Water(**json.loads(remove_envelope(NAME, VERSION, state)))


class Pond:
    """Ferries on a pond."""

    name = NAME
    action_names = MOVES
    tokens = ("silence",)
    noop = WAIT
    reward_unit = 1.0
    sees: Literal["observation", "world"] = "world"
    drawing = "board.mjs"
    guide = (
        "**The pond** has jetties in a row. Ferries (letters) carry one passenger each (numbers), "
        "who stand on the shore above until they are loaded. Below each jetty stands who wants to "
        "get to it in the end, or to get away from it."
    )

    def restore(self, states: Sequence[bytes]) -> Ponds:
        """Return the ponds in `states`, ready to step."""
        return Ponds([_water(state) for state in states])

    def generate(
        self, count: int, *, seed: int, jetties: int = 7, ferries: int = 2, passengers: int = 3
    ) -> list[bytes]:
        """Return the states of new ponds."""
        waters = [draw_pond(seed, i, jetties, ferries, passengers) for i in range(count)]
        return [add_envelope(NAME, VERSION, water.encoded()) for water in waters]

    def world_id(self, state: bytes) -> str:
        """Return the hash of the pond and of who is where on it."""
        water = _water(state)
        own = [water.jetties, water.ferries, water.passengers, water.ends, water.bound]
        return content_hash(canonical_json(own))

    def describe_state(self, state: bytes) -> dict[str, Any]:
        """Return a pond as JSON values."""
        return {**vars(_water(state))}

    def scene_format(self, state: bytes) -> SceneFormat:
        """Return that its scenes are drawn."""
        return self.scene_layout(state).format

    def scene_layout(self, state: bytes) -> SceneLayout:
        """Return two rows of cells, shore and water, and who goes between which jetties."""
        water = _water(state)
        ferries = [chr(ord("A") + f) for f in range(len(water.ferries))]
        people = [str(p + 1) for p in range(len(water.passengers))]
        return SceneLayout(
            kind="drawn",
            height=2,
            width=water.jetties,
            names=(*(f"ferry {f}" for f in ferries), *(f"passenger {p}" for p in people)),
            glyphs=(*ferries, *people),
            players=tuple(range(len(ferries))),
            details={"ends": water.ends},
        )

    def observation_shapes(self, state: bytes) -> Hashable:
        """Return how many ferries and passengers there are."""
        water = _water(state)
        return len(water.ferries), len(water.passengers)

    def player_view(self, worlds: Ponds, player: int) -> dict[str, Any]:
        """Return where a ferry is, and who waits where."""
        water = worlds.waters[0]
        return {"at": water.ferries[player], "waiting": water.waiting()}

    def draw_text(
        self, picture: SceneLayout, scene: NDArray[np.uint16], judged: Sequence[int]
    ) -> list[str]:
        """Return the shore above the water; + where more than two share a cell."""
        cells: list[list[str]] = [[] for _ in range(2 * picture.width)]
        order = [*judged, *(k for k in range(len(scene)) if k not in judged)]
        for k in order:
            cells[int(scene[k])].append(picture.glyphs[k])
        shown = ["".join(c) if len(c) < 3 else f"{c[0]}+" for c in cells]
        shore, water = shown[: picture.width], shown[picture.width :]
        return [
            "".join((cell or empty).ljust(3) for cell in row)
            for row, empty in ((shore, "·"), (water, "~"))
        ]
