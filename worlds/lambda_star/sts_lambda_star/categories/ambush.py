"""ambush: stand still for some steps until Good steps onto the player's cell.

Asked if Good is in sight and two whole periods of its moves have been seen, it would not come to a
player that stands still, and a player that extrapolates its moves succeeds before they change.
Easy: within five steps; medium: within seven; hard: later.
"""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_lambda_star import torus
from sts_scenarios.plugin import (
    NOT_DONE,
    CandidateColumns,
    ControlPolicies,
    Label,
    Rubric,
    make_label,
)

from .batches import Ints, StepBatch, TrackBatch
from .builders import StepCount, build_instruction
from .motion_prediction import shortest_periods
from .policies import (
    STAY,
    History,
    chase_good,
    find_period,
    good_period,
    make_mover,
    move_towards,
    moves_between,
)
from .screening import good_moves_seen, make_hits
from .tracks import NONE, SIGHT, Track, distances, first_step

HORIZON = 15
STEPS = 3
STEP_COUNT = StepCount(STEPS, spare_steps=1)
EASY_STEPS, MEDIUM_STEPS = 5, 7


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps at which Good's path is predictable and can be reached ahead of it."""
    steps = StepBatch.select(batch, batch.to_good == 1, context, horizon)
    steps = steps.filter((steps.distance_if_still(batch.good) > 0).all(1))
    actions = good_moves_seen(steps, context)
    length, _ = shortest_periods(actions)
    periodic = length > 0
    steps, actions, length = steps.filter(periodic), actions[periodic], length[periodic]
    cell, way = steps.values_at(batch.good), []
    for step in range(HORIZON):
        place = context - length + step % np.maximum(length, 1)
        cell = batch.cell_after(cell, np.take_along_axis(actions, place[:, None], 1)[:, 0])
        way.append(cell)
    foreseen, good = np.stack(way, 1), steps.values_after(batch.good)
    path = _simulate_ambush(steps, foreseen)
    met_step = first_step(batch.distance(path[:, 1:], good) == 0)
    back = np.maximum(met_step[:, None] - np.arange(STEPS + 1), 0)
    stood = (
        np.take_along_axis(path, back, 1) == np.take_along_axis(path, met_step[:, None], 1)
    ).all(1)
    common = min(foreseen.shape[1], good.shape[1])
    deviation = first_step(foreseen[:, :common] != good[:, :common])
    done = (met_step >= STEPS) & stood & ((deviation == 0) | (deviation > met_step))
    met_step = met_step[done]
    return make_hits(
        steps.filter(done),
        1 * (met_step > EASY_STEPS) + (met_step > MEDIUM_STEPS),
        STEP_COUNT.kinds,
    )


def _simulate_ambush(steps: StepBatch, way: Ints) -> Ints:
    """Return int[N, L + 1], the player's cells if it lies in wait on a path as the solver does."""
    batch, me = steps.tracks, steps.values_at(steps.tracks.me)
    stood, path = np.zeros(len(me), np.int32), [me]
    for now in range(steps.horizon):
        goal = np.full(len(me), NONE, np.int32)
        for step in range(1, way.shape[1] - now + 1):
            cell = way[:, now + step - 1]
            distance = batch.distance(me, cell)
            waits = np.where(distance > 0, step - distance, np.minimum(stood, now) + step)
            revisited = (way[:, now : now + step - 1] == cell[:, None]).any(1)
            goal = np.where((goal == NONE) & (waits >= STEPS) & ~revisited, cell, goal)
        move = np.where(goal == NONE, torus.STAY, batch.move_towards(me, np.maximum(goal, 0)))
        stood = np.where(move == torus.STAY, stood + 1, 0)
        me = batch.cell_after(me, move)
        path.append(me)
    return np.stack(path, 1)


def _predict_good(history: History, steps: int) -> list[int]:
    """Return Good's predicted cells from the frame after the instruction on."""
    seen = history.good[: history.asked_frame + 1]
    period = find_period(moves_between(seen, history.size)) or []
    cells = [seen[-1]]
    for move in itertools.islice(itertools.cycle(period), steps):
        cells.append(int(torus.move_cell(cells[-1], move, *history.size)))
    return cells[1:]


def _lie_in_wait(history: History) -> int:
    """Return the move to the first cell of Good's path where the player can wait long enough."""
    now = len(history.me) - 1 - history.asked_frame
    way = _predict_good(history, HORIZON)[now:]
    positions = history.me[::-1]
    stood = (
        next((n for n, cell in enumerate(positions) if cell != positions[0]), len(positions)) - 1
    )
    for steps, cell in enumerate(way, 1):
        distance = int(distances(history.me[-1], cell, history.size))
        waits = steps - distance if distance else min(stood, now) + steps
        if waits >= STEPS and cell not in way[: steps - 1]:
            return move_towards(history, cell)
    return STAY


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    if track.to_good[-1] > SIGHT:
        return "Good is not in sight at the takeover"
    if track.to_good[-1] == 0:
        return "the player is already on Good"
    return None if good_period(track) else "Good's moves have not been seen to repeat"


def label_track(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Judge the first meeting with Good: success if the player had stood still long enough."""
    met = int(first_step(track.to_good[1:] == 0))
    if not met:
        return NOT_DONE
    before = track.me[max(0, met - parameters["steps"]) : met + 1]
    return make_label(met, met >= parameters["steps"] and bool((before == before[-1]).all()))


CATEGORY = build_instruction(
    "ambush",
    (
        "Stand still and let Good come to you. When it steps onto your cell, you must have stood "
        "still for at least {steps} steps.",
        "Wait for Good without moving. It must step onto your cell after you have stood still for "
        "at least {steps} steps.",
        "Ambush Good: stand still for at least {steps} steps until it steps onto your cell. Never "
        "step onto its cell yourself.",
    ),
    find_steps,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    steps=STEP_COUNT,
    earlier_templates=(
        "Ambush Good: stand still for at least {steps} steps, and let it come onto your cell while "
        "you stand there.",
        "Let Good come to you: it is to step onto your cell when you have stood still there for at "
        "least {steps} steps.",
        "Lie in wait for Good: have stood still for at least {steps} steps when it comes onto your "
        "cell, and never step onto it yourself.",
    ),
    rubric=Rubric(
        success_criterion=(
            "The first time that Good and the player are on the same cell after the takeover, the "
            "player has stood still for at least {steps} steps. The step in which Good comes "
            "counts as one of them."
        ),
        edge_cases=(
            "Steps before the takeover do not count. If the two meet and the player has moved "
            "within the last {steps} steps, it is a failure, no matter who moved last."
        ),
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_mover(_lie_in_wait), shortcut=make_mover(chase_good), against_reward=True
    ),
)
