"""An agent that plays by what it sees: it looks for what the mission names, and does as told.

It walks to the nearest fitting object in its view by the shortest way over cells that it sees; with
none in view it wanders, opening doors on its way. It has no map: what is out of view is forgotten.
"""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.worlds.babyai.agents import missions
from sts.worlds.babyai.agents.missions import Clause, Thing
from sts.worlds.babyai.environment import MOVES
from sts.worlds.babyai.library import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX
from sts.worlds.babyai.view import VIEW

LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE = range(6)
EMPTY, FLOOR, DOOR = OBJECT_TO_IDX["empty"], OBJECT_TO_IDX["floor"], OBJECT_TO_IDX["door"]
OPEN, CLOSED = STATE_TO_IDX["open"], STATE_TO_IDX["closed"]
HERE = (VIEW // 2, VIEW - 1)
_AHEAD = ((0, -1), (1, 0), (0, 1), (-1, 0))  # turning right each time
Cell = tuple[int, int]


class View(NamedTuple):
    """What one participant sees.

    Attributes:
      cells: of each cell (x, y), its type, colour and state.
      carrying: the type and colour of what is carried; type EMPTY is nothing.
      last: the move last made; -1 for none.
    """

    cells: dict[Cell, tuple[int, ...]]
    carrying: tuple[int, ...]
    last: int

    @property
    def front(self) -> tuple[int, ...]:
        """What is right ahead."""
        return self.cells[HERE[0], HERE[1] - 1]


class Seeker(Agent):
    """Does what the mission asks for, one clause after the other, with what is in view."""

    name = "babyai-seeker"
    version = "1"
    domain: ClassVar[str] = "babyai"

    def begin(self, batch: int, roles: int) -> Memory:
        """Return how many clauses of the mission are done."""
        return {"done": np.zeros(batch, np.int64)}

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Weighs one move, or several to wander."""
        asked = [missions.parse_clauses(text) for text in instructions.texts]
        images = observation.values["image"][:, 0].tolist()
        carrying = observation.values["carrying"][:, 0].tolist()
        weights = np.zeros((len(images), 1, len(MOVES)))
        done = memory["done"].copy()
        for b, (image, held) in enumerate(zip(images, carrying, strict=True)):
            cells = {(x, y): tuple(image[x][y]) for x in range(VIEW) for y in range(VIEW)}
            view = View(cells, tuple(held), int(observation.last_move[b, 0]))
            clauses = asked[instructions.ids[b]]
            if clauses and _is_clause_done(view, clauses[done[b] % len(clauses)]):
                done[b] += 1
            move = _next_move(view, clauses[done[b] % len(clauses)]) if clauses else None
            if move is None:
                weights[b, 0] = _wander(view)
            else:
                weights[b, 0, move] = 1.0
        return Choice(weights), {"done": done}


def matches_thing(found: tuple[int, ...], thing: Thing) -> bool:
    """Whether minigrid's numbers of a type and a colour are those of a thing."""
    if found[0] not in THINGS or (thing.type and found[0] != OBJECT_TO_IDX[thing.type]):
        return False
    return not thing.colour or found[1] == COLOR_TO_IDX[thing.colour]


THINGS = tuple(OBJECT_TO_IDX[name] for name in ("box", "ball", "key", "door"))


def _is_clause_done(view: View, clause: Clause) -> bool:
    """Whether the move just made did what a clause asks for."""
    if clause.kind == "go-to":
        return matches_thing(view.front, clause.thing)
    if clause.kind == "open":
        opened = view.last == TOGGLE and view.front[2] == OPEN
        return opened and matches_thing(view.front, clause.thing)
    if clause.kind == "pick-up":
        return view.last == PICKUP and matches_thing(view.carrying, clause.thing)
    return view.last == DROP and matches_thing(view.front, clause.thing)


def _next_move(view: View, clause: Clause) -> int | None:
    """Return the next move towards what a clause asks for; None where nothing of it is in view."""
    holds = view.carrying[0] != EMPTY
    if clause.beside is not None and matches_thing(view.carrying, clause.thing):
        return _put_next_to(view, clause.beside)
    if holds and clause.kind in ("pick-up", "put-next"):
        return DROP if view.front[0] == EMPTY else None
    move = plan_step(
        view, {cell for cell, found in view.cells.items() if matches_thing(found, clause.thing)}
    )
    if move != FORWARD or not matches_thing(view.front, clause.thing):
        return move
    if clause.kind == "open":
        return TOGGLE
    return FORWARD if clause.kind == "go-to" else PICKUP


def _put_next_to(view: View, beside: Thing) -> int | None:
    """Return the next move towards an empty cell beside a thing, or drops there what it has."""
    free = free_cells(
        view, {cell for cell, found in view.cells.items() if matches_thing(found, beside)}
    )
    return DROP if (HERE[0], HERE[1] - 1) in free else plan_step(view, free)


def neighbours(place: Cell) -> list[Cell]:
    """Return the four cells beside one."""
    x, y = place
    return [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]


def free_cells(view: View, places: set[Cell]) -> set[Cell]:
    """Return the empty cells beside any of these places, the own one left out."""
    cells = {cell for place in places for cell in neighbours(place)} - {HERE}
    return {cell for cell in cells if view.cells.get(cell, (0,))[0] == EMPTY}


def plan_step(view: View, goals: set[Cell]) -> int | None:
    """Return the first move of a shortest way to face one of `goals`; FORWARD where it is faced.

    None says that no way leads there over cells in view.
    """
    start = (*HERE, 0)
    waiting: deque[tuple[tuple[int, int, int], int]] = deque([(start, FORWARD)])
    known = {start}
    while waiting:
        (x, y, heading), first = waiting.popleft()
        right, down = _AHEAD[heading]
        ahead = (x + right, y + down)
        if ahead in goals:
            return first
        ways = [(LEFT, (x, y, (heading - 1) % 4)), (RIGHT, (x, y, (heading + 1) % 4))]
        if is_passable(view.cells.get(ahead)):
            ways.insert(0, (FORWARD, (*ahead, heading)))
        for move, there in ways:
            if there not in known:
                known.add(there)
                waiting.append((there, move if (x, y, heading) == start else first))
    return None


def is_passable(found: tuple[int, ...] | None) -> bool:
    """Whether one can step onto what is seen there; None is out of sight."""
    if found is None:
        return False
    return found[0] in (EMPTY, FLOOR) or (found[0] == DOOR and found[2] == OPEN)


def _wander(view: View) -> list[float]:
    """Return weights that lead on where the way is free, through doors, and else turn."""
    weights = [0.0] * len(MOVES)
    weights[LEFT] = weights[RIGHT] = 1.0
    if is_passable(view.front):
        weights[FORWARD] = 6.0
    elif view.front[0] == DOOR and view.front[2] == CLOSED:
        weights[TOGGLE] = 6.0
    return weights
