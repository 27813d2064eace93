"""A planner of this project's own: whatever makes soup next, by the shortest way.

With an instruction it does that one thing first and then goes on making soup. It knows the
instructions by keywords and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.domains.adapted import Seen
from sts.worlds.overcooked.agents.ways import Cell, Route, find_routes
from sts.worlds.overcooked.basics import FULL, INTERACT, MOVES, SIDES, STAY

_FLOOR, _COUNTER, _ONIONS, _, _DISHES, _POT, _WINDOW = range(7)
_NOTHING, _ONION, _TOMATO, _DISH, _SOUP = range(5)
RANDOM_SHARE = 0.1
"""Share of its moves that it takes at random, so that two of them do not block each other."""
BLOCKED_PENALTY = 5
"""Steps by which a way through the partner counts as longer: they may have left, or not."""
KEYWORDS = (
    ("hand-over", ("hand over", "counter where", "by way of a counter")),
    ("way", ("way", "aside", "let them pass")),
    ("deliver", ("deliver", "serv")),
    ("plate", ("finished soup", "out of the pot", "when a soup is done")),
    ("pot", ("onion",)),
    ("dish", ("dish",)),
)


class Cook(NamedTuple):
    """Where a cook stands, which side it faces, and what it holds."""

    cell: Cell
    side: int
    held: int


class Kitchen(NamedTuple):
    """What one cook sees, and where it can go.

    Attributes:
      tiles, things, filled, cooking: as `Overcooked.observe` has them.
      me, partner: the two cooks.
      mine: ways to what I can face now.
      theirs: cells that the partner can come to face if nobody is in the way.
    """

    tiles: NDArray[np.int8]
    things: NDArray[np.int8]
    filled: NDArray[np.int8]
    cooking: NDArray[np.int8]
    me: Cook
    partner: Cook
    mine: dict[Cell, Route]
    theirs: frozenset[Cell]

    def where(self, tile: int, thing: int | None = None) -> list[Cell]:
        """Return the cells of a tile, on which a thing lies where one is given."""
        found = self.tiles == tile
        if thing is not None:
            found = found & (self.things == thing)
        return [(int(row), int(column)) for row, column in np.argwhere(found)]

    def nearest(self, cells: Iterable[Cell]) -> Route | None:
        """Return the shortest of the ways to these cells; None where there is none."""
        found = [self.mine[cell] for cell in cells if cell in self.mine]
        return min(found, default=None)


class Greedy(Agent):
    """Brings onions to pots, dishes to soups and soups to the window, whichever is next.

    What it cannot reach itself it serves by way of a counter: it lays there what the partner can
    use, and takes from there what the partner laid.
    """

    name = "overcooked-greedy"
    version = "1"
    domain = "overcooked"

    def begin(self, batch: int, roles: int) -> Memory:
        """Return the memory of nothing asked and nothing done."""
        return {
            "told": np.zeros((batch, roles), np.int64),
            "done": np.zeros((batch, roles), np.bool_),
            "held": np.zeros((batch, roles), np.int64),
        }

    def act(
        self, observation: Seen, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return mostly the first move of the way to what is next."""
        batch, roles = observation.last_move.shape
        weights = np.full((batch, roles, len(MOVES)), RANDOM_SHARE / len(MOVES))
        after = {name: values.copy() for name, values in memory.items()}
        for b in range(batch):
            told = int(instructions.ids[b])
            task = classify_task(instructions.texts[told])
            for r in range(roles):
                seen = read_kitchen(
                    {name: values[b, r] for name, values in observation.values.items()}
                )
                held = seen.me.held
                if told != memory["told"][b, r]:
                    after["done"][b, r] = False
                elif _is_task_done(task, int(memory["held"][b, r]), held):
                    after["done"][b, r] = True
                after["told"][b, r], after["held"][b, r] = told, held
                wanted = "" if after["done"][b, r] else task
                weights[b, r, _TASKS[wanted](seen, instructions.texts[told])] += 1 - RANDOM_SHARE
        return Choice(weights), after


def classify_task(text: str) -> str:
    """Return which of the known tasks an instruction is about, "" for none."""
    low = text.lower()
    return next((task for task, words in KEYWORDS if any(word in low for word in words)), "")


def read_kitchen(values: Memory) -> Kitchen:
    """Return what is seen, with ways that go around the partner unless there is no way around."""
    tiles = values["tiles"]
    floor = tiles == _FLOOR
    me, partner = _read_cook(values["me"]), _read_cook(values["partner"])
    around = find_routes(floor, me.cell, me.side, {partner.cell})
    through = find_routes(floor, me.cell, me.side)
    return Kitchen(
        tiles,
        values["things"],
        values["filled"],
        values["cooking"],
        me,
        partner,
        {cell: Route(way.steps + BLOCKED_PENALTY, way.move) for cell, way in through.items()}
        | around,
        frozenset(find_routes(floor, partner.cell, partner.side)),
    )


def _read_cook(values: NDArray[Any]) -> Cook:
    row, column, side, held = (int(value) for value in values)
    return Cook((row, column), side, held)


def _is_task_done(task: str, before: int, now: int) -> bool:
    """Says whether what was asked for was just done, by what the hands held before and hold now."""
    changes = {
        "dish": now == _DISH,
        "pot": (before, now) == (_ONION, _NOTHING),
        "plate": (before, now) == (_DISH, _SOUP),
        "deliver": (before, now) == (_SOUP, _NOTHING),
        "hand-over": before in (_ONION, _DISH) and now == _NOTHING,
    }
    return changes.get(task, False)


def _make_soup(seen: Kitchen, text: str = "") -> int:
    """Return the move that makes soup next."""
    held = seen.me.held
    if held == _SOUP:
        return _first_move(_move_to(seen, seen.where(_WINDOW)), _put_on_counter(seen))
    if held == _DISH:
        return _plate_soup(seen, text)
    if held == _ONION:
        return _first_move(_move_to(seen, _open_pots(seen)), _put_on_counter(seen))
    if seen.where(_COUNTER, _SOUP) and seen.nearest(seen.where(_WINDOW)):
        move = _move_to(seen, seen.where(_COUNTER, _SOUP))
        if move is not None:
            return move
    soups = int((seen.cooking >= 0).sum()) - (seen.partner.held == _DISH)
    if soups > 0:
        return _first_move(_move_to(seen, _sources(seen, _DISHES, _DISH)), _fetch_onion(seen))
    return _fetch_onion(seen)


def _fetch_dish(seen: Kitchen, text: str = "") -> int:
    if seen.me.held == _NOTHING:
        return _first_move(_move_to(seen, _sources(seen, _DISHES, _DISH)))
    return _put_away(seen)


def _fill_pot(seen: Kitchen, text: str = "") -> int:
    """Return the move towards a pot with an onion, first one that is nearly full."""
    if seen.me.held == _ONION:
        fullest = sorted(_open_pots(seen), key=lambda cell: -int(seen.filled[cell]))
        best = [cell for cell in fullest if seen.filled[cell] == seen.filled[fullest[0]]]
        return _first_move(_move_to(seen, best), _move_to(seen, fullest), _put_on_counter(seen))
    return _fetch_onion(seen) if seen.me.held == _NOTHING else _put_away(seen)


def _plate_soup(seen: Kitchen, text: str = "") -> int:
    """Return the move towards the soup that is done first, with a dish."""
    held = seen.me.held
    if held == _NOTHING:
        return _first_move(_move_to(seen, _sources(seen, _DISHES, _DISH)))
    if held != _DISH:
        return _put_away(seen)
    soups = [(int(row), int(column)) for row, column in np.argwhere(seen.cooking >= 0)]
    soups.sort(key=lambda cell: int(seen.cooking[cell]))
    if not soups:
        soups = sorted(seen.where(_POT), key=lambda cell: -int(seen.filled[cell]))
    for cell in soups:
        way = seen.mine.get(cell)
        if way is not None:
            return STAY if way.move == INTERACT and seen.cooking[cell] != 0 else way.move
    return _put_on_counter(seen)


def _deliver_soup(seen: Kitchen, text: str = "") -> int:
    held = seen.me.held
    if held == _SOUP:
        return _first_move(_move_to(seen, seen.where(_WINDOW)), _put_on_counter(seen))
    if held == _NOTHING and seen.where(_COUNTER, _SOUP):
        return _first_move(_move_to(seen, seen.where(_COUNTER, _SOUP)), _plate_soup(seen))
    return _plate_soup(seen)


def _hand_over(seen: Kitchen, text: str) -> int:
    thing = _DISH if "dish" in text.lower() else _ONION
    if seen.me.held == thing:
        return _put_on_counter(seen)
    if seen.me.held != _NOTHING:
        return _put_away(seen)
    source = _DISHES if thing == _DISH else _ONIONS
    return _first_move(
        _move_to(seen, seen.where(source)), _move_to(seen, seen.where(_COUNTER, thing))
    )


def _make_way(seen: Kitchen, text: str = "") -> int:
    """Return a step away from the partner, to floor from which they are farther."""
    (row, column), (there, across) = seen.me.cell, seen.partner.cell
    best, farthest = STAY, 0
    for move, (right, down) in enumerate(SIDES):
        cell = (row + down, column + right)
        apart = abs(cell[0] - there) + abs(cell[1] - across)
        if seen.tiles[cell] == _FLOOR and cell != (there, across) and apart > farthest:
            best, farthest = move, apart
    return best


def _fetch_onion(seen: Kitchen) -> int:
    return _first_move(
        _move_to(seen, _sources(seen, _ONIONS, _ONION)), _move_to(seen, seen.where(_DISHES))
    )


def _sources(seen: Kitchen, tile: int, thing: int) -> list[Cell]:
    """Return where a thing can be had: the stack, or where none can be reached, counters.

    What lies about where there is a stack was put down for the partner, or out of the way.
    """
    stack = seen.where(tile)
    return seen.where(_COUNTER, thing) if seen.nearest(stack) is None else stack


def _open_pots(seen: Kitchen) -> list[Cell]:
    return [
        cell for cell in seen.where(_POT) if seen.filled[cell] < FULL and seen.cooking[cell] < 0
    ]


def _put_away(seen: Kitchen) -> int:
    """Return the move that puts down what is held, where it is of use or else on a counter."""
    if seen.me.held == _ONION:
        return _first_move(_move_to(seen, _open_pots(seen)), _put_on_counter(seen))
    if seen.me.held == _SOUP:
        return _first_move(_move_to(seen, seen.where(_WINDOW)), _put_on_counter(seen))
    return _put_on_counter(seen)


def _put_on_counter(seen: Kitchen) -> int:
    """Return the move towards an empty counter, one that the partner can reach if there is one."""
    empty = seen.where(_COUNTER, _NOTHING)
    return _first_move(
        _move_to(seen, [cell for cell in empty if cell in seen.theirs]), _move_to(seen, empty)
    )


def _move_to(seen: Kitchen, cells: Iterable[Cell]) -> int | None:
    way = seen.nearest(cells)
    return None if way is None else way.move


def _first_move(*moves: int | None) -> int:
    """Return the first move there is, else to stand still."""
    return next((move for move in moves if move is not None), STAY)


_TASKS: dict[str, Callable[[Kitchen, str], int]] = {
    "": _make_soup,
    "dish": _fetch_dish,
    "pot": _fill_pot,
    "plate": _plate_soup,
    "deliver": _deliver_soup,
    "hand-over": _hand_over,
    "way": _make_way,
}
