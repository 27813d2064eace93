"""Solver and shortcut policies of BabyAI's categories.

A policy is a function of `History`, which holds a map of everything the player has seen.
`PolicyAgent` plays it like any other agent. `play_from` plays it from a step of a recording on, to
find out whether an instruction can be followed from observations alone.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Agent, Draws, Instructions, Memory, PolicyOutput

from .room_frames import (
    DIRECTIONS,
    DOMAIN,
    VIEW,
    Frame,
    Place,
    Thing,
    capture_frame,
    neighbour,
    view_offsets,
)

if TYPE_CHECKING:
    from sts_babyai.environment import BabyAI

LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE, DONE = range(7)
TYPES = {"door": 4, "key": 5, "ball": 6, "box": 7}
COLOURS = {"red": 0, "green": 1, "blue": 2, "purple": 3, "yellow": 4, "grey": 5}
OPEN, CLOSED, LOCKED = range(3)
"""Codes of minigrid."""
_EMPTY, _FLOOR = 1, 3
_MAP_RADIUS = 24
"""Cells from the centre of the map to its edge; the largest level is 22 cells wide."""
ALREADY_FACED = -1
"""Returned instead of an action if the player already faces a goal."""
_NAME = re.compile(rf"({'|'.join(COLOURS)}) ({'|'.join(TYPES)})")


class History(NamedTuple):
    """Everything one player has seen."""

    map: NDArray[np.int8]  # int8[X, Y, 3], type, colour and state of each cell; type 0 is unknown
    me: Place  # the player's cell on the map
    facing: int  # index of DIRECTIONS
    # type and colour of the object faced at each frame since the instruction came
    faced: list[tuple[int, int]]
    held: list[tuple[int, int]]  # type and colour of the object carried, at the same frames
    instruction: str  # the current instruction
    view_when_asked: NDArray[np.int8]  # int8[7, 7, 3], the observation when the instruction came
    pose_when_asked: tuple[Place, int]  # the player's cell and direction then

    @property
    def front(self) -> Place:
        """Cell that the player faces."""
        return neighbour(self.me, self.facing)

    @property
    def is_carrying(self) -> bool:
        """True if the player carries something."""
        return self.held[-1][0] != _EMPTY

    def find_thing(self, thing: Thing) -> list[Place]:
        """Return the cells where such things were last seen."""
        why_invalid = self.map[..., :2] == encode_thing(thing)
        return [(int(x), int(y)) for x, y in np.argwhere(why_invalid.all(-1))]

    def find_types(self, *types: str) -> list[Place]:
        """Return the cells where things of these types were last seen."""
        why_invalid = np.isin(self.map[..., 0], [TYPES[name] for name in types])
        return [(int(x), int(y)) for x, y in np.argwhere(why_invalid)]

    def find_on_side(self, side: str) -> list[Place]:
        """Return the cells of things that lay "left" or "right" when the instruction came."""
        across = np.arange(VIEW)[:, None] - VIEW // 2
        types = [TYPES[name] for name in ("ball", "box", "key")]
        why_invalid = np.isin(self.view_when_asked[..., 0], types) & (
            (across < 0) if side == "left" else across > 0
        )
        me, facing = self.pose_when_asked
        return [(int(x), int(y)) for x, y in (view_offsets(facing) + me)[why_invalid]]

    def empty_neighbours(self, places: Collection[Place]) -> list[Place]:
        """Return the empty cells next to these places, without the player's own."""
        cells = {neighbour(place, facing) for place in places for facing in range(4)}
        return sorted(c for c in cells if self.map[c][0] == _EMPTY and c != self.me)


Policy = Callable[[History], int]
"""Maps a history to an action index."""


def encode_thing(thing: Thing) -> tuple[int, int]:
    """Return minigrid's codes of a thing's type and colour."""
    return TYPES[thing.type], COLOURS[thing.colour]


def parse_things(text: str) -> list[Thing]:
    """Return the things that an instruction names by colour and type, in order."""
    return [Thing(*match.groups()) for match in _NAME.finditer(text.lower())]


def plan_step(history: History, goals: Collection[Place]) -> int | None:
    """Return the first action of a shortest path to face one of `goals`.

    ALREADY_FACED if the player faces one; None if no path is known. The path may open closed doors.
    """
    start, goal_cells = (*history.me, history.facing), set(goals)
    queue, visited = deque([(start, ALREADY_FACED)]), {start}
    while queue:
        (x, y, facing), first_move = queue.popleft()
        ahead = neighbour((x, y), facing)
        if ahead in goal_cells:
            return (
                TOGGLE if first_move == FORWARD and _is_shut(history, history.front) else first_move
            )
        ways = [(LEFT, (x, y, (facing - 1) % 4)), (RIGHT, (x, y, (facing + 1) % 4))]
        if _is_passable(history, ahead):
            ways.insert(0, (FORWARD, (*ahead, facing)))
        for move, pose in ways:
            if pose not in visited:
                visited.add(pose)
                queue.append((pose, move if first_move == ALREADY_FACED else first_move))
    return None


def _is_shut(history: History, place: Place) -> bool:
    kind, _, state = history.map[place]
    return bool(kind == TYPES["door"] and state != OPEN)


def _is_passable(history: History, place: Place) -> bool:
    kind, _, state = history.map[place]
    return bool(kind in (_EMPTY, _FLOOR) or (kind == TYPES["door"] and state != LOCKED))


def go_to(history: History, goals: Collection[Place], action: int = DONE) -> int:
    """Return the next action towards `goals`, and `there` once one of them is faced.

    Turns left if no path is known, to see more.
    """
    move = plan_step(history, goals)
    return LEFT if move is None else action if move == ALREADY_FACED else move


def pick_up(history: History, goals: Collection[Place]) -> int:
    """Return the next action to pick up a thing at one of `goals`, or "done" if it holds one."""
    return DONE if history.is_carrying else go_to(history, goals, PICKUP)


def go_to_named(history: History) -> int:
    """Return the next action to face the first thing that the instruction names."""
    return go_to(history, history.find_thing(parse_things(history.instruction)[0]))


def pick_up_named(history: History) -> int:
    """Return the next action to pick up the first thing that the instruction names."""
    return pick_up(history, history.find_thing(parse_things(history.instruction)[0]))


class PolicyAgent(Agent):
    """Agent that plays a policy once it has an instruction, and does nothing before."""

    name = "playing"
    domain = DOMAIN
    deterministic = True
    version = "1"

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def initial_state(self, batch: int, players: int) -> Memory:
        """Return an empty map."""
        side = 2 * _MAP_RADIUS + 1
        return {
            "map": np.zeros((batch, side, side, 3), np.int8),
            "me": np.full((batch, 2), _MAP_RADIUS, np.int64),
            "faced": np.zeros((batch, 0, 2), np.int64),
            "held": np.zeros((batch, 0, 2), np.int64),
            "asked": np.zeros(batch, np.int64),
            "view": np.zeros((batch, VIEW, VIEW, 3), np.int8),
            "pose": np.zeros((batch, 3), np.int64),
        }

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the policy's action, and the map with the current view added."""
        after = {name: values.copy() for name, values in memory.items()}
        facing = observation.values["direction"][:, 0].tolist()
        fronts = np.zeros((len(facing), 1, 2), np.int64)
        for b, way in enumerate(facing):
            last, image = int(observation.last_move[b, 0]), observation.values["image"][b, 0]
            after["me"][b] = _next_position(after["map"][b], after["me"][b], way, last)
            fronts[b, 0] = _draw_view(after["map"][b], after["me"][b], way, image)
        held = observation.values["carrying"][:, 0].astype(np.int64)
        after["faced"] = np.concatenate((memory["faced"], fronts), 1)
        after["held"] = np.concatenate((memory["held"], held[:, None]), 1)
        actions = np.full((len(facing), 1), DONE)
        for b, way in enumerate(facing):
            text = instructions.texts[instructions.ids[b]]
            after["asked"][b] += not text
            if not text or len(memory["faced"][b]) == after["asked"][b]:  # up to the instruction
                after["view"][b] = observation.values["image"][b, 0]
                after["pose"][b] = (*after["me"][b], way)
            if text:
                actions[b, 0] = self.policy(_make_history(after, b, way, text))
        return PolicyOutput(actions), after


def _next_position(map: NDArray[np.int8], me: NDArray[np.int64], facing: int, last: int) -> Any:
    """Return the position after the last action; stepping ahead works only onto a free cell."""
    ahead = me + DIRECTIONS[facing]
    kind, _, state = map[tuple(ahead)]
    free = kind in (_EMPTY, _FLOOR) or (kind == TYPES["door"] and state == OPEN)
    return ahead if last == FORWARD and free else me


def _draw_view(
    map: NDArray[np.int8], me: NDArray[np.int64], facing: int, image: NDArray[np.int8]
) -> NDArray[np.int8]:
    """Draw the current view into a map; return type and colour of the object faced."""
    cells, in_view = view_offsets(facing) + me, image[..., 0] != 0
    own_cell = map[tuple(me)].copy()  # the image shows the carried object there
    xs, ys = cells[in_view].T
    map[xs, ys] = image[in_view]
    map[tuple(me)] = own_cell if own_cell[0] else (_EMPTY, 0, 0)
    faced: NDArray[np.int8] = image[VIEW // 2, VIEW - 2, :2]
    return faced


def _make_history(memory: Memory, b: int, facing: int, instruction: str) -> History:
    since = int(memory["asked"][b])
    x, y = memory["me"][b].tolist()
    faced, held = (
        [(int(a), int(c)) for a, c in memory[name][b, since:]] for name in ("faced", "held")
    )
    left, up, way = memory["pose"][b].tolist()
    return History(
        *(memory["map"][b], (x, y), facing, faced, held, instruction),
        *(memory["view"][b], ((left, up), way)),
    )


class LevelState(NamedTuple):
    """Step of a recording of a level, given by the actions that lead there."""

    level: str
    seed: int
    moves_made: str


def play_from(
    state: LevelState, lengths: tuple[int, int], text: str, policy: Policy
) -> Iterator[Frame]:
    """Yield the frames from a step on if a policy is given the instruction `text` there."""
    from sts_babyai.environment import BabyAI

    (context, horizon), agent = lengths, PolicyAgent(policy)
    world, first = BabyAI(), len(state.moves_made) - context
    world.reset(state.seed, state.level, open=True)
    memory, last = agent.initial_state(1, 1), -1
    silent, instructed = (Instructions(("", text), np.array([n], np.int32)) for n in (0, 1))
    for n in range(len(state.moves_made) + horizon):
        is_agent = n >= len(state.moves_made)
        move = DONE if is_agent else int(state.moves_made[n])
        if n >= first:
            choice, memory = agent.act(
                _observe(world, last),
                instructed if is_agent else silent,
                memory,
                np.zeros((1, 1, 0)),
            )
            move = int(choice.actions[0, 0]) if is_agent else move
        if is_agent:
            yield capture_frame(world)
        world.step((move,))
        last = move if n >= first else -1
    yield capture_frame(world)


class _Observation(NamedTuple):
    values: dict[str, NDArray[Any]]
    last_move: NDArray[np.int64]


def _observe(world: BabyAI, last: int) -> _Observation:
    values = {name: np.asarray(value)[None, None] for name, value in world.observe(0).items()}
    return _Observation(values, np.array([[last]]))


def make_nearest_policy(*types: str, then: int = PICKUP) -> Policy:
    """Return a policy that goes to the nearest thing of some types, whatever the instruction."""

    def policy(history: History) -> int:
        return DONE if history.is_carrying else go_to(history, history.find_types(*types), then)

    return policy


class RewardSeeker(PolicyAgent):
    """Baseline that ignores instructions and picks up or opens the nearest thing."""

    name = "heedless"

    def __init__(self) -> None:
        super().__init__(_touch)


def _touch(history: History) -> int:
    front = int(history.map[history.front][0])
    then = TOGGLE if front == TYPES["door"] else PICKUP
    return make_nearest_policy(*TYPES, then=then)(history)
