"""ambush: stand still for some steps, and have Good come onto one's cell.

Asked when Good is in sight, two whole periods of its moves have been seen, it does not come to
whoever stays here, and somebody does it who foresees it to go on so, as it does until then. Easy:
they need five steps at most; medium: seven; hard: more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.suites.types import Scenario
from sts.worlds.lambda_star import torus
from sts_scenarios.categories.tried import NOT_DONE, decided
from sts_scenarios.category import Controls, Hits, Label, Rubric

from .abreast import Ints, Spots, Tracks
from .asking import Steps, instruction
from .playing import STAY, Past, chase_good, moving, repeated, rhythm, shifts, toward
from .prospects import periods
from .screening import hits, seen_moves
from .tracks import NONE, SIGHT, Track, distances, first

HORIZON = 15
STEPS = 3
ASKED = Steps(STEPS, spare=1)
SOON, LATER = 5, 7


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments at which Good's way can be foreseen and reached ahead of it."""
    spots = Spots.of(every, every.to_good == 1, context, horizon)
    spots = spots.where((spots.still(every.good) > 0).all(1))
    moves = seen_moves(spots, context)
    length, _ = periods(moves)
    known = length > 0
    spots, moves, length = spots.where(known), moves[known], length[known]
    cell, way = spots.now(every.good), []
    for step in range(HORIZON):
        place = context - length + step % np.maximum(length, 1)
        cell = every.moved(cell, np.take_along_axis(moves, place[:, None], 1)[:, 0])
        way.append(cell)
    foreseen, good = np.stack(way, 1), spots.ahead(every.good)
    path = _lain(spots, foreseen)
    met = first(every.apart(path[:, 1:], good) == 0)
    back = np.maximum(met[:, None] - np.arange(STEPS + 1), 0)
    stood = (np.take_along_axis(path, back, 1) == np.take_along_axis(path, met[:, None], 1)).all(1)
    whole = min(foreseen.shape[1], good.shape[1])
    other = first(foreseen[:, :whole] != good[:, :whole])
    done = (met >= STEPS) & stood & ((other == 0) | (other > met))
    met = met[done]
    return hits(spots.where(done), 1 * (met > SOON) + (met > LATER), ASKED.kinds)


def _lain(spots: Spots, way: Ints) -> Ints:
    """Return int[N, L + 1], the cells of who lies in wait on a way, as the probe does."""
    every, me = spots.every, spots.now(spots.every.me)
    stood, path = np.zeros(len(me), np.int32), [me]
    for now in range(spots.horizon):
        goal = np.full(len(me), NONE, np.int32)
        for step in range(1, way.shape[1] - now + 1):
            cell = way[:, now + step - 1]
            away = every.apart(me, cell)
            waits = np.where(away > 0, step - away, np.minimum(stood, now) + step)
            again = (way[:, now : now + step - 1] == cell[:, None]).any(1)
            goal = np.where((goal == NONE) & (waits >= STEPS) & ~again, cell, goal)
        move = np.where(goal == NONE, torus.STAY, every.toward(me, np.maximum(goal, 0)))
        stood = np.where(move == torus.STAY, stood + 1, 0)
        me = every.moved(me, move)
        path.append(me)
    return np.stack(path, 1)


def _way(seen: Past, steps: int) -> list[int]:
    """Return Good's cells from the frame after the instruction on, as it has moved until then."""
    moves = repeated(shifts(seen.good[: seen.asked + 1], seen.size))
    cells = [seen.good[seen.asked]]
    for n in range(steps if moves else 0):
        cells.append(
            int(torus.moved(cells[-1], (moves or [STAY])[n % len(moves or [0])], *seen.size))
        )
    return cells[1:]


def _lie(seen: Past) -> int:
    """Return the move to the cell of Good's way that can first be lain on for long enough."""
    now = len(seen.me) - 1 - seen.asked
    way = _way(seen, HORIZON)[now:]
    still = seen.me[::-1]
    stood = next((n for n, cell in enumerate(still) if cell != still[0]), len(still)) - 1
    for steps, cell in enumerate(way, 1):
        away = int(distances(seen.me[-1], cell, seen.size))
        waits = steps - away if away else min(stood, now) + steps
        if waits >= STEPS and cell not in way[: steps - 1]:
            return toward(seen, cell)
    return STAY


def _fault(own: Track, scenario: Scenario) -> str | None:
    if own.to_good[-1] > SIGHT:
        return "Good is not in sight at takeover"
    if own.to_good[-1] == 0:
        return "the participant is on Good already"
    return None if rhythm(own) else "Good's moves were not seen to repeat themselves"


def rule(own: Track, parameters: Mapping[str, Any]) -> Label:
    """The first frame after takeover on Good decides: success after enough steps on that cell."""
    met = int(first(own.to_good[1:] == 0))
    if not met:
        return NOT_DONE
    before = own.me[max(0, met - parameters["steps"]) : met + 1]
    return decided(met, met >= parameters["steps"] and bool((before == before[-1]).all()))


CATEGORY = instruction(
    "ambush",
    (
        "Ambush Good: stand still for at least {steps} steps, and let it come onto your cell while "
        "you stand there.",
        "Let Good come to you: it is to step onto your cell when you have stood still there for at "
        "least {steps} steps.",
        "Lie in wait for Good: have stood still for at least {steps} steps when it comes onto your "
        "cell, and never step onto it yourself.",
    ),
    find,
    rule,
    _fault,
    horizon=HORIZON,
    steps=ASKED,
    rubric=Rubric(
        done="The first time after the takeover that Good and the participant are on one cell, the "
        "participant has stood still there for {steps} steps or more, the one by which Good came "
        "included.",
        guideline="Steps before the takeover do not count as standing. If the two meet when the "
        "participant has moved within these steps, it is a failure, whoever stepped onto whom.",
    ),
    controls=Controls(probe=moving(_lie), shortcut=moving(chase_good), against_reward=True),
)
