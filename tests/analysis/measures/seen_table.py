"""Q-learning on what is seen, by an agent that learns while it plays."""

from __future__ import annotations

from typing import Any

import numpy as np

from sts.agents import Agent, PolicyOutput


class SeenTable(Agent):
    """Q-table on the places of Good and Evil among the nine cells in sight, for one player."""

    name, domain = "seen-table", "lambda-star"
    rate, discount, exploration = 0.3, 0.5, 0.1

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        places = [
            np.where(seen.any(-1), seen.argmax(-1), 9)[:, 0]
            for seen in (observation.good, observation.evil)
        ]
        rows, state = np.arange(len(observation.step)), 10 * places[0] + places[1]
        values = memory["values"].copy() if memory else np.zeros((rows.size, 100, 9))
        if memory:
            learns = np.flatnonzero(memory["step"] + 1 == observation.step)
            at = learns, memory["state"][learns], observation.last_move[learns, 0]
            future = self.discount * values[learns, state[learns]].max(1)
            reward = 0.5 * observation.last_reward[learns, 0]
            values[at] += self.rate * (reward + future - values[at])
        best = values[rows, state] == values[rows, state].max(1, keepdims=True)
        weights = (1 - self.exploration) * best / best.sum(1, keepdims=True) + self.exploration / 9
        new = {"values": values, "state": state, "step": observation.step}
        return PolicyOutput(weights[:, None]), new
