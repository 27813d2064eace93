"""Baseline that ignores instructions and maximises reward."""

import numpy as np

from sts.plugin import Agent, Draws, Instructions, Memory, PolicyOutput
from sts_lambda_star import torus
from sts_lambda_star.agents.local_search import LocalSearch
from sts_lambda_star.domain import Observation
from sts_lambda_star.state import MOVES

_UNKNOWN = -1


class LocalSearchWithMemory(Agent):
    """Local search that returns to where it last saw Good, until it finds nothing there."""

    name = "reward-with-memory"
    version = "1"
    domain = "lambda-star"

    def initial_state(self, batch: int, players: int) -> Memory:
        """Return the state before anything is seen."""
        return {"good": np.full((batch, players), _UNKNOWN, np.int64)}

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return local search's moves, or the way back to Good while it is out of sight."""
        o, cells, last_good = observation, observation.surroundings, memory["good"]
        gone = (cells == last_good[..., None]).any(-1)
        now = np.where(o.good, cells, _UNKNOWN).max(-1)
        good = np.where(now != _UNKNOWN, now, np.where(gone, _UNKNOWN, last_good))
        back = torus.first_move(o.cell, good, o.height[:, None], o.width[:, None])
        searched = LocalSearch().act(o, instructions, {}, draws)[0].actions
        lost = (good != _UNKNOWN) & (now == _UNKNOWN)
        actions = np.where(lost[..., None], np.eye(len(MOVES))[back], searched)
        return PolicyOutput(actions), {"good": good}
