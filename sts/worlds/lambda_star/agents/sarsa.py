"""SARSA, alone and with a table that the team shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.worlds.lambda_star.agents.learner import Tabular, ended
from sts.worlds.lambda_star.agents.table import Tables, learn
from sts.worlds.lambda_star.domain import Observation


class Sarsa(Tabular):
    """Learns from each step towards its reward and the move that was then made.

    Q(s, a) moves by 0.3 of the way to r + 0.3 * Q(s', a'), where a' is the move executed in s', so
    that a step is learned from when the next move is known; the future of the last step is 0. See
    `Tabular` for states, choices and numbers. Each role has a table of its own. Without a rehearsal
    of the episode its moves are uniformly random.

    As its own choice is always a best one, what it rehearses by itself it learns exactly as
    Q-learning does; the two differ where moves are forced, as in the context of a scenario.

    The rule is Rummery and Niranjan 1994; the paper has none. The published program, which has one
    (lambdastar_2016.md section 8), gives the numbers. With bootstrap="published" Q(s', a') is, as
    there, the highest of (new cell, the iteration of s itself), after the last step too.
    """

    name = "sarsa"

    def begin(self, batch: int, roles: int) -> dict[str, NDArray[Any]]:
        """Returns empty tables and no step that waits for the move after it."""
        memory = super().begin(batch, roles)
        none = np.zeros((batch, roles), np.int8)
        return memory | {"waiting": memory["acted"], "moves": none, "rewards": none}

    def _ahead(self, seen: Observation, over: bool) -> NDArray[np.int64]:
        if self.bootstrap == "published":
            return self._states(seen, seen.step - 1)
        return ended(seen.cell)

    def _learn(
        self, seen: Observation, memory: dict[str, NDArray[Any]], tables: Tables
    ) -> dict[str, NDArray[Any]]:
        if self.bootstrap == "published":
            super()._learn(seen, memory, tables)
        else:
            states, ahead = memory["waiting"], memory["acted"]
            learn(tables, states, memory["moves"], memory["rewards"], ahead, seen.last_move)
        return {"waiting": memory["acted"], "moves": seen.last_move, "rewards": seen.last_reward}

    def _learn_last(
        self, seen: Observation, memory: dict[str, NDArray[Any]], tables: Tables
    ) -> None:
        if self.bootstrap == "next":
            self._learn(seen, memory, tables)
        super()._learn_last(seen, memory, tables)


class CooperativeSarsa(Sarsa):
    """SARSA with one table for the team: all act, then learn one after the other.

    Learning goes in the team's order. Without a rehearsal of the episode the moves are uniformly
    random.

    The rule and the order are the published program's (lambdastar_2016.md section 8); the paper has
    none.
    """

    name = "cooperative-sarsa"
    shared = True
