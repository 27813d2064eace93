"""Policies of one cook by what it has seen: the probes and shortcuts of Overcooked's categories.

A policy is a function of `Past`. It is played by `Playing`, in every kitchen as other agents are,
and by `attempted` from a moment of a recording on, beside the recorded person, for categories that
ask only where somebody who sees what a cook sees does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sts.agents import Agent, Choice
from sts.agents.protocol import Draws, Instructions, Memory
from sts.episodes import Episode
from sts.worlds.overcooked.agents.greedy import Kitchen, read_kitchen
from sts.worlds.overcooked.agents.ways import Cell
from sts.worlds.overcooked.basics import FULL, STAY

from .moments import DOMAIN, Snapshot, capture_snapshot

FLOOR, COUNTER, ONIONS, _, DISHES, POT, WINDOW = range(7)
NOTHING, ONION, _, DISH, SOUP = range(5)
"""Places and things as a cook observes them."""
_OBSERVED = ("tiles", "things", "filled", "cooking", "me", "partner")


class History(NamedTuple):
    """What one cook has seen, from the first frame of the context on.

    Attributes:
      frames: the kitchen at each frame, as `Overcooked.observe` has it; the last is now.
      asked: the frame at which the instruction came.
      told: the instruction.
    """

    frames: list[dict[str, Any]]
    asked: int
    told: str

    @property
    def now(self) -> Kitchen:
        """The kitchen now, with the ways through it."""
        return read_kitchen(self.frames[-1])

    @property
    def held(self) -> int:
        """What it holds, as one of NOTHING to SOUP."""
        return int(self.frames[-1]["me"][3])


Policy = Callable[[History], int]
"""Returns an index of the moves."""


def go_to(seen: Kitchen, cells: Iterable[Cell]) -> int:
    """Return the first move to the nearest of some cells, or what is done there; else it stays."""
    way = seen.nearest(cells)
    return STAY if way is None else way.move


def open_pots(seen: Kitchen) -> list[Cell]:
    """Return the pots that an onion can be put into."""
    pots = seen.where(POT)
    return [one for one in pots if seen.filled[one] < FULL and seen.cooking[one] < 0]


def bring_onion(past: History, pots: Iterable[Cell]) -> int:
    """Return the next move to bring an onion to the nearest of some pots."""
    seen = past.now
    if past.held == ONION:
        return go_to(seen, pots)
    if past.held != NOTHING:
        return put_down(seen)
    own = seen.where(ONIONS)
    return go_to(seen, own if seen.nearest(own) else seen.where(COUNTER, ONION))


def put_down(seen: Kitchen) -> int:
    """Return the next move to lay down what is held on the nearest counter."""
    return go_to(seen, seen.where(COUNTER, NOTHING))


class PolicyAgent(Agent):
    """An agent that plays a policy once it is asked for something, and stands still before."""

    name = "playing"
    domain = DOMAIN
    deterministic = True
    version = "1"

    def __init__(self, policy: Policy) -> None:
        """Take what moves it."""
        self.policy = policy

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return what the policy does at this step, and all that was seen so far."""
        shape = observation.last_move.shape
        now = {name: observation.values[name][:, :, None] for name in _OBSERVED}
        grown = {
            n: np.concatenate((memory[n], one), 2) if memory else one for n, one in now.items()
        }
        silent = np.array([not text for text in instructions.texts])[instructions.ids]
        asked = (memory["asked"] if memory else np.zeros(shape[0], np.int64)) + silent
        moves = np.full(shape, STAY)
        for b, r in np.ndindex(shape):
            if not silent[b]:
                count = grown["me"].shape[2]
                frames = [{n: grown[n][b, r, t] for n in _OBSERVED} for t in range(count)]
                text = instructions.texts[instructions.ids[b]]
                moves[b, r] = self.policy(History(frames, int(asked[b]), text))
        return Choice(moves), {**grown, "asked": asked}


def play_from(
    episode: Episode,
    line: Sequence[Snapshot],
    moment: int,
    lengths: tuple[int, int],
    role: int,
    text: str,
    policy: Policy,
) -> Iterator[Snapshot]:
    """Yield the moments from a takeover on if a cook plays by a policy beside the recording."""
    from sts.worlds.overcooked.environment import Overcooked

    context, horizon = lengths
    world = Overcooked()
    world.restore(line[moment - context].state)
    frames = []
    for step in range(moment - context, moment + horizon):
        frames.append(dict(world.observe(role)))
        moves = [int(move) for move in episode.moves[step]]
        if step >= moment:
            yield capture_snapshot(world)
            moves[role] = policy(History(frames, context, text))
        world.step(moves)
    yield capture_snapshot(world)
