"""Tabular learners: agents that improve while they play and can practise an episode."""

from typing import ClassVar

import numpy as np

from sts.plugin import Agent, ArgumentError, Draws, Instructions, Memory, PolicyOutput
from sts_lambda_star.agents import value_table
from sts_lambda_star.agents.move_sets import to_weights
from sts_lambda_star.agents.value_table import ENDED, FIRST, GREEDY, NEXT, Table, Transitions
from sts_lambda_star.domain import Observation
from sts_lambda_star.kernels import Ints

BOOTSTRAPS = ("next", "published")
_RECENT = 32
"""Steps whose records are kept apart, as an array is copied at each step that is appended."""
_RECORD_BYTES = 2 + 1 + 1


class TabularLearner(Agent):
    """Greedy agent that learns the value of each move in each state.

    A state is (own cell, iteration), as in Chmait et al. 2016, algorithm 1; the rest of the
    observation is ignored. Values are in units of reward. Ties are broken uniformly, and the only
    exploration comes from the optimistic initial value of 0.2, which exceeds the value of moves
    without a reward. Numbers that the paper omits are the published program's: learning rate and
    discount factor 0.3 (it starts at 2 with rewards tenfold, which is equivalent).

    A state is met at most once in an episode, at its own iteration. So in an episode that was not
    practised every choice is uniformly random, and learning shows only when the episode is played
    again. For the same reason, steps are recorded as they happen and learned from after the pass.

    Args:
      bootstrap: "next" bootstraps from the state that follows; "published" from the state that the
        published program looks up instead, which only its checks need.
    """

    domain = "lambda-star"
    version = "1"
    shared: ClassVar[bool] = False
    on_policy: ClassVar[bool] = False
    published: ClassVar[int] = FIRST

    def __init__(self, bootstrap: str = "next") -> None:
        if bootstrap not in BOOTSTRAPS:
            raise ArgumentError(f"expected bootstrap 'next' or 'published', found {bootstrap!r}")
        self.bootstrap = bootstrap

    @property
    def future_kind(self) -> int:
        """State to bootstrap from after a move from (cell, t) to cell'.

        NEXT is (cell', t + 1), and 0 after the last step; FIRST is (cell', 0); SAME is (cell', t).
        """
        return NEXT if self.bootstrap == "next" else self.published

    def initial_state(self, batch: int, players: int) -> Memory:
        """Return an empty table, and records of no step, older and recent: [B, 0, R] arrays."""
        shape = (batch, 0, players)
        kinds = {"cells": np.uint16, "moves": np.int8, "rewards": np.int8}
        notes = {name: np.zeros(shape, kind) for name, kind in kinds.items()}
        recent = {f"recent_{name}": notes[name] for name in kinds}
        return value_table.empty_tables(batch)._asdict() | notes | recent

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Record the observed step, and return equal weights over the best moves."""
        cells, step = observation.cell[:, None], observation.step[:, None]
        here = self._number_states(observation, cells, step)[:, 0]
        notes = _append_record(observation, memory)
        return PolicyOutput(
            to_weights(value_table.greedy_moves(_load_table(memory), here))
        ), memory | notes

    def finish(self, observation: Observation, memory: Memory) -> Memory:
        """Learn from a finished pass; return the memory with which to replay the same episode.

        `observation` is the team's observation after the last step. `memory` is not modified.
        """
        notes = memory | _append_record(observation, memory)
        cells, actions, rewards = (
            np.concatenate((notes[name], notes[f"recent_{name}"]), 1)
            for name in ("cells", "moves", "rewards")
        )
        batch, steps, players = actions.shape
        step = observation.step[:, None] - steps + np.arange(steps)
        next_actions = np.full_like(actions, GREEDY)
        if self.on_policy and self.future_kind == NEXT:
            next_actions[:, :-1] = actions[:, 1:]
        lessons = Transitions(
            self._number_states(observation, cells[:, :-1], step),
            actions,
            rewards,
            self._future_states(observation, cells[:, 1:], step),
            next_actions,
        )
        learned = value_table.enlarge_table(_load_table(memory), steps * players)
        value_table.learn_pass(learned, lessons)
        return self.initial_state(batch, players) | learned._asdict()

    def memory_bytes(self, players: int, cells: int, steps: int, rehearsals: int) -> int:
        """Return the bytes that an episode can take: two tables while one is copied to another."""
        tables, visitors = (1, players) if self.shared else (players, 1)
        learned = value_table.table_bytes(tables * steps * min(cells, visitors * (rehearsals + 1)))
        return 2 * (learned + _RECORD_BYTES * steps * players)

    def _number_states(self, seen: Observation, cells: Ints, step: Ints) -> Ints:
        """Return int64[B, T, R], the numbers of (cell, step) in each role's table."""
        players = cells.shape[2]
        number = (step * (seen.height * seen.width)[:, None])[..., None] + cells
        table_index = np.zeros(players, np.int64) if self.shared else np.arange(players)
        out: Ints = number * players + table_index
        return out

    def _future_states(self, seen: Observation, cells: Ints, step: Ints) -> Ints:
        """Return int64[B, T, R], the states to bootstrap from after moves to `cells`."""
        future_step = {NEXT: step + 1, FIRST: 0 * step}.get(self.future_kind, step)
        states = self._number_states(seen, cells, future_step)
        if self.future_kind == NEXT:
            states[:, -1] = ENDED
        return states


def _append_record(seen: Observation, memory: Memory) -> Memory:
    """Return the records with the current cells and the last moves and rewards appended."""
    now: Memory = {"cells": seen.cell.astype(np.uint16)}
    if memory["cells"].shape[1] or memory["recent_cells"].shape[1]:
        now |= {"moves": seen.last_move, "rewards": seen.last_reward}
    out = {}
    for name, value in now.items():
        recent = np.concatenate((memory[f"recent_{name}"], value[:, None]), 1)
        if recent.shape[1] == _RECENT:
            out[name] = np.concatenate((memory[name], recent), 1)
            recent = recent[:, :0]
        out[f"recent_{name}"] = recent
    return out


def _load_table(memory: Memory) -> Table:
    return Table(*(memory[name] for name in Table._fields))
