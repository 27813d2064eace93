"""Moves that do what a scenario asks, found by search over where Good and Evil will be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scenarios.categories.lambda_star import tracks
from sts.domains import domain
from sts.engine.lockstep import Script, play
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.worlds.lambda_star.state import MOVES, TOKENS
from sts.worlds.lambda_star.torus import distance, moved

STAY = MOVES.index("stay")
Node = tuple[int, int]  # the cell, and how many frames in a row were near Good


def solution(scenario: Scenario) -> Episode:
    """Returns a continuation, C + L steps, that is as good as perfect foresight allows."""
    answer = scenario.parameters.get("answer", "silence")
    moves = [STAY] * scenario.horizon
    if scenario.category == "walk":
        way = MOVES.index(scenario.parameters["direction"])
        moves[: scenario.parameters["cells"]] = [way] * scenario.parameters["cells"]
    elif scenario.category in ("reach-good", "follow-good", "avoid-evil", "join-teammate"):
        moves = _searched(scenario)
    return continued(scenario, moves, [TOKENS.index(answer)] + [0] * (scenario.horizon - 1))


def continued(scenario: Scenario, moves: list[int], says: list[int]) -> Episode:
    """Returns the scenario's recording up to takeover, and then these moves and words."""
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


def _searched(scenario: Scenario) -> list[int]:
    """Returns moves to the first frame that meets the goal, standing still from there on."""
    size = tracks.grid(scenario.recording.state)
    idle = continued(scenario, [STAY] * scenario.horizon, [0] * scenario.horizon)
    scene = idle.scene[scenario.takeover :].astype(np.int64)
    (role,) = scenario.roles
    target = scenario.parameters.get("target", role)
    wanted = scenario.parameters.get("steps", 1)

    def apart(cell: int, frame: int, which: int) -> int:
        return int(distance(cell, int(scene[frame, which]), size.height, size.width))

    def allowed(cell: int, frame: int) -> bool:
        return scenario.category != "avoid-evil" or apart(cell, frame, 1) > 1

    goals: dict[str, Callable[[Node, int], bool]] = {
        "reach-good": lambda node, frame: apart(node[0], frame, 0) == 0,
        "follow-good": lambda node, frame: node[1] >= wanted,
        "avoid-evil": lambda node, frame: frame == scenario.horizon,
        "join-teammate": lambda node, frame: apart(node[0], frame, 2 + target) == 0,
    }
    goal = goals[scenario.category]
    reached: dict[Node, list[int]] = {(int(scene[0, 2 + role]), 0): []}
    for frame in range(1, scenario.horizon + 1):
        following: dict[Node, list[int]] = {}
        for (cell, run), moves in reached.items():
            for move in range(len(MOVES)):
                there = int(moved(cell, move, size.height, size.width))
                if not allowed(there, frame):
                    continue
                node = there, (min(run + 1, wanted) if apart(there, frame, 0) <= 1 else 0)
                following.setdefault(node, [*moves, move])
                if goal(node, frame):
                    path = following[node]
                    return path + [STAY] * (scenario.horizon - len(path))
        reached = following
    raise AssertionError(f"{scenario.id} cannot be done")
