"""A family of simple agents of small alphabets, of different merit, for tests of rankings."""

import numpy as np

from sts.agents import Agent, PolicyOutput
from sts_analysis.measures.symbols.agents import Constant0, QTable, WinStay


class Noisy(WinStay):
    """Win-stay, lose-shift, with a share of random actions."""

    noise = 0.5

    def act(self, observation, instructions, memory, draws):
        chosen, memory = super().act(observation, instructions, memory, draws)
        count = observation.n_actions
        return PolicyOutput(
            self.noise / count + (1 - self.noise) * np.eye(count)[chosen.actions]
        ), memory


class Follow(Agent):
    """An action for each symbol."""

    domain = "symbols"
    actions = (0, 1)

    def act(self, observation, instructions, memory, draws):
        return PolicyOutput(np.array(self.actions)[observation.symbol]), memory


class Cycle(Constant0):
    """Actions in turn, whatever happens."""

    actions = (0, 1)

    def act(self, observation, instructions, memory, draws):
        move = np.array(self.actions)[observation.step % len(self.actions)]
        return PolicyOutput(move[:, None]), memory


def _vary(base, attribute, *values):
    """Return a class for each value of an attribute, under names that can be loaded."""
    out = {}
    for i, value in enumerate(values):
        own = f"{base.__name__}{attribute.title()}{i}"
        attributes = {"name": own, attribute: value, "deterministic": False, "version": "1"}
        out[own] = type(own, (base,), attributes | {"__module__": __name__})
    return out


FAMILY = {
    **_vary(Noisy, "noise", 0.1, 0.3, 0.6, 0.9),
    **_vary(Follow, "actions", (0, 1), (1, 0)),
    **_vary(Cycle, "actions", (0, 1), (0, 0, 1), (0, 1, 1), (0, 0, 1, 1)),
    **_vary(QTable, "rate", 0.02, 0.05, 0.1, 0.5, 1.0),
    **_vary(QTable, "exploration", 0.0, 0.3, 0.6),
}
globals().update(FAMILY)
