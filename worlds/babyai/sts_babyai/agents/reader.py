"""Agents that follow instructions in many wordings, and their ablations.

They keep a map of what they saw, rotated so that they look up, and walk the shortest path on it.
They search for what they have not seen, through doors if necessary.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Agent, Draws, Instructions, Memory, PolicyOutput
from sts_babyai.agents import missions
from sts_babyai.agents.instructions import parse_steps
from sts_babyai.agents.missions import Clause, Thing
from sts_babyai.agents.seeker import (
    CLOSED,
    DOOR,
    DROP,
    EMPTY,
    FORWARD,
    FRONT,
    LEFT,
    OPEN,
    PICKUP,
    PLAYER_CELL,
    RIGHT,
    THINGS,
    TOGGLE,
    Cell,
    View,
    free_cells,
    is_passable,
    matches_thing,
    neighbours,
    plan_step,
)
from sts_babyai.environment import DONE, MOVES
from sts_babyai.view import VIEW_SIZE

_MAP_RADIUS = 24
_CORNER = (_MAP_RADIUS - PLAYER_CELL[0], _MAP_RADIUS - PLAYER_CELL[1])
"""Corner of the view on the map, whose centre is the player."""
_MARK = 3
_STEPS_FACING = 2
"""Consecutive steps of facing a thing that count as having gone to it."""


class Reader(Agent):
    """Agent that follows its instruction, then does nothing."""

    name = "babyai-reader"
    version = "1"
    domain: ClassVar[str] = "babyai"
    wordings = missions.WORDINGS
    deterministic = True
    reach: ClassVar[int] = VIEW_SIZE  # how many cells away it can see
    remembers: ClassVar[bool] = True  # whether what is out of view stays on its map
    colours: ClassVar[bool] = True  # whether it distinguishes colours
    noise: ClassVar[float] = 0.0  # share of random actions

    def initial_state(self, batch: int, players: int) -> Memory:
        """Return an empty map with no step done."""
        side = 2 * _MAP_RADIUS + 1
        return {
            "map": np.zeros((batch, side, side, 4), np.int8),
            "told": np.zeros(batch, np.int64),
            "done": np.zeros(batch, np.int64),
            "stayed": np.zeros(batch, np.int64),
        }

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the next action, mixed with a share of uniform noise."""
        parsed = [parse_steps(text) for text in instructions.texts]
        if not self.colours:
            parsed = [[_without_colours(step) for step in steps] for steps in parsed]
        after = {name: values.copy() for name, values in memory.items()}
        images = observation.values["image"][:, 0]
        weights = np.full((len(images), 1, len(MOVES)), self.noise / len(MOVES))
        for b, image in enumerate(images):
            last, text_id = int(observation.last_move[b, 0]), int(instructions.ids[b])
            map = _shift_map(after["map"][b], last) if self.remembers else after["map"][b] * 0
            after["map"][b] = self._draw_view(map, image)
            if text_id != after["told"][b]:
                after["told"][b], after["done"][b], after["stayed"][b] = text_id, 0, 0
                _mark_side(after["map"][b], parsed[text_id])
            carrying = tuple(observation.values["carrying"][b, 0].tolist())
            view = View(_cells_in_view(after["map"][b]), carrying, last)
            move, after["done"][b], after["stayed"][b] = _next_move(
                view, parsed[text_id], int(after["done"][b]), int(after["stayed"][b])
            )
            weights[b, 0, move] += 1 - self.noise
        return PolicyOutput(weights), after

    def _draw_view(self, map: NDArray[np.int8], image: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return a map with the current view drawn in."""
        xs, ys = np.nonzero(image[..., 0])
        near = np.maximum(abs(xs - PLAYER_CELL[0]), PLAYER_CELL[1] - ys) <= self.reach
        xs, ys = xs[near], ys[near]
        own_cell = map[_MAP_RADIUS, _MAP_RADIUS].copy()
        map[xs + _CORNER[0], ys + _CORNER[1], :_MARK] = image[xs, ys]
        # The image shows the carried object in the player's own cell.
        map[_MAP_RADIUS, _MAP_RADIUS] = own_cell if own_cell[0] else (EMPTY, 0, 0, 0)
        return map


class ReaderWithoutMemory(Reader):
    """Reader that forgets what is out of view."""

    name = "babyai-reader-without-memory"
    remembers = False


class NearReader(Reader):
    """Reader that sees only two cells far."""

    name = "babyai-reader-near"
    reach = 2


class ColourBlindReader(Reader):
    """Reader that ignores colours in instructions."""

    name = "babyai-reader-half"
    colours = False


class NoisyReader30(Reader):
    """Reader with three random actions in ten."""

    name = "babyai-reader-noisy-30"
    deterministic = False
    noise = 0.3


class NoisyReader60(Reader):
    """Reader with six random actions in ten."""

    name = "babyai-reader-noisy-60"
    deterministic = False
    noise = 0.6


def _without_colours(step: Clause) -> Clause:
    beside = step.next_to and Thing("", step.next_to.type)
    return Clause(step.kind, Thing("", step.thing.type), beside)


def _shift_map(map: NDArray[np.int8], last: int) -> NDArray[np.int8]:
    """Return a map, rotated or shifted by the last action."""
    if last in (LEFT, RIGHT):
        return np.rot90(map, 1 if last == LEFT else -1).copy()
    if last == FORWARD and is_passable(tuple(map[_MAP_RADIUS, _MAP_RADIUS - 1])):
        return np.roll(map, 1, axis=1)
    return map.copy()


def _mark_side(map: NDArray[np.int8], steps: list[Clause]) -> None:
    """Mark the cells in view on the requested side."""
    kinds = {step.kind for step in steps}
    columns = (
        slice(_CORNER[0], _MAP_RADIUS)
        if "left" in kinds
        else slice(_MAP_RADIUS + 1, _MAP_RADIUS + 1 + PLAYER_CELL[0])
    )
    map[..., _MARK] = 0
    if kinds & {"left", "right"}:
        map[columns, _CORNER[1] : _MAP_RADIUS + 1, _MARK] = 1


def _cells_in_view(map: NDArray[np.int8]) -> dict[Cell, tuple[int, ...]]:
    """Return the cells of a map by their place in the view, extended beyond its edges."""
    xs, ys = np.nonzero(map[..., 0])
    places = zip((xs - _CORNER[0]).tolist(), (ys - _CORNER[1]).tolist(), strict=True)
    return {place: tuple(cell) for place, cell in zip(places, map[xs, ys].tolist(), strict=True)}


def _next_move(view: View, steps: list[Clause], done: int, stayed: int) -> tuple[int, int, int]:
    """Return the next action, the number of steps done, and how long the current one has lasted."""
    if done < len(steps):
        over, stayed = _check_done(view, steps[done], stayed)
        done, stayed = (done + 1, 0) if over else (done, stayed)
    if done >= len(steps):
        return DONE, done, stayed
    step = steps[done]
    if step.kind == "through" and stayed:
        return FORWARD, done, stayed
    move = _move_for_step(view, step)
    if step.kind == "through" and view.front[0] == DOOR and move == FORWARD:
        stayed = int(matches_thing(view.front, step.thing))
    return _explore(view) if move is None else move, done, stayed


def _check_done(view: View, step: Clause, stayed: int) -> tuple[bool, int]:
    """Return whether the last action completed a step, and how long the step has lasted."""
    if step.kind == "go-to":
        stayed = stayed + 1 if matches_thing(view.front, step.thing) else 0
        return stayed >= _STEPS_FACING, stayed
    if step.kind == "open":
        opened = view.last == TOGGLE and view.front[2] == OPEN
        return opened and matches_thing(view.front, step.thing), 0
    if step.kind == "through":
        return stayed > 1, stayed * 2
    if step.kind == "put-next":
        return view.last == DROP and view.front[0] in THINGS, 0
    is_carrying = view.carrying[0] != EMPTY
    return is_carrying and (step.kind != "pick-up" or matches_thing(view.carrying, step.thing)), 0


def _move_for_step(view: View, step: Clause) -> int | None:
    """Return the next action towards a step; None if nothing suitable is known."""
    if step.kind == "put-next" and step.next_to and matches_thing(view.carrying, step.thing):
        return _face_or_act(view, free_cells(view, _find_things(view, step.next_to)), DROP)
    if step.kind in ("pick-up", "put-next") and view.carrying[0] != EMPTY:
        return DROP if view.front[0] == EMPTY else None
    places = _find_things(view, step.thing)
    if step.kind == "go-to":
        return _face_or_act(view, places, DONE)
    if step.kind in ("open", "through"):
        shut = view.front[0] == DOOR and view.front[2] != OPEN
        return _face_or_act(view, places, TOGGLE if step.kind == "open" or shut else FORWARD)
    if step.kind == "other":
        type = Thing("", step.thing.type)
        places = _find_things(view, type) - (places if step.thing.colour else set())
    elif step.kind == "neighbour":
        near = {cell for place in places for cell in neighbours(place)}
        places = near & _find_things(view, Thing("", ""))
    elif step.kind in ("left", "right"):
        places = {cell for cell in _find_things(view, Thing("", "")) if view.cells[cell][_MARK]}
    return _face_or_act(view, places, PICKUP)


def _find_things(view: View, thing: Thing) -> set[Cell]:
    """Return the cells of such things; doors only if the type is given."""
    cells = {cell for cell, content in view.cells.items() if matches_thing(content, thing)}
    return {cell for cell in cells if thing.type or view.cells[cell][0] != DOOR}


def _face_or_act(view: View, goals: set[Cell], then: int) -> int | None:
    """Return the first action of a path to face one of `goals`, or `then` if it is faced."""
    return then if FRONT in goals else plan_step(view, goals)


def _explore(view: View) -> int:
    """Return an action towards an unseen cell or a closed door; else turn left."""
    edge = {
        cell
        for place, content in view.cells.items()
        if is_passable(content)
        for cell in neighbours(place)
    }
    move = _face_or_act(view, {cell for cell in edge if cell not in view.cells}, LEFT)
    if move is not None:
        return move
    shut = {c for c, content in view.cells.items() if content[0] == DOOR and content[2] == CLOSED}
    move = _face_or_act(view, shut, TOGGLE)
    return LEFT if move is None else move
