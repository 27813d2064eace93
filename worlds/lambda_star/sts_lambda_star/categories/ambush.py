"""Category ambush."""

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_lambda_star import torus
from sts_scenarios.plugin import Rubric

from .batches import Ints, Paths, StepBatch, TrackBatch
from .grid_category import ActionCategory, GradedSteps
from .motion_prediction import shortest_periods
from .policies import (
    STAY,
    History,
    chase_good,
    find_period,
    good_period,
    move_towards,
    moves_between,
)
from .screening import good_moves_seen
from .tracks import NONE, SIGHT, Track, distances, first_step, run_ends

HORIZON = 15
STEPS = 3
EASY_STEPS, MEDIUM_STEPS = 5, 7


class Ambush(ActionCategory):
    """Stand still for some steps until Good steps onto the player's cell.

    Asked if Good is in sight and two whole periods of its moves have been seen, it would not come
    to a player that stands still, and a player that extrapolates its moves succeeds before they
    change. Easy: within five steps; medium: within seven; hard: later.
    """

    name = "ambush"
    templates = (
        "Stand still and let Good come to you. When it steps onto your cell, you must have stood "
        "still for at least {steps} steps.",
        "Wait for Good without moving. It must step onto your cell after you have stood still for "
        "at least {steps} steps.",
        "Ambush Good: stand still for at least {steps} steps until it steps onto your cell. Never "
        "step onto its cell yourself.",
    )
    earlier_templates = (
        "Ambush Good: stand still for at least {steps} steps, and let it come onto your cell while "
        "you stand there.",
        "Let Good come to you: it is to step onto your cell when you have stood still there for at "
        "least {steps} steps.",
        "Lie in wait for Good: have stood still for at least {steps} steps when it comes onto your "
        "cell, and never step onto it yourself.",
    )
    horizon = HORIZON
    rubric = Rubric(
        "The first time that Good and the player are on the same cell after the takeover, the "
        "player has stood still for at least {steps} steps. The step in which Good comes "
        "counts as one of them.",
        "Steps before the takeover do not count. If the two meet and the player has moved "
        "within the last {steps} steps, it is a failure, no matter who moved last.",
        version="2",
    )
    steps = STEPS
    spare_steps = 1
    shortcut = staticmethod(chase_good)

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps at which Good's path is predictable and can be reached ahead of it."""
        steps = StepBatch.select(batch, batch.to_good == 1, context, horizon)
        steps = steps.filter((steps.distance_if_still(batch.good) > 0).all(1))
        actions = good_moves_seen(steps)
        length, _ = shortest_periods(actions)
        periodic = length > 0
        steps, actions, length = steps.filter(periodic), actions[periodic], length[periodic]
        cell, way = steps.values_at(batch.good), []
        for step in range(HORIZON):
            place = context - length + step % np.maximum(length, 1)
            cell = batch.cell_after(cell, np.take_along_axis(actions, place[:, None], 1)[:, 0])
            way.append(cell)
        foreseen, good = np.stack(way, 1), steps.values_after(batch.good)
        met_step = self.judge_steps(_simulate_ambush(steps, foreseen))
        common = min(foreseen.shape[1], good.shape[1])
        deviation = first_step(foreseen[:, :common] != good[:, :common])
        done = (met_step > 0) & ((deviation == 0) | (deviation > met_step))
        met_step = met_step[done]
        return steps.filter(done), 1 * (met_step > EASY_STEPS) + (met_step > MEDIUM_STEPS)

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why Good will not come by in a way that can be predicted; else None."""
        if track.to_good[-1] > SIGHT:
            return "Good is not in sight at the takeover"
        if track.to_good[-1] == 0:
            return "the player is already on Good"
        return None if good_period(track) else "Good's moves have not been seen to repeat"

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Judge the first meeting with Good: success if the player had stood still long enough."""
        on_good = track.to_good[..., 1:] == 0
        stood = run_ends(track.me[..., 1:] == track.me[..., :-1], parameters["steps"])
        met = first_step(on_good)
        return np.where(met == first_step(on_good & stood), met, -met)

    def solver(self, history: History) -> int:
        """Return the move to the first cell of Good's path where it can wait long enough."""
        now = len(history.me) - 1 - history.asked_frame
        way = np.array([_predict_good(history, HORIZON)[now:]], np.int64)
        me = history.me[-1]
        stood = next((n for n, cell in enumerate(history.me[::-1]) if cell != me), now + 1) - 1
        distance = functools.partial(distances, size=history.size)
        (goal,) = _find_goal(distance, np.array([me]), np.array([min(stood, now)]), way)
        return STAY if goal == NONE else move_towards(history, int(goal))


def _simulate_ambush(steps: StepBatch, way: Ints) -> Paths:
    """Return the tracks of a player that lies in wait on Good's predicted path, as the solver."""
    batch, me = steps.tracks, steps.values_at(steps.tracks.me)
    stood, path = np.zeros(len(me), np.int32), [me]
    for now in range(steps.horizon):
        goal = _find_goal(batch.distance, me, np.minimum(stood, now), way[:, now:])
        move = np.where(goal == NONE, torus.STAY, batch.move_towards(me, np.maximum(goal, 0)))
        stood = np.where(move == torus.STAY, stood + 1, 0)
        me = batch.cell_after(me, move)
        path.append(me)
    return steps.follow(np.stack(path, 1))


def _find_goal(distance: Callable[[Any, Any], Any], me: Any, stood: Any, way: Any) -> Any:
    """Return the first cell of each path where a player can wait long enough; NONE for none.

    `way` is [N, F], the cells of the next steps. `stood` is how long each player has stood still.
    """
    goal = np.full(len(me), NONE, np.int32)
    for step in range(1, way.shape[1] + 1):
        cell = way[:, step - 1]
        away = distance(me, cell)
        waits = np.where(away > 0, step - away, stood + step)
        revisited = (way[:, : step - 1] == cell[:, None]).any(1)
        goal = np.where((goal == NONE) & (waits >= STEPS) & ~revisited, cell, goal)
    return goal


def _predict_good(history: History, steps: int) -> list[int]:
    """Return Good's predicted cells from the frame after the instruction on."""
    seen = history.good[: history.asked_frame + 1]
    period = find_period(moves_between(seen, history.size)) or []
    cells = [seen[-1]]
    for move in itertools.islice(itertools.cycle(period), steps):
        cells.append(int(torus.move_cell(cells[-1], move, *history.size)))
    return cells[1:]


CATEGORY = Ambush().build()
