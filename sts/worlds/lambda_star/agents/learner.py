"""Learners: agents that get better while they play, and can rehearse an episode."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.errors import ArgumentError
from sts.worlds.lambda_star.agents.sets import weights
from sts.worlds.lambda_star.agents.table import (
    ENDED,
    GREEDY,
    Table,
    Tables,
    blank,
    greedy,
    joined,
    learn,
    roomy,
    size,
)
from sts.worlds.lambda_star.domain import Observation

BOOTSTRAPS = ("next", "published")
_NOWHERE = -1
_FRESH = "fresh_"


class Learner(Agent):
    """An agent that can be told that its episode is over, and then play it again."""

    domain = "lambda-star"

    @abstractmethod
    def finish(
        self, observation: Observation, memory: dict[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """Returns what it remembers when the same episode begins anew.

        Args:
          observation: what the team sees after the last step, with that step's move and reward.
          memory: what it returned last; never written to in place.
        """


class Tabular(Learner):
    """Learns the value of each move in each state, and always makes one of the best.

    A state is (own cell, iteration), as in Chmait et al. 2016, algorithm 1; other things seen play
    no part. Values are in units of reward. Among moves of equal value the choice is uniform, and
    nothing else explores but the start at 0.2, above what moves without a reward turn out to be
    worth. The published program's numbers are taken where the paper gives none: learning rate and
    discount factor 0.3 (there it starts at 2 with rewards tenfold, which is the same).

    A state is met once in an episode, at its own iteration. So in an episode that was not rehearsed
    every choice is made in a state nothing is known of: it is uniformly random from the first step
    to the last, and what is learned shows only when the episode is played again.

    Args:
      bootstrap: "next" values the future by the state that follows; "published" by the state that
        the published program looks up in its place, which only its checks need.
    """

    shared: ClassVar[bool] = False

    def __init__(self, bootstrap: str = "next") -> None:
        if bootstrap not in BOOTSTRAPS:
            raise ArgumentError(f"expected bootstrap next or published, found {bootstrap!r}")
        self.bootstrap = bootstrap

    def begin(self, batch: int, roles: int) -> dict[str, NDArray[Any]]:
        """Returns empty tables and nowhere acted in yet."""
        acted = np.full((batch, roles), _NOWHERE)
        return {**blank(batch)._asdict(), **_named(blank(batch)), "acted": acted}

    def act(
        self,
        observation: Observation,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Learns from what is now known, then returns equal weights over the best moves."""
        tables = _tables(memory)
        kept = self._learn(observation, memory, tables)
        here = self._states(observation, observation.step)
        sets = np.empty(here.shape, np.int64)
        greedy(tables, here, sets)
        return Choice(weights(sets)), {**memory, **_named(tables.fresh), **kept, "acted": here}

    def finish(
        self, observation: Observation, memory: dict[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """Learns from the last step; all that was learned stays."""
        tables = _tables(memory)
        self._learn_last(observation, memory, tables)
        batch, roles = observation.cell.shape
        return {**self.begin(batch, roles), **joined(tables)._asdict()}

    def footprint(self, roles: int, cells: int, steps: int, rehearsals: int) -> int:
        """Returns the bytes that an episode can take: two tables while one grows into the other.

        Args:
          roles: R.
          cells: of the grid.
          steps: of the episode.
          rehearsals: how often it is practised.
        """
        tables, met = (1, roles) if self.shared else (roles, 1)
        return 2 * size(tables * steps * min(cells, met * (rehearsals + 1)))

    def _states(self, seen: Observation, step: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns int64[B, R], the number of (own cell, `step`) in each role's table."""
        roles = seen.cell.shape[1]
        number = (step * seen.height * seen.width)[:, None] + seen.cell
        which = np.zeros(roles, np.int64) if self.shared else np.arange(roles)
        out: NDArray[np.int64] = number * roles + which
        return out

    @abstractmethod
    def _ahead(self, seen: Observation, over: bool) -> NDArray[np.int64]:
        """Returns int64[B, R], the state that values the future of the last step."""

    def _learn(
        self, seen: Observation, memory: dict[str, NDArray[Any]], tables: Tables
    ) -> dict[str, NDArray[Any]]:
        """Learns in place from the last step; returns what else to remember."""
        self._learn_towards(self._ahead(seen, False), seen, memory, tables)
        return {}

    def _learn_last(
        self, seen: Observation, memory: dict[str, NDArray[Any]], tables: Tables
    ) -> None:
        """Learns in place from the step that ended the episode."""
        self._learn_towards(self._ahead(seen, True), seen, memory, tables)

    def _learn_towards(
        self,
        ahead: NDArray[np.int64],
        seen: Observation,
        memory: dict[str, NDArray[Any]],
        tables: Tables,
    ) -> None:
        best = np.full(ahead.shape, GREEDY, np.int8)
        learn(tables, memory["acted"], seen.last_move, seen.last_reward, ahead, best)


def ended(like: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns, for every role, that no state follows."""
    return np.full(like.shape, ENDED)


def _tables(memory: dict[str, NDArray[Any]]) -> Tables:
    """Returns what is remembered, with room to learn from two steps in a fresh table of its own."""
    known, fresh = (Table(*(memory[p + name] for name in Table._fields)) for p in ("", _FRESH))
    return Tables(known, roomy(fresh, 2 * memory["acted"].shape[1]))


def _named(fresh: Table) -> dict[str, NDArray[Any]]:
    return {_FRESH + name: array for name, array in fresh._asdict().items()}
