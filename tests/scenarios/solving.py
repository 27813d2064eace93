"""A scenario's recording that goes on with given moves and words."""

from __future__ import annotations

import numpy as np

from sts.domains import domain
from sts.engine.lockstep import Script, play
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.worlds.lambda_star.state import MOVES

STAY = MOVES.index("stay")


def continued(scenario: Scenario, moves: list[int], says: list[int]) -> Episode:
    """Return the scenario's recording up to takeover, and then these moves and words."""
    recording, start = scenario.recording, scenario.takeover
    steps = start + scenario.horizon
    ways = np.full((1, steps, recording.participants), STAY, np.int8)
    words = np.zeros((1, steps, recording.participants), np.int8)
    ways[0, :start], words[0, :start] = recording.moves[:start], recording.says[:start]
    (role,) = scenario.roles
    ways[0, start:, role], words[0, start:, role] = moves, says
    world = domain(recording.domain)
    script = Script(ways, words, np.ones((steps, recording.participants), np.bool_))
    played = play(world, world.restore([recording.state]), [], steps=steps, script=script)
    return Episode(
        recording.domain,
        recording.state,
        played.moves[0],
        played.says[0],
        played.rewards[0],
        played.scene[0],
    )
