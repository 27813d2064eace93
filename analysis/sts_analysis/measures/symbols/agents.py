"""Agents for environments with small alphabets: baselines and a learner."""

import numpy as np

from sts.agents.protocol import Agent, Draws, Instructions, Memory, PolicyOutput
from sts_analysis.measures.symbols.domain import Floats, Observation


class Constant0(Agent):
    """Agent that always takes the first action."""

    name, version, domain = "symbols-constant-0", "1", "symbols"
    deterministic, action = True, 0

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the action."""
        return PolicyOutput(np.full(observation.symbol.shape, self.action)), memory


class Constant1(Constant0):
    """Agent that always takes the second action."""

    name, action = "symbols-constant-1", 1


class WinStay(Agent):
    """Win-stay, lose-shift: it repeats an action after a reward, otherwise it takes the next."""

    name, version, domain = "symbols-win-stay", "1", "symbols"
    deterministic = True

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the last action or the next, at first the first."""
        shift = observation.last_reward <= 0
        return PolicyOutput((observation.last_move + shift) % observation.n_actions), memory


class QTable(Agent):
    """Q-learning (Watkins and Dayan 1992) of the value of each action after each symbol."""

    name, version, domain = "symbols-q-table", "1", "symbols"
    rate, discount, exploration = 0.2, 0.8, 0.1  # exploration is the share of random actions

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Learn from the last step, unless it was in another environment, and choose."""
        o, symbol = observation, observation.symbol[:, 0]
        empty = np.zeros((len(symbol), o.n_symbols, o.n_actions))
        values = memory.get("values", empty).copy()
        by_symbol, first = values.reshape(-1, o.n_actions), np.arange(len(symbol)) * o.n_symbols
        if memory:
            learns = np.flatnonzero(memory["step"] + 1 == o.step)
            future = self.discount * _put_first(by_symbol.take((first + symbol)[learns], 0)).max(0)
            at = ((first + memory["symbol"]) * o.n_actions + o.last_move[:, 0])[learns]
            flat = values.reshape(-1)
            old = flat.take(at)
            flat[at] = old + self.rate * (o.last_reward[learns, 0] + future - old)
        here = _put_first(by_symbol.take(first + symbol, 0))
        best = here == here.max(0)
        weights = (1 - self.exploration) * best / best.sum(0) + self.exploration / o.n_actions
        memory = {"values": values, "symbol": symbol, "step": o.step}
        return PolicyOutput(weights.T[:, None]), memory


def _put_first(values: Floats) -> Floats:
    """Return float64[A, B] of float64[B, A], as few actions are compared faster along axis 0."""
    return np.ascontiguousarray(values.T)
