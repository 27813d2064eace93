"""Agent that looks for the mission's objects in its current view.

It walks to the nearest matching object by the shortest path over cells in view. If there is none it
wanders and opens doors. It has no map: what is out of view is forgotten.
"""

from collections import deque
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sts.plugin import Agent, Draws, Instructions, Memory, PolicyOutput
from sts_babyai.agents import missions
from sts_babyai.agents.missions import Clause, Thing
from sts_babyai.environment import MOVES
from sts_babyai.minigrid_names import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX
from sts_babyai.view import VIEW_SIZE

LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE = range(6)
EMPTY, FLOOR, DOOR = OBJECT_TO_IDX["empty"], OBJECT_TO_IDX["floor"], OBJECT_TO_IDX["door"]
OPEN, CLOSED = STATE_TO_IDX["open"], STATE_TO_IDX["closed"]
PLAYER_CELL = (VIEW_SIZE // 2, VIEW_SIZE - 1)
FRONT = (PLAYER_CELL[0], PLAYER_CELL[1] - 1)
_AHEAD = ((0, -1), (1, 0), (0, 1), (-1, 0))  # clockwise
Cell = tuple[int, int]


class View(NamedTuple):
    """Observation of one player."""

    cells: dict[Cell, tuple[int, ...]]  # type, colour and state of each cell (x, y)
    carrying: tuple[int, ...]  # type and colour of the object carried; type EMPTY is nothing
    last: int  # the last action; -1 for none

    @property
    def front(self) -> tuple[int, ...]:
        """Content of the cell right ahead."""
        return self.cells[FRONT]


class Seeker(Agent):
    """Agent that does the mission's clauses one by one, with what is in view."""

    name = "babyai-seeker"
    version = "1"
    domain: ClassVar[str] = "babyai"
    wordings = missions.WORDINGS

    def initial_state(self, batch: int, players: int) -> Memory:
        """Return the number of clauses done: none."""
        return {"done": np.zeros(batch, np.int64)}

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the next action, or several with weights to wander."""
        clauses_by_text = [missions.parse_clauses(text) for text in instructions.texts]
        images = observation.values["image"][:, 0].tolist()
        carrying = observation.values["carrying"][:, 0].tolist()
        weights = np.zeros((len(images), 1, len(MOVES)))
        done = memory["done"].copy()
        for b, (image, content) in enumerate(zip(images, carrying, strict=True)):
            cells = {(x, y): tuple(image[x][y]) for x in range(VIEW_SIZE) for y in range(VIEW_SIZE)}
            view = View(cells, tuple(content), int(observation.last_move[b, 0]))
            clauses = clauses_by_text[instructions.ids[b]]
            if clauses and _is_clause_done(view, clauses[done[b] % len(clauses)]):
                done[b] += 1
            move = _next_move(view, clauses[done[b] % len(clauses)]) if clauses else None
            if move is None:
                weights[b, 0] = _wander(view)
            else:
                weights[b, 0, move] = 1.0
        return PolicyOutput(weights), {"done": done}


def matches_thing(content: tuple[int, ...], thing: Thing) -> bool:
    """Return True if minigrid's codes of a cell match a thing's type and colour."""
    if content[0] not in THINGS or (thing.type and content[0] != OBJECT_TO_IDX[thing.type]):
        return False
    return not thing.colour or content[1] == COLOR_TO_IDX[thing.colour]


THINGS = tuple(OBJECT_TO_IDX[name] for name in ("box", "ball", "key", "door"))


def _is_clause_done(view: View, clause: Clause) -> bool:
    """Return True if the last action completed a clause."""
    if clause.kind == "go-to":
        return matches_thing(view.front, clause.thing)
    if clause.kind == "open":
        opened = view.last == TOGGLE and view.front[2] == OPEN
        return opened and matches_thing(view.front, clause.thing)
    if clause.kind == "pick-up":
        return view.last == PICKUP and matches_thing(view.carrying, clause.thing)
    return view.last == DROP and matches_thing(view.front, clause.thing)


def _next_move(view: View, clause: Clause) -> int | None:
    """Return the next action towards a clause; None if nothing of it is in view."""
    holds = view.carrying[0] != EMPTY
    if clause.next_to is not None and matches_thing(view.carrying, clause.thing):
        return _put_next_to(view, clause.next_to)
    if holds and clause.kind in ("pick-up", "put-next"):
        return DROP if view.front[0] == EMPTY else None
    move = plan_step(
        view, {cell for cell, content in view.cells.items() if matches_thing(content, clause.thing)}
    )
    if move != FORWARD or not matches_thing(view.front, clause.thing):
        return move
    if clause.kind == "open":
        return TOGGLE
    return FORWARD if clause.kind == "go-to" else PICKUP


def _put_next_to(view: View, beside: Thing) -> int | None:
    """Return the next action to drop what is carried on an empty cell next to a thing."""
    free = free_cells(
        view, {cell for cell, content in view.cells.items() if matches_thing(content, beside)}
    )
    return DROP if FRONT in free else plan_step(view, free)


def neighbours(place: Cell) -> list[Cell]:
    """Return the four adjacent cells."""
    x, y = place
    return [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]


def free_cells(view: View, places: set[Cell]) -> set[Cell]:
    """Return the empty cells adjacent to any of these places, without the player's own."""
    cells = {cell for place in places for cell in neighbours(place)} - {PLAYER_CELL}
    return {cell for cell in cells if view.cells.get(cell, (0,))[0] == EMPTY}


def plan_step(view: View, goals: set[Cell]) -> int | None:
    """Return the first action of a shortest path to face one of `goals`; FORWARD if it is faced.

    None if no path over cells in view leads there.
    """
    start = (*PLAYER_CELL, 0)
    queue: deque[tuple[tuple[int, int, int], int]] = deque([(start, FORWARD)])
    visited = {start}
    while queue:
        (x, y, heading), first_move = queue.popleft()
        right, down = _AHEAD[heading]
        ahead = (x + right, y + down)
        if ahead in goals:
            return first_move
        ways = [(LEFT, (x, y, (heading - 1) % 4)), (RIGHT, (x, y, (heading + 1) % 4))]
        if is_passable(view.cells.get(ahead)):
            ways.insert(0, (FORWARD, (*ahead, heading)))
        for move, pose in ways:
            if pose not in visited:
                visited.add(pose)
                queue.append((pose, move if (x, y, heading) == start else first_move))
    return None


def is_passable(content: tuple[int, ...] | None) -> bool:
    """Return True if a player can step onto a cell; None is out of view."""
    if content is None:
        return False
    return content[0] in (EMPTY, FLOOR) or (content[0] == DOOR and content[2] == OPEN)


def _wander(view: View) -> list[float]:
    """Return weights that favour going ahead, through doors, and otherwise turning."""
    weights = [0.0] * len(MOVES)
    weights[LEFT] = weights[RIGHT] = 1.0
    if is_passable(view.front):
        weights[FORWARD] = 6.0
    elif view.front[0] == DOOR and view.front[2] == CLOSED:
        weights[TOGGLE] = 6.0
    return weights
