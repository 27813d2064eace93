"""Category walk."""

import itertools
import re
from collections.abc import Mapping
from typing import Any

from sts.plugin import Episode, Scenario
from sts_lambda_star import torus
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import Overlay, Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import ActionCategory, GradedSteps
from .policies import STAY, History, move_towards
from .tracks import Grid, Track, track_until_takeover

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
_ASKED = re.compile(rf"(\d+) cells ({'|'.join(sorted(DIRECTIONS.values(), key=len)[::-1])})")


def _find_goal(start: int, direction: str, cells: int, size: Grid) -> int:
    """Return the cell that a walk leads to."""
    for _ in itertools.repeat(None, cells):
        start = int(torus.move_cell(start, MOVES.index(direction), *size))
    return start


def _mark_goal(scenario: Scenario) -> Overlay:
    track, parameters = track_until_takeover(scenario), scenario.parameters
    start = int(track.me[-1])
    return Overlay((_find_goal(start, parameters["direction"], parameters["cells"], track.size),))


class Walk(ActionCategory):
    """Go a number of cells in a direction, and be there at the end.

    Asked at every step, with the direction and the number by the player's cell and the step. Easy:
    two cells; medium: three; hard: four. An easy category: it needs no more than reading the
    direction and the number.
    """

    name = "walk"
    templates = (
        "Walk {cells} cells {direction} and stay on that cell until the end.",
        "Go {cells} cells {direction}. Be there at the end.",
        "Move {cells} cells {direction}, and then stop.",
    )
    horizon = 10
    rubric = Rubric(
        "At the end, the player is on the marked cell. It is {cells} cells {direction} from "
        "the player's cell at the takeover.",
        "It does not matter how the player gets there. Passing the cell is not enough.",
        overlay=_mark_goal,
    )
    kinds = tuple(
        (move, {"direction": move, "cells": cells}) for cells in CELLS for move in DIRECTIONS
    )

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find every step; the more cells, the harder."""
        steps = StepBatch.select(batch, batch.to_good >= 0, context, horizon)
        return steps, self.choose_kind(steps) // len(DIRECTIONS)

    def choose_kind(self, steps: StepBatch) -> Any:
        """Return the direction and number by the cell and the step."""
        return (steps.values_at(steps.tracks.me) + 5 * steps.step) % len(self.kinds)

    def template_fields(
        self, episode: Episode, player: int, parameters: Mapping[str, Any]
    ) -> dict[str, str]:
        """Return the template fields for the number of cells and the direction."""
        return {"cells": str(parameters["cells"]), "direction": DIRECTIONS[parameters["direction"]]}

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why there is no such walk; else None."""
        parameters = scenario.parameters
        if parameters["direction"] not in DIRECTIONS or parameters["cells"] not in CELLS:
            return "expected a direction, and two, three or four cells"
        return None if parameters["cells"] < scenario.horizon else "there are too few steps"

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return success at the end on the cell that the walk leads to; else not_done."""
        start = int(track.me[0])
        goal = _find_goal(start, parameters["direction"], parameters["cells"], track.size)
        return len(track.me) - 1 if track.me[-1] == goal else 0

    def solver(self, history: History) -> int:
        """Return the move to the cell that the instruction names."""
        if (asked := _ASKED.search(history.instruction.lower())) is None:
            return STAY
        direction = next(move for move, words in DIRECTIONS.items() if words == asked[2])
        start = history.me[history.asked_frame]
        return move_towards(history, _find_goal(start, direction, int(asked[1]), history.size))


CATEGORY = Walk().build()
