"""Solver and shortcut policies of Λ*'s categories.

A policy is a function of `History`. `make_mover` and `make_speaker` turn it into an agent.
`simulate` plays it without an environment, to find out whether an instruction can be followed from
observations alone. Good's and Evil's paths do not depend on players, so both give the same result.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Agent, Draws, Instructions, Memory, PolicyOutput
from sts_lambda_star import torus
from sts_lambda_star.domain import Observation
from sts_lambda_star.state import MOVES, TOKENS

from . import motion_prediction
from .motion_prediction import HIDDEN as HIDDEN
from .tracks import DOMAIN, EVIL, FIRST_PLAYER, GOOD, SIGHT, Cells, Grid, Track

STAY = torus.STAY
_AROUND = (2 * SIGHT + 1) ** 2


class History(NamedTuple):
    """Everything one player has seen since the start of the context, one value per frame."""

    size: Grid  # the grid
    asked_frame: int  # the frame at which the instruction came
    me: list[int]  # the player's cell
    good: list[int]  # Good's cell, HIDDEN while out of sight
    evil: list[int]  # Evil's cell, HIDDEN while out of sight
    others: list[list[int]]  # sorted cells of other players in sight, repeated for each player
    instruction: str = ""  # the current instruction; "" in a simulation


MovePolicy = Callable[[History], int]
"""Maps a history to an index of MOVES."""
SpeechPolicy = Callable[[History], str]
"""Maps a history to one of TOKENS."""


class PolicyAgent(Agent):
    """Agent that plays a policy once it has an instruction, and stands still before."""

    name = "playing"
    domain = DOMAIN
    deterministic = True
    version = "1"

    def __init__(self, move: MovePolicy | None = None, say: SpeechPolicy | None = None) -> None:
        """Set the policies; None stands still or is silent."""
        self.move, self.say = move, say

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the policies' moves and utterances, and the extended history."""
        memory = _extend_memory(memory, observation, instructions)
        shape = observation.cell.shape
        actions, utterances = np.full(shape, STAY, np.int64), np.zeros(shape, np.int64)
        for b, r in np.ndindex(shape):
            if memory["asked"][b] < 0:
                continue
            text = instructions.texts[instructions.ids[b]]
            past = _make_history(memory, observation, b, r)._replace(instruction=text)
            if self.move is not None:
                actions[b, r] = self.move(past)
            if self.say is not None:
                utterances[b, r] = TOKENS.index(self.say(past))
        return PolicyOutput(np.eye(len(MOVES))[actions], np.eye(len(TOKENS))[utterances]), memory


def make_mover(policy: MovePolicy) -> PolicyAgent:
    """Return an agent that moves by a policy."""
    return PolicyAgent(move=policy)


def make_speaker(policy: SpeechPolicy) -> PolicyAgent:
    """Return an agent that stands still and speaks by a policy."""
    return PolicyAgent(say=policy)


def _extend_memory(memory: Memory, observation: Observation, instructions: Instructions) -> Memory:
    """Return the agent state after one more frame; the third axis of growing arrays is frames."""
    cells = observation.surroundings
    now = {
        "me": observation.cell,
        "good": _visible_cell(observation.good, cells),
        "evil": _visible_cell(observation.evil, cells),
        "others": observation.team.astype(np.int64) + observation.others,
    }
    frames = {
        name: np.concatenate((memory[name], value[:, :, None]), 2) if memory else value[:, :, None]
        for name, value in now.items()
    }
    texts = np.array([text != "" for text in instructions.texts])[instructions.ids]
    before = memory["asked"] if memory else np.full(len(texts), -1)
    frame = frames["me"].shape[2] - 1
    return {**frames, "asked": np.where((before < 0) & texts, frame, before)}


def _visible_cell(flags: NDArray[np.bool_], cells: Cells) -> Cells:
    place: Cells = np.where(flags, cells, HIDDEN).max(-1)
    return place


def _make_history(memory: Memory, observation: Observation, b: int, r: int) -> History:
    size = Grid(int(observation.height[b]), int(observation.width[b]))
    me = memory["me"][b, r]
    around = torus.neighbour(me[:, None], np.arange(_AROUND), torus.side_length(_AROUND), *size)
    others = [
        sorted(np.repeat(cells, counts).tolist())
        for cells, counts in zip(around, memory["others"][b, r], strict=True)
    ]
    good, evil = memory["good"][b, r].tolist(), memory["evil"][b, r].tolist()
    return History(size, int(memory["asked"][b]), me.tolist(), good, evil, others)


def history_at(track: Track, step: int, context: int) -> History:
    """Return what a player has seen when it is asked at `step`."""
    frames = slice(step - context, step + 1)
    good, evil = (
        np.where(distance[frames] <= SIGHT, cells[frames], HIDDEN).tolist()
        for cells, distance in ((track.good, track.to_good), (track.evil, track.to_evil))
    )
    me = track.me[frames].tolist()
    people = np.delete(track.scene[frames, FIRST_PLAYER:], track.player, 1)
    others = [
        _cells_within(cells, cell, track.size) for cells, cell in zip(people, me, strict=True)
    ]
    return History(track.size, context, me, good, evil, others)


def _cells_within(cells: Cells, me: int, size: Grid) -> list[int]:
    near: list[int] = motion_prediction.cells_within(cells, me, *size, SIGHT).tolist()
    return near


def simulate(
    track: Track, step: int, context: int, horizon: int, policy: MovePolicy, partner: str
) -> Track:
    """Return the track of a player that moves by a policy from `step` on.

    The other players stand still, or repeat the recording if `partner` is "replay".
    """
    scene = track.scene[step : step + horizon + 1].copy()
    if partner != "replay":
        scene[1:, FIRST_PLAYER:] = scene[0, FIRST_PLAYER:]
    history, size = history_at(track, step, context), track.size
    people = np.delete(scene[:, FIRST_PLAYER:], track.player, 1)
    for now, other_cells in zip(scene[1:], people[1:], strict=True):
        me = int(torus.move_cell(history.me[-1], policy(history), *size))
        now[FIRST_PLAYER + track.player] = me
        history.me.append(me)
        for index, cells in ((GOOD, history.good), (EVIL, history.evil)):
            cells += _cells_within(now[index : index + 1], me, size) or [HIDDEN]
        history.others.append(_cells_within(other_cells, me, size))
    return Track(scene, size, track.player)


def find_last_sighting(cells: list[int]) -> tuple[int, int]:
    """Return where something was last in sight, and how many frames ago; HIDDEN if never."""
    for frames, cell in enumerate(reversed(cells)):
        if cell != HIDDEN:
            return cell, frames
    return HIDDEN, len(cells)


def move_towards(history: History, cell: int) -> int:
    """Return the first move of a shortest path from the player's cell."""
    return int(torus.first_move(history.me[-1], cell, *history.size, torus.TIE_BACK))


def chase_good(history: History) -> int:
    """Return the move towards where Good was last in sight."""
    return move_towards(history, find_last_sighting(history.good)[0])


def chase_evil(history: History) -> int:
    """Return the move towards where Evil was last in sight."""
    return move_towards(history, find_last_sighting(history.evil)[0])


def moves_between(cells: list[int], size: Grid) -> list[int]:
    """Return the moves between frames, HIDDEN if either frame was not seen."""
    actions: list[int] = motion_prediction.moves_between(np.array(cells, np.int64), *size).tolist()
    return actions


def find_period(actions: list[int]) -> list[int] | None:
    """Return the moves of the shortest period that was seen twice, starting with the next one.

    None if there is no period, if it is a single repeated move, or if a longer period that was seen
    twice predicts a different next move.
    """
    length = motion_prediction.shortest_period(np.array(actions, np.int64))
    return actions[-length:] if length else None


def good_period(track: Track) -> list[int] | None:
    """Return the period of Good's moves while in sight, as `find_period`."""
    cells = np.where(track.to_good <= SIGHT, track.good, HIDDEN)
    return find_period(moves_between(cells.tolist(), track.size))


class DistanceForecast:
    """Predicted distance to something after each of MOVES.

    Every array is float64[9].
    """

    def __init__(self, history: History, cells: list[int], most: int = 2) -> None:
        """Predict from its cell in each frame; distances up to `most` get a probability each."""
        chance = motion_prediction.cell_probabilities(
            np.array(cells), np.array(history.me), *history.size
        )
        self._near = motion_prediction.distance_probabilities(
            chance, history.me[-1], *history.size, most
        )

    def chance_within(self, distance: int) -> NDArray[np.float64]:
        """Return the probability that the distance is at most `distance`."""
        near: NDArray[np.float64] = self._near[distance]
        return near

    @property
    def mean_distance(self) -> NDArray[np.float64]:
        """Expected distance."""
        mean: NDArray[np.float64] = self._near[-1]
        return mean


def cells_after_moves(history: History) -> Cells:
    """Return the cells that each of MOVES leads to."""
    cells: Cells = torus.move_cell(history.me[-1], np.arange(len(MOVES)), *history.size)
    return cells
