"""Worlds of one move, of several at once and of real numbers; agents and categories for them."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, MultiDiscrete

from sts.agents import Agent, PolicyOutput
from sts_scenarios.rules.category import Candidate, Category, Label
from tests.domains.worlds import Lanterns

CARTPOLE = "gymnasium:CartPole-v1"
PENDULUM = "gymnasium:Pendulum-v1"
CRANE = "gymnasium:tests.domains.spaces:sts-tests/Crane-v0"
LOOSE_CRANE = "gymnasium:tests.domains.spaces:sts-tests/LooseCrane-v0"
HALL = "tests.domains.spaces:Hall"
BELLS = "tests.domains.spaces:Bells"
SIZE = 7


class CraneEnv(gymnasium.Env):
    """A hook that is moved along both axes at once, and paid the nearer it is to its crate."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012
    action_space: Any = MultiDiscrete([3, 3], start=[-1, -1])
    observation_space = Box(0, SIZE - 1, (2, 2), np.int64)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.hook, self.crate = self.np_random.integers(SIZE, size=(2, 2))
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        self.hook = np.clip(self.hook + action, 0, SIZE - 1)
        distance = np.hypot(*(self.hook - self.crate))
        return self._observe(), 1 / (3 + distance), False, False, {}

    def _observe(self) -> Any:
        return np.stack([self.hook, self.crate])

    def render(self) -> Any:
        frame = np.zeros((SIZE, SIZE, 3), np.uint8)
        frame[tuple(self.hook)][0] = frame[tuple(self.crate)][1] = 255
        return frame


class LooseCraneEnv(CraneEnv):
    """A hook that can be moved any way at once."""

    action_space = Box(-np.inf, np.inf, (2,))


gymnasium.register("sts-tests/Crane-v0", entry_point="tests.domains.spaces:CraneEnv")
gymnasium.register("sts-tests/LooseCrane-v0", entry_point="tests.domains.spaces:LooseCraneEnv")


class Pushing(Agent):
    """Pushes the cart either way."""

    name = "pushing"
    version = "1"  # the worlds that it is written among read files

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        return PolicyOutput(np.ones((*observation.last_move.shape, 2))), memory


class Leaning(Agent):
    """Pushes the cart where its pole leans, four times of five."""

    name = "leaning"
    version = "1"  # the worlds that it is written among read files

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        seen = observation.values["observation"]
        right = np.where(seen[..., 2] + seen[..., 3] > 0, 0.8, 0.2)
        return PolicyOutput(np.stack([1 - right, right], -1)), memory


class Swinging(Agent):
    """Turns the pendulum with any torque, all of one density."""

    name, draws = "swinging", 1
    version = "1"  # the worlds that it is written among read files

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        return PolicyOutput(4 * draws - 2, log_probs=np.full(draws.shape[:2], -np.log(4))), memory


class Pumping(Agent):
    """Turns the pendulum the way it turns already; it can tell no density."""

    name, deterministic = "pumping", True
    version = "1"  # the worlds that it is written among read files

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        speed = observation.values["observation"][..., 2:]
        return PolicyOutput(np.where(speed < 0, -2.0, 2.0).astype(np.float32)), memory


class Wandering(Agent):
    """Moves the hook anywhere."""

    name, draws = "wandering", 2
    version = "1"  # the worlds that it is written among read files

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        return PolicyOutput((3 * draws).astype(int) - 1), memory


class Reaching(Agent):
    """Moves the hook to the crate, and now and then anywhere."""

    name, draws = "reaching", 3
    version = "1"  # the worlds that it is written among read files

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        seen = observation.values["observation"]
        towards = np.sign(seen[..., 1, :] - seen[..., 0, :])
        anywhere = (3 * draws[..., 1:]).astype(int) - 1
        actions = np.where(draws[..., :1] < 0.8, towards, anywhere)
        right = (actions == towards).all(-1)
        return PolicyOutput(actions, log_probs=np.log(np.where(right, 0.8, 0) + 0.2 / 9)), memory


class Astray(Agent):
    """Answers what an instruction says, whatever is asked of it; else it does nothing."""

    name = "astray"
    version = "1"  # the worlds that it is written among read files

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        actions = np.zeros(observation.last_move.shape, np.float32)
        for b, number in enumerate(instructions.ids):
            if (text := instructions.texts[number]) not in ("", "Swing."):
                actions[b] = float(text)
        return PolicyOutput(actions), memory


class Hall(Lanterns):
    """Keepers who can say whatever they want."""

    name, tokens = "hall", ()


class Bells(Lanterns):
    """Keepers who have two words."""

    name, tokens = "bells", ("silence", "ding", "dong")


class Talker(Agent):
    """Says which step it is, or what it has heard; where it is told something, that."""

    name = "talker"
    version = "1"  # the worlds that it is written among read files

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        utterances = np.full(observation.last_move.shape, "", object)
        for b, step in enumerate(observation.step):
            for r in range(utterances.shape[1]):
                heard = " ".join(observation.heard[b, r].tolist())
                utterances[b, r] = f"heard {heard}" if step % 3 == 2 else f"step {step}"
            if told := instructions.texts[instructions.ids[b]]:
                utterances[b] = told
        return PolicyOutput(np.ones((*utterances.shape, 4)), utterances.astype(str)), memory


def candidates(trajectory: Any, context: int, horizon: int) -> Any:
    yield Candidate(8, 0, "easy")


def stands(episode: Any, takeover: int, players: Any, parameters: Any) -> Label:
    """Fails where the pole has fallen: from then on nothing is paid."""
    fallen = np.flatnonzero(episode.rewards[takeover:, players[0]] == 0)
    return Label("failure", int(fallen[0]) + 1) if fallen.size else Label("success", 12)


def paid(bar: float) -> Any:
    def label(episode: Any, takeover: int, players: Any, parameters: Any) -> Label:
        over = np.flatnonzero(episode.rewards[takeover:, players[0]] > bar)
        return Label("success", int(over[0]) + 1) if over.size else Label("not_done", None)

    return label


def category(name: str, domain: str, text: str, label: Any) -> Category:
    return Category(
        name=name,
        kind="instruction",
        domain=domain,
        horizon=12,
        templates=(text,),
        candidates=candidates,
        label=label,
        why_invalid=lambda scenario: None,
        context=6,
    )


STAND = category("stand", CARTPOLE, "Keep the pole up.", stands)
SWING = category("swing", PENDULUM, "Swing.", paid(-2.1))
REACH = category("reach", CRANE, "Bring the hook to the crate.", paid(0.32))
