"""One kitchen, as a world that can be put back exactly where it was.

The participants are the cooks with the blue and the green hat. A delivered soup gives 20, as in the
package, to who delivers it; the recordings of 2019 wrote 5 for the same event. A trial ends by the
clock and by nothing else.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.storage.files import canonical_json
from sts.worlds.overcooked.basics import COOKED, HATS, MOVES, SIDES, STAY
from sts.worlds.overcooked.kitchen import (
    ACTIONS,
    HEIGHT,
    WIDTH,
    Facts,
    Place,
    build_state,
    extract_facts,
    faced_place,
    load_game,
    validate_facts,
)

LAYOUTS = (
    "asymmetric_advantages",
    "coordination_ring",
    "counter_circuit_o_1order",
    "cramped_room",
    "forced_coordination",
)
"""What `reset` chooses from: the kitchens of the recordings, as the package calls them today."""
LENGTH = 400
"""Steps of an episode, as in the package; a recorded trial has its own."""
TILES = " XOTDPS"
GUIDE = """
**The kitchen.** Two cooks, one with a **blue hat** and one with a **green hat**, walk on the pale
floor with what they carry in their hands. Brown squares are counters, where things can be laid
down. Onions and white dishes are taken from their heaps; the light grey square is the serving
window. A dark grey box is a pot: its onions lie in it, and a red number counts the steps that it
has cooked, up to 20, when the soup is done. A cook takes the soup out with a dish, and at the
window it is gone.
"""
THINGS = ("", "onion", "tomato", "dish", "soup")
EVENT_KINDS = (
    *("onion_pickup", "dish_pickup", "soup_pickup", "onion_drop", "dish_drop", "soup_drop"),
    *("potting_onion", "soup_delivery"),
)
_KEPT_KEYS = ("grid", "start_all_orders", "rew_shaping_params")
"""Of a layout of the package: its rows; the orders, which `rules` decides; what nobody is paid."""


class Event(NamedTuple):
    """What a participant did in the last step.

    Attributes:
      who: the participant.
      deed: one of DEEDS, as the package calls it.
      place: what it was done to, (x, y).
    """

    who: int
    deed: str
    place: Place


class Overcooked:
    """Two cooks make onion soup: three onions into a pot, 20 steps, a dish, the serving window.

    Attributes:
      grid: rows of letters, as `sts.worlds.overcooked.kitchen` says; 1 and 2 where the cooks began.
      events: what the cooks did in the last step; no part of the state.
    """

    name: ClassVar[str] = "overcooked"
    version: ClassVar[str] = f"2 overcooked-ai {metadata.version('overcooked-ai')}"
    moves: ClassVar[tuple[str, ...]] = MOVES
    noop: ClassVar[int] = STAY
    participants: ClassVar[tuple[str, ...]] = tuple(f"{hat} hat" for hat in HATS)
    reward_unit: ClassVar[float] = 1.0
    guide: ClassVar[str] = GUIDE

    def __init__(self) -> None:
        self.grid: tuple[str, ...] = ()
        self.events: tuple[Event, ...] = ()

    @property
    def ended(self) -> bool:
        """Whether the time is up."""
        return self._step >= self._length

    @property
    def truncated(self) -> bool:
        """Whether only the time is up: nothing else ends a trial."""
        return self.ended

    def reset(
        self,
        seed: int,
        *,
        layout: str | Sequence[str] | None = None,
        rules: str | int = "2019",
        length: int = LENGTH,
    ) -> None:
        """Begins in an empty kitchen.

        Args:
          seed: names the episode, and its kitchen unless one is given.
          layout: the package's name of one that has no cooking times, values or start of its own,
            or its rows; None takes one of LAYOUTS by the seed.
          rules: "2019", or "package" for those of the installed version, where a pot is
            started by hand and every soup is wanted.
          length: steps until it ends.

        Raises:
          ValueError: no such kitchen, rules or length.
        """
        if layout is None:
            layout = LAYOUTS[seed % len(LAYOUTS)]
        rows = read_layout(layout) if isinstance(layout, str) else tuple(layout)
        self.begin(rows, rules=str(rules), episode=f"seed {seed}", length=length)

    def begin(self, grid: Sequence[str], *, rules: str, episode: str, length: int) -> None:
        """Begins in the kitchen of these rows; `episode` tells it from others in the same one."""
        if type(length) is not int or length < 1:
            raise ValueError(f"expected a length of 1 step or more, found {length!r:.20}")
        self.grid = tuple(grid)
        self._rules, self._episode, self._step, self._length = rules, episode, 0, length
        self._game = load_game(self.grid, rules)
        self._state = self._game.get_standard_start_state()
        self.events = ()

    def step(self, moves: Sequence[int]) -> Sequence[int]:
        """Move on by one step; 20 to who delivers a soup."""
        if self.ended:
            self.events = ()
            return (0, 0)
        before = self._state
        self._state, happened = self._game.get_state_transition(
            before, tuple(ACTIONS[move] for move in moves)
        )
        self._step += 1
        self.events = tuple(
            Event(who, deed, faced_place(before.players[who]))
            for deed in EVENT_KINDS
            for who, done in enumerate(happened["event_infos"][deed])
            if done
        )
        return happened["sparse_reward_by_agent"]  # type: ignore[no-any-return]

    def facts(self) -> Facts:
        """Return all that can be seen, as JSON values."""
        return extract_facts(self._state)

    def state(self) -> bytes:
        """Return it as JSON."""
        own = {
            "episode": self._episode,
            "step": self._step,
            "length": self._length,
            "rules": self._rules,
            "grid": list(self.grid),
            **self.facts()._asdict(),
        }
        return canonical_json(own)

    def restore(self, state: bytes) -> None:
        """Goes on from `state`.

        Raises:
          ValueError: it is no state of a kitchen.
        """
        try:
            own = json.loads(state)
            grid = tuple(own["grid"])
            self.begin(grid, rules=own["rules"], episode=str(own["episode"]), length=own["length"])
            self._state = build_state(
                self._game, validate_facts(Facts(own["players"], own["objects"]), grid)
            )
            self._step = own["step"]
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"no state of a kitchen: {error!r}") from None
        if type(self._step) is not int or not 0 <= self._step <= self._length:
            raise ValueError(f"expected a step of 0 to {self._length}, found {self._step!r:.20}")
        if self.state() != canonical_json(own):
            raise ValueError("no state of a kitchen: it is not what the kitchen says of itself")

    def digest(self) -> bytes:
        """Return the digest of what can be seen."""
        return digest(self.facts())

    def observe(self, role: int) -> Mapping[str, Any]:
        """Return the whole kitchen, which both can see, from the side of `role`.

        Arrays are [HEIGHT, WIDTH], smaller kitchens in their upper left corner: `tiles` by the
        index in TILES (-1 outside), `things` by the index in THINGS of what lies there, `filled`
        the ingredients in a pot, `cooking` the steps until its soup is done (-1 while it waits).
        `me` and `partner` are int64[4]: row, column, side (as the first four moves), and what is
        held, by the index in THINGS.
        """
        seen = self.facts()
        things, filled = np.zeros((HEIGHT, WIDTH), np.int8), np.zeros((HEIGHT, WIDTH), np.int8)
        cooking = np.full((HEIGHT, WIDTH), -1, np.int8)
        for x, y, it in seen.objects:
            things[y, x] = _thing_index(it)
            if self.grid[y][x] == "P":
                filled[y, x] = len(it[1])
                cooking[y, x] = COOKED - it[2] if it[2] >= 0 else -1
        cooks = [
            np.array([y, x, SIDES.index((dx, dy)), _thing_index(held)])
            for x, y, dx, dy, held in seen.players
        ]
        return {
            "tiles": encode_tiles(self.grid),
            "things": things,
            "filled": filled,
            "cooking": cooking,
            "me": cooks[role],
            "partner": cooks[1 - role],
        }

    def instruction(self) -> str:
        """Nobody asks for anything."""
        return ""

    def render(self) -> NDArray[np.uint8]:
        """Return the kitchen as the package draws it, uint8[300, 540, 3]."""
        from sts.worlds.overcooked.rendering import draw_kitchen

        return draw_kitchen(self._state, self._game.terrain_mtx)

    def sight(self, role: int) -> NDArray[np.uint8]:
        """Return the kitchen as a judge sees it: both cooks see all of it."""
        return self.render()


def digest(seen: Facts) -> bytes:
    """Return the digest of a kitchen of which this can be seen, 8 bytes."""
    return hashlib.blake2b(seen.text().encode(), digest_size=8).digest()


@functools.lru_cache
def encode_tiles(grid: tuple[str, ...]) -> NDArray[np.int8]:
    """Return int8[HEIGHT, WIDTH], the index of each tile in TILES, -1 outside; not to write to."""
    out = np.full((HEIGHT, WIDTH), -1, np.int8)
    for y, row in enumerate(grid):
        out[y, : len(row)] = [TILES.index(" " if tile in "12" else tile) for tile in row]
    out.setflags(write=False)
    return out


def read_layout(layout: str) -> tuple[str, ...]:
    """Return the rows of a kitchen of the package that has no values of its own to be lost."""
    from pathlib import Path

    from overcooked_ai_py.static import LAYOUTS_DIR
    from overcooked_ai_py.utils import read_layout_dict

    file = Path(LAYOUTS_DIR) / f"{layout}.layout"
    if not layout.replace("_", "").isalnum() or not file.is_file():
        raise ValueError(f"no layout {layout!r}; such as {', '.join(LAYOUTS)}")
    own = read_layout_dict(layout)
    lost = [key for key, value in own.items() if value and key not in _KEPT_KEYS]
    if lost:
        raise ValueError(f"layout {layout!r} has {', '.join(lost)} of its own, which are not kept")
    return tuple(row.strip() for row in own["grid"].split("\n"))


def _thing_index(it: Any) -> int:
    return THINGS.index(it if isinstance(it, str) else "soup") if it else 0
