"""Agents and a category for the lanterns."""

from __future__ import annotations

import numpy as np

from sts.agents import Agent, PolicyOutput
from sts_scenarios.rules.category import Candidate, Category, Label


class Keeper(Agent):
    """Does anything, anywhere."""

    name = "keeper"

    def act(self, observation, instructions, memory, draws):
        shape = observation.last_move.shape
        actions = 9 if hasattr(observation, "good") else 4
        return PolicyOutput(np.ones((*shape, actions))), memory


class LanternKeeper(Keeper):
    """Does anything with lanterns."""

    name, domain = "lantern-keeper", "tests.domains.worlds:Lanterns"


def candidates(trajectory, context, horizon):
    yield Candidate(10, 0, "easy")


def label(episode, takeover, players, parameters):
    gained = episode.rewards[takeover:, players[0]].cumsum()
    return Label("success", int(gained.argmax()) + 1) if gained.any() else Label("not_done", None)


def category(
    domain: str, candidates=candidates, label=label, templates=("Light a lantern.",)
) -> Category:
    return Category(
        name="light-one",
        kind="instruction",
        domain=domain,
        horizon=8,
        templates=templates,
        candidates=candidates,
        label=label,
        why_invalid=lambda scenario: None,
        context=6,
    )


def falls(trajectory):
    yield from ()
    raise RuntimeError("no lantern anywhere")


LIGHT_ONE = category("tests.domains.worlds:Lanterns")
DYING = category("tests.domains.worlds:Dies", templates=("Light a lantern.", "Rest.", "Go on."))
FALLS = category("tests.domains.worlds:Lanterns", candidates=falls)
UNLABELLED = category("tests.domains.worlds:Lanterns", label=lambda *_: 1 / 0)
NONE = "none"


class Restless(Keeper):
    """Does anything but rest."""

    name = "restless"

    def act(self, observation, instructions, memory, draws):
        choice, memory = super().act(observation, instructions, memory, draws)
        choice.actions[..., 0] = 0
        return choice, memory


class Obedient(Restless):
    """Rests where it is told to."""

    name = "obedient"

    def act(self, observation, instructions, memory, draws):
        choice, memory = super().act(observation, instructions, memory, draws)
        told = np.array(instructions.texts)[instructions.ids] == "Rest."
        choice.actions[told] = np.eye(4)[0]
        return choice, memory


class Resting(Keeper):
    """Rests."""

    name, deterministic = "resting", True

    def act(self, observation, instructions, memory, draws):
        return PolicyOutput(np.zeros(observation.last_move.shape, int)), memory


class Leans(Keeper):
    """Does what depends on how many others there are."""

    name, version = "leans", "1"  # stated, as the tests beside this module read files

    def act(self, observation, instructions, memory, draws):
        choice, memory = super().act(observation, instructions, memory, draws)
        choice.actions[..., len(choice.actions) % 9] = 50.0
        return choice, memory
