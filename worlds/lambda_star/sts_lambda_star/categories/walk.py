"""walk: go a number of cells in a direction, and be there at the end.

Asked at every step, with the direction and the number by the player's cell and the step. Easy: two
cells; medium: three; hard: four. An easy category: it needs no more than reading the direction and
the number.
"""

import itertools
import re
from collections.abc import Mapping
from typing import Any

from sts.plugin import Episode, Scenario
from sts_lambda_star import torus
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import (
    NOT_DONE,
    CandidateColumns,
    ControlPolicies,
    Label,
    Overlay,
    Rubric,
    make_label,
)

from .batches import StepBatch, TrackBatch
from .builders import build_instruction
from .policies import STAY, History, make_mover, move_towards
from .screening import make_hits
from .tracks import Grid, Track, track_until_takeover

HORIZON = 10
CELLS = (2, 3, 4)
DIRECTIONS = {
    "up": "up",
    "down": "down",
    "left": "to the left",
    "right": "to the right",
    "up-left": "up and to the left",
    "up-right": "up and to the right",
    "down-left": "down and to the left",
    "down-right": "down and to the right",
}
"""Words for the moves."""
KINDS = tuple((move, {"direction": move, "cells": cells}) for cells in CELLS for move in DIRECTIONS)
_ASKED = re.compile(rf"(\d+) cells ({'|'.join(sorted(DIRECTIONS.values(), key=len)[::-1])})")


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find every step, with the direction and number by the cell and the step."""
    steps = StepBatch.select(batch, batch.to_good >= 0, context, horizon)
    kind = (steps.values_at(batch.me) + 5 * steps.step) % len(KINDS)
    return make_hits(steps, kind // len(DIRECTIONS), KINDS, kind)


def template_fields(episode: Episode, player: int, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the template fields for the number of cells and the direction."""
    return {"cells": str(parameters["cells"]), "direction": DIRECTIONS[parameters["direction"]]}


def _find_goal(start: int, direction: str, cells: int, size: Grid) -> int:
    """Return the cell that a walk leads to."""
    for _ in itertools.repeat(None, cells):
        start = int(torus.move_cell(start, MOVES.index(direction), *size))
    return start


def _walk(history: History) -> int:
    """Return the move to the cell that the instruction names."""
    if (asked := _ASKED.search(history.instruction.lower())) is None:
        return STAY
    direction = next(move for move, words in DIRECTIONS.items() if words == asked[2])
    start = history.me[history.asked_frame]
    return move_towards(history, _find_goal(start, direction, int(asked[1]), history.size))


def _mark_goal(scenario: Scenario) -> Overlay:
    track, parameters = track_until_takeover(scenario), scenario.parameters
    start = int(track.me[-1])
    return Overlay((_find_goal(start, parameters["direction"], parameters["cells"], track.size),))


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    parameters = scenario.parameters
    if parameters["direction"] not in DIRECTIONS or parameters["cells"] not in CELLS:
        return "expected a direction, and two, three or four cells"
    return None if parameters["cells"] < scenario.horizon else "there are too few steps"


def label_track(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Return success at the end on the cell that the walk leads to; else not_done."""
    start, size = int(track.me[0]), track.size
    goal = _find_goal(start, parameters["direction"], parameters["cells"], size)
    return make_label(len(track.me) - 1, True) if track.me[-1] == goal else NOT_DONE


CATEGORY = build_instruction(
    "walk",
    (
        "Walk {cells} cells {direction} and stay on that cell until the end.",
        "Go {cells} cells {direction}. Be there at the end.",
        "Move {cells} cells {direction}, and then stop.",
    ),
    find_steps,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    words=template_fields,
    rubric=Rubric(
        success_criterion=(
            "At the end, the player is on the marked cell. It is {cells} cells {direction} from "
            "the player's cell at the takeover."
        ),
        edge_cases="It does not matter how the player gets there. Passing the cell is not enough.",
        overlay=_mark_goal,
    ),
    controls=ControlPolicies(solver=make_mover(_walk), against_reward=True),
)
