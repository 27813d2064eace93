"""ambush: stand still for some steps, and have Good come onto one's cell.

Asked when Good is in sight, two whole periods of its moves have been seen, it does not come to
whoever stays here, and somebody does it who foresees it to go on so, as it does until then. Easy:
they need five steps at most; medium: seven; hard: more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scenarios.category import Category, Controls, Hits, Label, Rubric, Word
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.worlds.lambda_star import torus

from . import abreast
from .abreast import NONE, Ints, Spots, Tracks, period
from .playing import STAY, Past, last, moving, repeated, rhythm, shifts, toward
from .screening import ask_for_steps, batched, fill_steps, hits, seen_moves
from .tracks import DOMAIN, SIGHT, Track, distances, first, number

HORIZON = 15
STEPS = 3
SOON, LATER = 5, 7


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments at which Good's way can be foreseen and reached ahead of it."""
    spots = Spots.of(every, every.to_good == 1, context, horizon)
    spots = spots.where((spots.still(every.good) > 0).all(1))
    moves = seen_moves(spots, context)
    length, _ = period(moves)
    known = length > 0
    spots, moves, length = spots.where(known), moves[known], length[known]
    cell, way = spots.now(every.good), []
    for step in range(HORIZON):
        place = context - length + step % np.maximum(length, 1)
        cell = every.moved(cell, np.take_along_axis(moves, place[:, None], 1)[:, 0])
        way.append(cell)
    foreseen, good = np.stack(way, 1), spots.ahead(every.good)
    path = _lain(spots, foreseen)
    met = abreast.first(every.apart(path[:, 1:], good) == 0)
    back = np.maximum(met[:, None] - np.arange(STEPS + 1), 0)
    stood = (np.take_along_axis(path, back, 1) == np.take_along_axis(path, met[:, None], 1)).all(1)
    whole = min(foreseen.shape[1], good.shape[1])
    other = abreast.first(foreseen[:, :whole] != good[:, :whole])
    done = (met >= STEPS) & stood & ((other == 0) | (other > met))
    met = met[done]
    return hits(spots.where(done), 1 * (met > SOON) + (met > LATER), ask_for_steps(STEPS))


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


MOMENTS = batched(find, fill_steps)


def _fault(track: Track, moment: int) -> str | None:
    if track.to_good[moment] > SIGHT:
        return "Good is not in sight at takeover"
    return "the participant is on Good already" if track.to_good[moment] == 0 else None


def fits(scenario: Scenario) -> str | None:
    """Says why Good cannot be lain in wait for at takeover."""
    if scenario.parameters["steps"] >= scenario.horizon:
        return "there are no more steps than are asked for"
    track, takeover = Track(scenario.recording, scenario.roles[0]), scenario.takeover
    if fault := _fault(track, takeover):
        return fault
    return (
        None
        if rhythm(track, takeover, takeover)
        else "Good's moves were not seen to repeat themselves"
    )


def words(scenario: Scenario) -> dict[str, Word]:
    """Returns the number of steps."""
    return {"steps": number(scenario.parameters["steps"], range(2, 11))}


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """The first frame after takeover on Good decides: success after enough steps on that cell."""
    track, steps = Track(episode, roles[0]), parameters["steps"]
    met = first(track.to_good[takeover + 1 :] == 0)
    if met is None:
        return Label("not_done", None)
    before = track.me[takeover + max(0, met - steps) : takeover + met + 1]
    stood = met >= steps and bool((before == before[-1]).all())
    return Label("success" if stood else "failure", met)


def _way(seen: Past, steps: int) -> list[int]:
    """Returns Good's cells from the frame after the instruction on, as it has moved until then."""
    moves = repeated(shifts(seen.good[: seen.asked + 1], seen.size))
    cells = [seen.good[seen.asked]]
    for n in range(steps if moves else 0):
        cells.append(
            int(torus.moved(cells[-1], (moves or [STAY])[n % len(moves or [0])], *seen.size))
        )
    return cells[1:]


def _lie(seen: Past) -> int:
    """Returns the move to the cell of Good's way that can first be lain on for long enough."""
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


def _chase(seen: Past) -> int:
    return toward(seen, last(seen.good)[0])


CATEGORY = Category(
    name="ambush",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Ambush Good: stand still for at least {steps} steps, and let it come onto your cell while "
        "you stand there.",
        "Let Good come to you: it is to step onto your cell when you have stood still there for at "
        "least {steps} steps.",
        "Lie in wait for Good: have stood still for at least {steps} steps when it comes onto your "
        "cell, and never step onto it yourself.",
    ),
    candidates=MOMENTS.candidates,
    screen=MOMENTS.screen,
    label=label,
    fits=fits,
    words=words,
    rubric=Rubric(
        done="The first time after the takeover that Good and the participant are on one cell, the "
        "participant has stood still there for {steps} steps or more, the one by which Good came "
        "included.",
        guideline="Steps before the takeover do not count as standing. If the two meet when the "
        "participant has moved within these steps, it is a failure, whoever stepped onto whom.",
    ),
    controls=Controls(probe=moving(_lie), shortcut=moving(_chase), against_reward=True),
)
