"""A row of cells with a bell in the last: who reaches it rings it, and the world ends."""

import json

import numpy as np

from sts.agents import Agent, PolicyOutput, load
from sts.trajectories.trajectory import Trajectory
from tests.recording import record

NAME = "tests.trajectories.bell:Bell"


class Bell:
    name, version = "bell", "1"
    action_names, noop, players, reward_unit = ("stay", "on"), 0, ("walker", "guest"), 0.25

    def reset(self, seed, cells=6):
        self.at, self.cells = [seed % 3, seed % 2], cells

    @property
    def ended(self):
        return max(self.at) >= self.cells - 1

    def step(self, actions):
        if self.ended:
            return [0, 0]
        self.at = [a + m for a, m in zip(self.at, actions, strict=True)]
        return [int(a >= self.cells - 1) for a in self.at]

    def state(self):
        return json.dumps([self.at, self.cells]).encode()

    def restore(self, state):
        self.at, self.cells = json.loads(state)

    def digest(self):
        return self.state()

    def observe(self, player):
        row = np.zeros(self.cells, np.bool_)
        row[self.at[player]] = True
        return {"row": row, "far/near": np.float32(self.at[player] / self.cells)}

    def instruction(self):
        return "Ring the bell."

    def render(self):
        return np.zeros((8, 8, 3), np.uint8)


class Walker(Agent):
    name = "walker"

    def act(self, observation, told, memory, draws):
        return PolicyOutput(np.ones(observation.last_move.shape, np.int64)), memory


def walks(count: int = 2, steps: int = 9, **settings: int) -> list[Trajectory]:
    walker = load("tests.trajectories.bell:Walker")
    return record(walker, domain=NAME, count=count, steps=steps, seed=1, settings=settings)
