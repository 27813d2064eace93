"""Planner that makes soup by the shortest route.

It first carries out its instruction, then makes soup. It recognises instructions by keywords.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Agent, Draws, Instructions, Memory, Observation, PolicyOutput
from sts_overcooked.agents.routes import Cell, Route, find_routes
from sts_overcooked.constants import FULL, INTERACT, MOVES, SIDES, STAY

_FLOOR, _COUNTER, _ONIONS, _, _DISHES, _POT, _WINDOW = range(7)
_NOTHING, _ONION, _TOMATO, _DISH, _SOUP = range(5)
RANDOM_SHARE = 0.1
"""Share of random actions, so that two planners do not block each other."""
BLOCKED_PENALTY = 5
"""Extra steps for a route through the partner, who may have left by then."""
KEYWORDS = (
    ("hand-over", ("hand over", "counter where", "by way of a counter")),
    ("way", ("way", "aside", "let them pass")),
    ("deliver", ("deliver", "serv")),
    ("plate", ("finished soup", "out of the pot", "when a soup is done")),
    ("pot", ("onion",)),
    ("dish", ("dish",)),
)
WORDINGS = (
    "Hand over an onion by way of a counter.",
    "Step aside and let them pass.",
    "Deliver a soup.",
    "Take a finished soup out of the pot.",
    "Put an onion into a pot.",
    "Fetch a dish.",
)
"""An instruction for each known task."""


class Cook(NamedTuple):
    """Position, direction and held thing of a cook."""

    cell: Cell
    side: int
    held: int


class Kitchen(NamedTuple):
    """Observation of one cook, as `Overcooked.observe` returns it, with the routes through it."""

    tiles: NDArray[np.int8]
    things: NDArray[np.int8]
    filled: NDArray[np.int8]
    cooking: NDArray[np.int8]
    me: Cook
    partner: Cook
    routes: dict[Cell, Route]  # to the cells that the cook can face
    partner_reach: frozenset[Cell]  # cells that the partner can face, ignoring this cook

    def find_cells(self, tile: int, thing: int | None = None) -> list[Cell]:
        """Return the cells of a tile, optionally with this thing on it."""
        mask = self.tiles == tile
        if thing is not None:
            mask = mask & (self.things == thing)
        return [(int(row), int(column)) for row, column in np.argwhere(mask)]

    def nearest_route(self, cells: Iterable[Cell]) -> Route | None:
        """Return the shortest route to one of these cells; None if none can be reached."""
        reached = [self.routes[cell] for cell in cells if cell in self.routes]
        return min(reached, default=None)


class Greedy(Agent):
    """Cook that brings onions to pots, dishes to soups and soups to the window.

    For what it cannot reach it uses counters: it puts down what the partner needs, and takes what
    the partner put down.
    """

    name = "overcooked-greedy"
    version = "1"
    domain = "overcooked"
    wordings = WORDINGS

    def initial_state(self, batch: int, players: int) -> Memory:
        """Return the state before any instruction."""
        return {
            "told": np.zeros((batch, players), np.int64),
            "done": np.zeros((batch, players), np.bool_),
            "held": np.zeros((batch, players), np.int64),
        }

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the first action of the route to the next target, mixed with random actions."""
        batch, players = observation.last_move.shape
        weights = np.full((batch, players, len(MOVES)), RANDOM_SHARE / len(MOVES))
        after = {name: values.copy() for name, values in memory.items()}
        for b in range(batch):
            text_id = int(instructions.ids[b])
            task = classify_task(instructions.texts[text_id])
            for r in range(players):
                kitchen = read_kitchen(
                    {name: values[b, r] for name, values in observation.values.items()}
                )
                held = kitchen.me.held
                if text_id != memory["told"][b, r]:
                    after["done"][b, r] = False
                elif _is_task_done(task, int(memory["held"][b, r]), held):
                    after["done"][b, r] = True
                after["told"][b, r], after["held"][b, r] = text_id, held
                current_task = "" if after["done"][b, r] else task
                weights[b, r, _TASKS[current_task](kitchen, instructions.texts[text_id])] += (
                    1 - RANDOM_SHARE
                )
        return PolicyOutput(weights), after


def classify_task(text: str) -> str:
    """Return the known task that an instruction is about, "" for none."""
    low = text.lower()
    return next((task for task, words in KEYWORDS if any(word in low for word in words)), "")


def read_kitchen(values: Memory) -> Kitchen:
    """Return the observed kitchen; routes avoid the partner unless there is no way around."""
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
    """Return True if a task was just done, judging by what the cook held before and holds now."""
    changes = {
        "dish": now == _DISH,
        "pot": (before, now) == (_ONION, _NOTHING),
        "plate": (before, now) == (_DISH, _SOUP),
        "deliver": (before, now) == (_SOUP, _NOTHING),
        "hand-over": before in (_ONION, _DISH) and now == _NOTHING,
    }
    return changes.get(task, False)


def _make_soup(kitchen: Kitchen, text: str = "") -> int:
    """Return the next action to make soup."""
    held = kitchen.me.held
    if held == _DISH:
        return _plate_soup(kitchen, text)
    if held in (_SOUP, _ONION):
        return _put_away(kitchen)
    if kitchen.nearest_route(kitchen.find_cells(_WINDOW)):
        move = _move_to(kitchen, kitchen.find_cells(_COUNTER, _SOUP))
        if move is not None:
            return move
    soups = int((kitchen.cooking >= 0).sum()) - (kitchen.partner.held == _DISH)
    if soups > 0:
        return _first_move(_move_to_source(kitchen, _DISHES, _DISH), _fetch_onion(kitchen))
    return _fetch_onion(kitchen)


def _fetch_dish(kitchen: Kitchen, text: str = "") -> int:
    if kitchen.me.held == _NOTHING:
        return _first_move(_move_to_source(kitchen, _DISHES, _DISH))
    return _put_away(kitchen)


def _fill_pot(kitchen: Kitchen, text: str = "") -> int:
    """Return the next action to bring an onion to a pot, preferably one that is nearly full."""
    if kitchen.me.held == _ONION:
        fullest = sorted(_open_pots(kitchen), key=lambda cell: -int(kitchen.filled[cell]))
        best = [cell for cell in fullest if kitchen.filled[cell] == kitchen.filled[fullest[0]]]
        return _first_move(
            _move_to(kitchen, best), _move_to(kitchen, fullest), _put_on_counter(kitchen)
        )
    return _fetch_onion(kitchen) if kitchen.me.held == _NOTHING else _put_away(kitchen)


def _plate_soup(kitchen: Kitchen, text: str = "") -> int:
    """Return the next action to bring a dish to the soup that is done first."""
    held = kitchen.me.held
    if held == _NOTHING:
        return _first_move(_move_to_source(kitchen, _DISHES, _DISH))
    if held != _DISH:
        return _put_away(kitchen)
    soups = [(int(row), int(column)) for row, column in np.argwhere(kitchen.cooking >= 0)]
    soups.sort(key=lambda cell: int(kitchen.cooking[cell]))
    if not soups:
        soups = sorted(kitchen.find_cells(_POT), key=lambda cell: -int(kitchen.filled[cell]))
    for cell in soups:
        way = kitchen.routes.get(cell)
        if way is not None:
            return STAY if way.move == INTERACT and kitchen.cooking[cell] != 0 else way.move
    return _put_on_counter(kitchen)


def _deliver_soup(kitchen: Kitchen, text: str = "") -> int:
    if kitchen.me.held == _SOUP:
        return _put_away(kitchen)
    if kitchen.me.held == _NOTHING:
        soups = kitchen.find_cells(_COUNTER, _SOUP)
        return _first_move(_move_to(kitchen, soups), _plate_soup(kitchen))
    return _plate_soup(kitchen)


def _hand_over(kitchen: Kitchen, text: str) -> int:
    thing = _DISH if "dish" in text.lower() else _ONION
    if kitchen.me.held == thing:
        return _put_on_counter(kitchen)
    if kitchen.me.held != _NOTHING:
        return _put_away(kitchen)
    source = _DISHES if thing == _DISH else _ONIONS
    return _first_move(
        _move_to(kitchen, kitchen.find_cells(source)),
        _move_to(kitchen, kitchen.find_cells(_COUNTER, thing)),
    )


def _make_way(kitchen: Kitchen, text: str = "") -> int:
    """Return a step to the floor cell farthest from the partner; stay if none is farther."""
    (row, column), (other_row, other_column) = kitchen.me.cell, kitchen.partner.cell
    best, farthest = STAY, 0
    for move, (right, down) in enumerate(SIDES):
        cell = (row + down, column + right)
        distance = abs(cell[0] - other_row) + abs(cell[1] - other_column)
        if (
            kitchen.tiles[cell] == _FLOOR
            and cell != (other_row, other_column)
            and distance > farthest
        ):
            best, farthest = move, distance
    return best


def _fetch_onion(kitchen: Kitchen) -> int:
    return _first_move(
        _move_to_source(kitchen, _ONIONS, _ONION),
        _move_to(kitchen, kitchen.find_cells(_DISHES)),
    )


def _move_to_source(kitchen: Kitchen, tile: int, thing: int) -> int | None:
    """Return the next action to take a thing from a stack, or from a counter if none is in reach.

    With a stack in reach, things on counters were left for the partner or out of the way.
    """
    move = _move_to(kitchen, kitchen.find_cells(tile))
    return _move_to(kitchen, kitchen.find_cells(_COUNTER, thing)) if move is None else move


def _open_pots(kitchen: Kitchen) -> list[Cell]:
    return [
        cell
        for cell in kitchen.find_cells(_POT)
        if kitchen.filled[cell] < FULL and kitchen.cooking[cell] < 0
    ]


def _put_away(kitchen: Kitchen) -> int:
    """Return the next action to put down the held thing, where it is useful or on a counter."""
    if kitchen.me.held == _ONION:
        return _first_move(_move_to(kitchen, _open_pots(kitchen)), _put_on_counter(kitchen))
    if kitchen.me.held == _SOUP:
        return _first_move(_move_to(kitchen, kitchen.find_cells(_WINDOW)), _put_on_counter(kitchen))
    return _put_on_counter(kitchen)


def _put_on_counter(kitchen: Kitchen) -> int:
    """Return the next action towards an empty counter, preferably within the partner's reach."""
    empty = kitchen.find_cells(_COUNTER, _NOTHING)
    return _first_move(
        _move_to(kitchen, [cell for cell in empty if cell in kitchen.partner_reach]),
        _move_to(kitchen, empty),
    )


def _move_to(kitchen: Kitchen, cells: Iterable[Cell]) -> int | None:
    way = kitchen.nearest_route(cells)
    return None if way is None else way.move


def _first_move(*actions: int | None) -> int:
    """Return the first action that is not None, else stay."""
    return next((move for move in actions if move is not None), STAY)


_TASKS: dict[str, Callable[[Kitchen, str], int]] = {
    "": _make_soup,
    "dish": _fetch_dish,
    "pot": _fill_pot,
    "plate": _plate_soup,
    "deliver": _deliver_soup,
    "hand-over": _hand_over,
    "way": _make_way,
}
