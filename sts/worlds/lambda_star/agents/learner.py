"""Learners: agents that get better while they play, and can rehearse an episode."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.errors import ArgumentError
from sts.worlds.lambda_star.agents import table
from sts.worlds.lambda_star.agents.sets import weights
from sts.worlds.lambda_star.agents.table import ENDED, FIRST, GREEDY, NEXT, Ints, Lessons, Table
from sts.worlds.lambda_star.domain import Observation

BOOTSTRAPS = ("next", "published")
_NOTE_BYTES = 8 + 1 + 1


class Tabular(Agent):
    """Learns the value of each move in each state, and always makes one of the best.

    A state is (own cell, iteration), as in Chmait et al. 2016, algorithm 1; other things seen play
    no part. Values are in units of reward. Among moves of equal value the choice is uniform, and
    nothing else explores but the start at 0.2, above what moves without a reward turn out to be
    worth. The published program's numbers are taken where the paper gives none: learning rate and
    discount factor 0.3 (there it starts at 2 with rewards tenfold, which is the same).

    A state is met once in an episode, at its own iteration. So in an episode that was not rehearsed
    every choice is made in a state nothing is known of: it is uniformly random from the first step
    to the last, and what is learned shows only when the episode is played again.

    What is done is noted step by step, and learned from when the pass is over, as nothing that is
    learned in it changes a choice of it.

    Args:
      bootstrap: "next" values the future by the state that follows; "published" by the state that
        the published program looks up in its place, which only its checks need.
    """

    domain = "lambda-star"
    version = "1"
    shared: ClassVar[bool] = False
    on_policy: ClassVar[bool] = False
    published: ClassVar[int] = FIRST

    def __init__(self, bootstrap: str = "next") -> None:
        if bootstrap not in BOOTSTRAPS:
            raise ArgumentError(f"expected bootstrap next or published, found {bootstrap!r}")
        self.bootstrap = bootstrap

    @property
    def ahead(self) -> int:
        """Which state values the future of (cell, t) after a move to cell'.

        NEXT is (cell', t + 1), and 0 after the last step; FIRST is (cell', 0); SAME is (cell', t).
        """
        return NEXT if self.bootstrap == "next" else self.published

    def begin(self, batch: int, roles: int) -> Memory:
        """Return an empty table, and notes of no step: [B, t, R] arrays."""
        shape = (batch, 0, roles)
        notes = {"moves": np.zeros(shape, np.int8), "rewards": np.zeros(shape, np.int8)}
        return table.blank(batch)._asdict() | {"cells": np.zeros(shape, np.int64)} | notes

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Note what is now known, and return equal weights over the best moves."""
        cells, step = observation.cell[:, None], observation.step[:, None]
        here = self._states(observation, cells, step)[:, 0]
        notes = _noted(observation, memory)
        return Choice(weights(table.greedy(_table(memory), here))), memory | notes

    def finish(self, observation: Observation, memory: Memory) -> Memory:
        """Learns from the pass; returns what it remembers when the same episode begins anew.

        `observation` is what the team sees after the last step. All that was learned stays;
        `memory` is never written to in place.
        """
        notes = _noted(observation, memory)
        cells, moves = notes["cells"], notes["moves"]
        batch, steps, roles = moves.shape
        step = observation.step[:, None] - steps + np.arange(steps)
        taken = np.full_like(moves, GREEDY)
        if self.on_policy and self.ahead == NEXT:
            taken[:, :-1] = moves[:, 1:]
        lessons = Lessons(
            self._states(observation, cells[:, :-1], step),
            moves,
            notes["rewards"],
            self._ahead(observation, cells[:, 1:], step),
            taken,
        )
        learned = table.roomy(_table(memory), steps * roles)
        table.study(learned, lessons)
        return self.begin(batch, roles) | learned._asdict()

    def footprint(self, roles: int, cells: int, steps: int, rehearsals: int) -> int:
        """Return the bytes that an episode can take: two tables while one grows into the other."""
        tables, met = (1, roles) if self.shared else (roles, 1)
        learned = table.size(tables * steps * min(cells, met * (rehearsals + 1)))
        return 2 * (learned + _NOTE_BYTES * steps * roles)

    def _states(self, seen: Observation, cells: Ints, step: Ints) -> Ints:
        """Return int64[B, T, R], the numbers of (cell, step) in each role's table."""
        roles = cells.shape[2]
        number = (step * (seen.height * seen.width)[:, None])[..., None] + cells
        which = np.zeros(roles, np.int64) if self.shared else np.arange(roles)
        out: Ints = number * roles + which
        return out

    def _ahead(self, seen: Observation, cells: Ints, step: Ints) -> Ints:
        """Return int64[B, T, R], the states that value the futures of moves to `cells`."""
        at = {NEXT: step + 1, FIRST: 0 * step}.get(self.ahead, step)
        states = self._states(seen, cells, at)
        if self.ahead == NEXT:
            states[:, -1] = ENDED
        return states


def _noted(seen: Observation, memory: Memory) -> Memory:
    """Return the notes with where the roles are, and what they did and received before."""
    now: Memory = {"cells": seen.cell}
    if memory["cells"].shape[1]:
        now |= {"moves": seen.last_move, "rewards": seen.last_reward}
    return {name: np.concatenate((memory[name], now[name][:, None]), 1) for name in now}


def _table(memory: Memory) -> Table:
    return Table(*(memory[name] for name in Table._fields))
