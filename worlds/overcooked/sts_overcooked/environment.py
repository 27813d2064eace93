"""Environment that runs one kitchen and can be restored exactly.

The players are the cooks with the blue and the green hat. A delivered soup pays 20 to the cook who
delivers it, as in the package; the recordings of 2019 have 5 for the same event. An episode ends
only by its time limit.
"""

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import LiveControls, canonical_json
from sts_overcooked.constants import COOKED, HATS, KEYS, MOVES, SIDES, STAY
from sts_overcooked.kitchen import (
    ACTIONS,
    HEIGHT,
    WIDTH,
    Place,
    State,
    VisibleState,
    build_state,
    extract_visible_state,
    faced_place,
    find_pushes,
    load_game,
    validate_visible_state,
)

LAYOUTS = (
    *("asymmetric_advantages", "coordination_ring", "counter_circuit_o_1order", "cramped_room"),
    "forced_coordination",
)
"""Kitchens that `reset` chooses from: those of the recordings, by their current package names."""
EPISODE_LENGTH = 400
"""Steps of an episode, as in the package; a recorded trial has its own length."""
TILES = " XOTDPS"
GUIDE = """
**The kitchen.** Two cooks, one with a **blue hat** and one with a **green hat**, walk on the pale
floor with what they carry in their hands. Brown squares are counters, where things can be laid
down. Onions and white dishes are taken from their heaps; the light grey square is the serving
window. A dark grey box is a pot: its onions lie in it, and a red number counts the steps that it
has cooked, up to 20, when the soup is done. A cook takes the soup out with a dish, and at the
window it is gone. A yellow arrowhead at the edge of a cook's cell marks a push: in the last step
this cook tried to step onto the other cook's cell and stayed.
"""
THINGS = ("", "onion", "tomato", "dish", "soup")
EVENT_KINDS = (
    *("onion_pickup", "dish_pickup", "soup_pickup", "onion_drop", "dish_drop", "soup_drop"),
    *("potting_onion", "soup_delivery"),
)
_KEPT_KEYS = ("grid", "start_all_orders", "rew_shaping_params")
"""Keys of a package layout that may be set: its rows; orders, set by `rules`; an unused reward."""
_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)


class Event(NamedTuple):
    """Something a cook did in the last step."""

    player: int  # index of the cook
    kind: str  # one of EVENT_KINDS, as named by the package
    place: Place  # where, (x, y)


class Overcooked:
    """Two cooks make onion soup: three onions into a pot, 20 steps, a dish, the serving window.

    Attributes:
      grid: rows of letters, as in `sts_overcooked.kitchen`; cooks started at 1 and 2.
    """

    name: ClassVar[str] = "overcooked"
    version: ClassVar[str] = f"2 overcooked-ai {metadata.version('overcooked-ai')}"
    action_names: ClassVar[tuple[str, ...]] = MOVES
    noop: ClassVar[int] = STAY
    players: ClassVar[tuple[str, ...]] = tuple(f"{hat} hat" for hat in HATS)
    reward_unit: ClassVar[float] = 1.0
    guide: ClassVar[str] = GUIDE
    draws_actions: ClassVar[bool] = True
    live_controls: ClassVar[LiveControls] = LiveControls(KEYS, tick=0.15, repeats=True)

    def __init__(self) -> None:
        self.grid: tuple[str, ...] = ()
        self._last: tuple[Any, Sequence[int], dict[str, list[bool]]] | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        """The cooks' deeds in the last step; not part of the state."""
        if self._last is None:
            return ()
        before, _, happened = self._last
        return tuple(
            Event(cook, kind, faced_place(before.players[cook]))
            for kind in EVENT_KINDS
            for cook, done in enumerate(happened[kind])
            if done
        )

    @property
    def pushes(self) -> tuple[int, ...]:
        """The cooks who tried to step onto the other's cell in the last step, and stayed.

        Not part of the state.
        """
        if self._last is None:
            return ()
        before, actions, _ = self._last
        here, there = ([cook.position for cook in s.players] for s in (before, self._state))
        return find_pushes(here, there, actions)

    @property
    def ended(self) -> bool:
        """True if the time limit is reached."""
        return self._step >= self._length

    @property
    def truncated(self) -> bool:
        """True if the time limit is reached: an episode has no other end."""
        return self.ended

    def reset(
        self,
        seed: int,
        *,
        layout: str | Sequence[str] | None = None,
        rules: str | int = "2019",
        length: int = EPISODE_LENGTH,
    ) -> None:
        """Start in an empty kitchen.

        Args:
          seed: identifies the episode, and selects its kitchen unless one is given.
          layout: a kitchen's rows, or the package's name of one that sets no cooking times, values
            or start; None selects one of LAYOUTS by the seed.
          rules: "2019", or "package" for the rules of the installed version, where pots are
            started by hand and every soup is ordered.
          length: time limit in steps.

        Raises:
          ValueError: the kitchen, the rules or the length is invalid.
        """
        if layout is None:
            layout = LAYOUTS[seed % len(LAYOUTS)]
        rows = read_layout(layout) if isinstance(layout, str) else tuple(layout)
        self.begin(rows, rules=str(rules), episode=f"seed {seed}", length=length)

    def begin(self, grid: Sequence[str], *, rules: str, episode: str, length: int) -> None:
        """Start in the kitchen of these rows; `episode` identifies the episode."""
        if type(length) is not int or length < 1:
            raise ValueError(f"expected a length of 1 step or more, found {length!r:.20}")
        self.grid = tuple(grid)
        self._rules, self._episode, self._step, self._length = rules, episode, 0, length
        self._game = load_game(self.grid, rules)
        self._state = self._game.get_standard_start_state()
        self._state.__class__ = State
        self._last = None

    def step(self, actions: Sequence[int]) -> Sequence[int]:
        """Take one step; return 20 for a cook who delivers a soup."""
        if self.ended:
            self._last = None
            return (0, 0)
        before, (first, second) = self._state, actions
        joint_action = ACTIONS[first], ACTIONS[second]
        self._state, happened = self._game.get_state_transition(before, joint_action)
        self._step += 1
        self._last = before, actions, happened["event_infos"]
        return happened["sparse_reward_by_agent"]  # type: ignore[no-any-return]

    def visible_state(self) -> VisibleState:
        """Return everything visible, as JSON values."""
        return extract_visible_state(self._state)

    def state(self) -> bytes:
        """Return the state as JSON."""
        fields = {
            "episode": self._episode,
            "step": self._step,
            "length": self._length,
            "rules": self._rules,
            "grid": list(self.grid),
            **self.visible_state()._asdict(),
        }
        return canonical_json(fields)

    def restore(self, state: bytes) -> None:
        """Continue from `state`.

        Raises:
          ValueError: `state` is not the state of a kitchen.
        """
        try:
            fields = json.loads(state)
            grid, rules, length = tuple(fields["grid"]), fields["rules"], fields["length"]
            self.begin(grid, rules=rules, episode=str(fields["episode"]), length=length)
            facts = validate_visible_state(VisibleState(fields["players"], fields["objects"]), grid)
            self._state = build_state(self._game, facts)
            self._step = fields["step"]
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"not a state of a kitchen: {error!r}") from None
        if type(self._step) is not int or not 0 <= self._step <= self._length:
            raise ValueError(f"expected a step of 0 to {self._length}, found {self._step!r:.20}")
        if self.state() != canonical_json(fields):
            raise ValueError(
                "not a state of a kitchen: it differs from the state of the restored kitchen"
            )

    def digest(self) -> bytes:
        """Return a digest of everything visible."""
        return digest_state(self.visible_state())

    def observe(self, player: int) -> Mapping[str, Any]:
        """Return the whole kitchen, which both cooks see, from the point of view of `player`.

        Arrays are [HEIGHT, WIDTH], with smaller kitchens in their upper left corner: `tiles` by
        index in TILES (-1 outside), `things` by index in THINGS, `filled` the ingredients in a pot,
        `cooking` the steps until its soup is done (-1 if not cooking). `me` and `partner` are
        int64[4]: row, column, side (as the first four actions), and held thing, by index in THINGS.
        """
        visible = self.visible_state()
        things, filled = np.zeros((HEIGHT, WIDTH), np.int8), np.zeros((HEIGHT, WIDTH), np.int8)
        cooking = np.full((HEIGHT, WIDTH), -1, np.int8)
        for x, y, thing in visible.objects:
            things[y, x] = _thing_index(thing)
            if self.grid[y][x] == "P":
                filled[y, x] = len(thing[1])
                cooking[y, x] = COOKED - thing[2] if thing[2] >= 0 else -1
        cooks = [
            np.array([y, x, SIDES.index((dx, dy)), _thing_index(held)])
            for x, y, dx, dy, held in visible.players
        ]
        return {
            "tiles": encode_tiles(self.grid),
            "things": things,
            "filled": filled,
            "cooking": cooking,
            "me": cooks[player],
            "partner": cooks[1 - player],
        }

    def render(self) -> NDArray[np.uint8]:
        """Return the kitchen as the package draws it, uint8[300, 540, 3]."""
        from sts_overcooked.rendering import draw_kitchen

        return draw_kitchen(self._state, self._game.terrain_mtx, self.pushes)

    def position(self, player: int) -> tuple[float, float]:
        """Return the middle of a cook's tile in the picture of `render`, (x, y) in pixels."""
        from sts_overcooked.rendering import place_kitchen

        tile, left, top = place_kitchen(len(self.grid), len(self.grid[0]))
        column, row = self._state.players[player].position
        return left + (column + 0.5) * tile, top + (row + 0.5) * tile

    def render_player_view(self, player: int) -> NDArray[np.uint8]:
        """Return the same picture as `render`: both cooks see everything."""
        return self.render()


def digest_state(visible: VisibleState) -> bytes:
    """Return the digest of visible facts, 8 bytes."""
    return hashlib.blake2b(_ENCODER.encode(visible).encode(), digest_size=8).digest()


@functools.lru_cache
def encode_tiles(grid: tuple[str, ...]) -> NDArray[np.int8]:
    """Return int8[HEIGHT, WIDTH], the index of each tile in TILES, -1 outside; read-only."""
    out = np.full((HEIGHT, WIDTH), -1, np.int8)
    for y, row in enumerate(grid):
        out[y, : len(row)] = [TILES.index(" " if tile in "12" else tile) for tile in row]
    out.setflags(write=False)
    return out


def read_layout(layout: str) -> tuple[str, ...]:
    """Return the rows of one of the package's kitchens, if its other values are the defaults."""
    from pathlib import Path

    from overcooked_ai_py.static import LAYOUTS_DIR
    from overcooked_ai_py.utils import read_layout_dict

    file = Path(LAYOUTS_DIR) / f"{layout}.layout"
    if not layout.replace("_", "").isalnum() or not file.is_file():
        raise ValueError(f"unknown layout {layout!r}; choose one such as {', '.join(LAYOUTS)}")
    values = read_layout_dict(layout)
    unsupported = [key for key, value in values.items() if value and key not in _KEPT_KEYS]
    if unsupported:
        raise ValueError(f"layout {layout!r} sets {', '.join(unsupported)}, which is not supported")
    return tuple(row.strip() for row in values["grid"].split("\n"))


def _thing_index(thing: Any) -> int:
    return THINGS.index(thing if isinstance(thing, str) else "soup") if thing else 0
