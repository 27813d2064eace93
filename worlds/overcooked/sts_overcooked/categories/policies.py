"""Solver and shortcut policies of Overcooked's categories.

A policy is a function of `History`. `PolicyAgent` plays it like any other agent. `play_from` plays
it alongside the recorded person from a step on, to find out whether an instruction can be followed
from observations alone.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sts.plugin import Agent, Draws, Episode, Instructions, Memory, PolicyOutput
from sts_overcooked.agents.greedy import Kitchen, read_kitchen
from sts_overcooked.agents.routes import Cell
from sts_overcooked.constants import FULL, STAY

from .snapshots import DOMAIN, Snapshot, capture_snapshot, replay_snapshots

FLOOR, COUNTER, ONIONS, _, DISHES, POT, WINDOW = range(7)
NOTHING, ONION, _, DISH, SOUP = range(5)
"""Codes of tiles and things in observations."""
_OBSERVED = ("tiles", "things", "filled", "cooking", "me", "partner")


class History(NamedTuple):
    """Everything one cook has seen since the start of the context."""

    # the cook's observations, as `Overcooked.observe` returns them; the last is current
    frames: list[dict[str, Any]]
    asked_frame: int  # the frame at which the instruction came
    instruction: str  # the current instruction

    @property
    def kitchen(self) -> Kitchen:
        """Current kitchen, with the routes through it."""
        return read_kitchen(self.frames[-1])

    @property
    def held(self) -> int:
        """Code of the thing held, from NOTHING to SOUP."""
        return int(self.frames[-1]["me"][3])


Policy = Callable[[History], int]
"""Maps a history to an action index."""


def go_to(kitchen: Kitchen, cells: Iterable[Cell]) -> int:
    """Return the first action towards the nearest of some cells, or interact with it; else stay."""
    way = kitchen.nearest_route(cells)
    return STAY if way is None else way.move


def open_pots(kitchen: Kitchen) -> list[Cell]:
    """Return the pots that have room for an onion and are not cooking."""
    pots = kitchen.find_cells(POT)
    return [pot for pot in pots if kitchen.filled[pot] < FULL and kitchen.cooking[pot] < 0]


def bring_onion(history: History, pots: Iterable[Cell]) -> int:
    """Return the next action to bring an onion to the nearest of some pots."""
    kitchen = history.kitchen
    if history.held == ONION:
        return go_to(kitchen, pots)
    if history.held != NOTHING:
        return put_down(kitchen)
    stacks = kitchen.find_cells(ONIONS)
    return go_to(
        kitchen, stacks if kitchen.nearest_route(stacks) else kitchen.find_cells(COUNTER, ONION)
    )


def put_down(kitchen: Kitchen) -> int:
    """Return the next action to put the held thing on the nearest empty counter."""
    return go_to(kitchen, kitchen.find_cells(COUNTER, NOTHING))


def deliver(history: History) -> int:
    """Return the next action to bring the held soup to the serving window; else stay."""
    kitchen = history.kitchen
    return go_to(kitchen, kitchen.find_cells(WINDOW)) if history.held == SOUP else STAY


class PolicyAgent(Agent):
    """Agent that plays a policy once it has an instruction, and stands still before."""

    name = "playing"
    domain = DOMAIN
    deterministic = True
    version = "1"

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the policy's action, and the extended history."""
        shape = observation.last_move.shape
        now = {name: observation.values[name][:, :, None] for name in _OBSERVED}
        grown = {
            n: np.concatenate((memory[n], value), 2) if memory else value
            for n, value in now.items()
        }
        silent = np.array([not text for text in instructions.texts])[instructions.ids]
        asked_frame = (memory["asked"] if memory else np.zeros(shape[0], np.int64)) + silent
        actions = np.full(shape, STAY)
        for b, r in np.ndindex(shape):
            if not silent[b]:
                count = grown["me"].shape[2]
                frames = [{n: grown[n][b, r, t] for n in _OBSERVED} for t in range(count)]
                text = instructions.texts[instructions.ids[b]]
                actions[b, r] = self.policy(History(frames, int(asked_frame[b]), text))
        return PolicyOutput(actions), {**grown, "asked": asked_frame}


def play_from(
    start: tuple[Episode, int, int], lengths: tuple[int, int], text: str, policy: Policy
) -> Iterator[Snapshot]:
    """Yield the snapshots from a step on if a policy plays one cook alongside the recording."""
    from sts_overcooked.environment import Overcooked

    (episode, step, player), (context, horizon) = start, lengths
    world = Overcooked()
    world.restore(replay_snapshots(episode)[step - context].state)
    frames = []
    for t in range(step - context, step + horizon):
        frames.append(dict(world.observe(player)))
        actions = [int(move) for move in episode.actions[t]]
        if t >= step:
            yield capture_snapshot(world)
            actions[player] = policy(History(frames, context, text))
        world.step(actions)
    yield capture_snapshot(world)
