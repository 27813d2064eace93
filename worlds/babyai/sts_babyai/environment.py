"""Environment that runs one BabyAI level.

A state is a level, a seed and the actions since, as JSON; restoring replays them. It includes a
chain of digests, so that an engine of another version that plays differently is detected.

    {"chain": 32 hex digits, "level": "GoToLocal", "moves": "2210", "seed": 7}

The package's own step limit is lifted, because suites set a horizon. The reward is 1 at the step at
which the mission's verifier returns success and -1 at failure (possible in strict missions only,
for which the package pays 0). After either the environment does not change.

A level with `"open": true` in its state has no mission: no instruction, no reward and no end.
"""

import contextlib
import functools
import hashlib
import io
import json
import re
import struct
from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sts.plugin import LiveControls, canonical_json
from sts_babyai import rendering
from sts_babyai.minigrid_names import COLOR_TO_IDX, OBJECT_TO_IDX, VERSION, gymnasium
from sts_babyai.view import VIEW_SIZE, Cells, pack_facts

MAP_PIXELS, STRIP_PIXELS = 256, 32
MOVES = ("left", "right", "forward", "pickup", "drop", "toggle", "done")
DONE = MOVES.index("done")
_CHANGING = [MOVES.index(name) for name in ("pickup", "drop", "toggle")]
"""Moves that may change the cell ahead; no move changes another."""
KEYS = {
    **{"ArrowLeft": "left", "ArrowRight": "right", "ArrowUp": "forward"},
    **{"a": "left", "d": "right", "w": "forward", "e": "pickup", "q": "drop", " ": "toggle"},
}
GUIDE = """
**The map.** The **red triangle** is judged; its tip points where it looks. The brighter cells are
what it sees; plain grey is wall, and a grey door is lighter. A ball is a disc, a box a square with
a line across; a closed door is a frame with a round knob, an open one a thin bar at the side of its
cell, and a locked one is filled and needs the key of its colour. The strip at the bottom shows what
is carried. *To go to* something is to stand right before it and face it; two things are *next to*
each other side by side, not corner to corner. On *Live* only what the triangle sees is
shown, ahead being up; how it is turned on the map stands at the bottom.
"""
_ID = re.compile(r"BabyAI-(\w+)-v\d+")
_LIMIT = 2**31 - 1
_EMPTY_HANDS = (OBJECT_TO_IDX["empty"], 0)


@functools.cache
def level_ids() -> dict[str, str]:
    """Return the Gymnasium id of every level by its name, such as "GoToLocal"."""
    matches = (_ID.fullmatch(name) for name in sorted(gymnasium.registry))
    return {match[1]: match[0] for match in matches if match}


class BabyAI:
    """Level of BabyAI with one player, who sees the 7 x 7 cells ahead.

    Attributes:
      level: its name; "" before the first reset.
      seed: seed of the last reset.
      open: True if it has no mission.
      moves_made: the actions since, one digit each, up to the end of the mission.
      verdict: "continue", "success" or "failure", from the mission's verifier.
      minigrid_env: minigrid's own environment, to be read only.
      cells: the contents of its grid.
    """

    name: ClassVar[str] = "babyai"
    version: ClassVar[str] = f"2 {VERSION}"
    action_names: ClassVar[tuple[str, ...]] = MOVES
    noop: ClassVar[int] = DONE
    players: ClassVar[tuple[str, ...]] = ("red triangle",)
    reward_unit: ClassVar[float] = 1.0
    guide: ClassVar[str] = GUIDE
    live_controls: ClassVar[LiveControls] = LiveControls(KEYS, tick=0.0)

    def __init__(self) -> None:
        self.level, self.seed, self.open, self.moves_made = "", 0, False, ""
        self.verdict = "continue"
        self.minigrid_env: Any = None
        self.cells: Cells
        self._image: NDArray[np.int8] = np.zeros((VIEW_SIZE, VIEW_SIZE, 3), np.int8)
        self._digest = self._chain = b""

    @property
    def ended(self) -> bool:
        """True if the mission is completed or failed."""
        return self.verdict != "continue"

    def reset(self, seed: int, level: str = "GoToLocal", open: bool = False) -> None:
        """Start `level`, by its name or its Gymnasium id, with this seed.

        `open` removes its mission, so that it never ends.

        Raises:
          ValueError: the level does not exist, or `open` is not a boolean.
        """
        if not isinstance(open, bool):
            raise ValueError(f"expected open=true or open=false, found {open!r}")
        match = _ID.fullmatch(str(level))
        name = match[1] if match else str(level)
        if name not in level_ids():
            raise ValueError(
                f"unknown BabyAI level {level!r}; choose one of {', '.join(level_ids())}"
            )
        if name != self.level:
            self.minigrid_env = gymnasium.make(
                level_ids()[name], disable_env_checker=True
            ).unwrapped
            self.minigrid_env.gen_obs = dict  # slow; `Cells` replaces it
        with contextlib.redirect_stdout(io.StringIO()):  # minigrid prints rejected missions
            self.minigrid_env.reset(seed=int(seed))
        self.minigrid_env.max_steps = _LIMIT
        if open:
            self.minigrid_env.instrs, self.minigrid_env.mission = NoMission(), ""
        self.level, self.seed, self.open, self.moves_made = name, int(seed), open, ""
        self.verdict, self._chain = "continue", b""
        self.cells = Cells(self.minigrid_env.grid)
        self._record_view()

    def step(self, actions: Sequence[int]) -> Sequence[int]:
        """Take an action; return 1 if it completes the mission, -1 if it fails it, else 0."""
        if self.ended:
            return (0,)
        (move,) = actions
        _, reward, ended, _, _ = self.minigrid_env.step(move)
        if move in _CHANGING:
            self.cells.update(*map(int, self.minigrid_env.front_pos))
        self.moves_made += str(move)
        if ended:
            self.verdict = "success" if reward > 0 else "failure"
        self._record_view()
        return ({"success": 1, "failure": -1, "continue": 0}[self.verdict],)

    def _record_view(self) -> None:
        live = self.minigrid_env
        (x, y), facing, carrying = map(int, live.agent_pos), int(live.agent_dir), live.carrying
        self._image = self.cells.read_view(x, y, facing, carrying)
        # Everything the future depends on: the mission's progress and all objects.
        progress = [x, y, facing, self.ended, *_verifier_memory(live.instrs)]
        content = self._image.tobytes() + struct.pack(f"<{len(progress)}h", *progress)
        content += self.cells.facts + pack_facts(-1, carrying)
        self._digest = hashlib.blake2b(content, digest_size=8).digest()
        self._chain = hashlib.blake2b(self._chain + self._digest, digest_size=16).digest()

    def _carried_codes(self) -> NDArray[np.int8]:
        """Return minigrid's codes of the type and colour of the object carried, int8[2]."""
        thing = self.minigrid_env.carrying
        codes = (OBJECT_TO_IDX[thing.type], COLOR_TO_IDX[thing.color]) if thing else _EMPTY_HANDS
        return np.array(codes, np.int8)

    def state(self) -> bytes:
        """Return the level, the seed, the moves and the chain of digests."""
        chain = self._chain.hex()
        fields = {"chain": chain, "level": self.level, "moves": self.moves_made, "seed": self.seed}
        return canonical_json(fields | ({"open": True} if self.open else {}))

    def restore(self, state: bytes) -> None:
        """Replay the actions of `state`.

        Raises:
          ValueError: `state` is malformed, or this engine plays differently from its writer's.
        """
        fields = json.loads(state)
        opened = isinstance(fields, dict) and fields.pop("open", False)
        if not isinstance(fields, dict) or set(fields) != {"chain", "level", "moves", "seed"}:
            raise ValueError("expected a BabyAI level, a seed, moves and a chain of digests")
        seed, actions = fields["seed"], str(fields["moves"])
        if type(seed) is not int or seed < 0 or set(actions) - set("0123456"):
            raise ValueError("expected a seed of 0 or more and moves 0 to 6")
        self.reset(seed, str(fields["level"]), opened)
        for move in actions:
            self.step((int(move),))
        if (self._chain.hex(), self.moves_made) != (fields["chain"], actions):
            raise ValueError(
                f"{self.level} with seed {seed} replays differently from the recording; "
                "check the versions of minigrid, gymnasium and numpy"
            )

    def digest(self) -> bytes:
        """Return 8 bytes that identify the whole state and the mission's progress."""
        return self._digest

    def observe(self, player: int) -> dict[str, Any]:
        """Return the view, the direction and the object carried, in minigrid's codes.

        `image` is int8[7, 7, 3]: type, colour and state of each cell ahead, the player at [3, 6]
        looking towards [3, 5]; cells out of view have type 0. `direction` is 0 right, 1 down, 2
        left, 3 up. `carrying` is int8[2], type and colour; type 1 is nothing.
        """
        return {
            "image": self._image,
            "direction": np.int8(self.minigrid_env.agent_dir),
            "carrying": self._carried_codes(),
        }

    def instruction(self) -> str:
        """Return the mission, "" if there is none."""
        return str(self.minigrid_env.mission)

    def render(self) -> NDArray[np.uint8]:
        """Return the whole map from above, uint8[288, 256, 3], with cells in view brighter.

        A strip below shows the object carried.
        """
        live = self.minigrid_env
        (x, y), facing = map(int, live.agent_pos), int(live.agent_dir)
        tile, left, top = self._map_place()
        out = np.zeros((MAP_PIXELS + STRIP_PIXELS, MAP_PIXELS, 3), np.uint8)
        picture = rendering.draw_cells(*self.cells.read_map(x, y, facing), (x, y), facing, tile)
        height, width, _ = picture.shape
        out[top : top + height, left : left + width] = picture
        out[MAP_PIXELS:] = rendering.draw_strip(MAP_PIXELS, STRIP_PIXELS, self._carried_codes())
        return out

    def position(self, player: int) -> tuple[float, float]:
        """Return the middle of the player's cell in the picture of `render`, (x, y) in pixels."""
        tile, left, top = self._map_place()
        column, row = self.minigrid_env.agent_pos
        return left + (column + 0.5) * tile, top + (row + 0.5) * tile

    def _map_place(self) -> tuple[int, int, int]:
        """Return the pixels of a cell of the map, and those left of and above it."""
        width, height = self.minigrid_env.width, self.minigrid_env.height
        tile = MAP_PIXELS // max(width, height)
        return tile, (MAP_PIXELS - width * tile) // 2, (MAP_PIXELS - height * tile) // 2

    def render_player_view(self, player: int) -> NDArray[np.uint8]:
        """Return the player's view as a picture, uint8[512, 448, 3]."""
        return rendering.render_view(self.observe(player))


class NoMission:
    """Mission for minigrid that is never completed or failed."""

    def verify(self, action: int) -> str:
        """Return "continue"."""
        return "continue"

    def update_objs_poss(self) -> None:
        """Do nothing."""


def _verifier_memory(mission: Any) -> list[int]:
    """Return the verifier's state.

    It has which parts are done, whether something was carried, and where it looks for objects.
    """
    if hasattr(mission, "instr_a"):
        done = [mission.a_done == "success", mission.b_done == "success"]
        return done + _verifier_memory(mission.instr_a) + _verifier_memory(mission.instr_b)
    out: list[int] = [getattr(mission, "preCarrying", None) is not None]
    for name in ("desc", "desc_move", "desc_fixed"):
        if hasattr(mission, name):
            places = getattr(mission, name).obj_poss
            out += (len(places), *chain(*places))
    return out
