"""Moves of a reader that carry out its instruction."""

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Memory
from sts_lambda_star.agents.readers.forecasts import (
    MOVES,
    Forecast,
    unknown_forecast,
    write_forecasts,
)
from sts_lambda_star.agents.readers.grammar import FAR, THINGS
from sts_lambda_star.agents.readers.intents import Intents
from sts_lambda_star.agents.readers.planning import Goals, Positions, lie_in_wait, plan_moves
from sts_lambda_star.agents.readers.sightings import NOWHERE, Sighting
from sts_lambda_star.agents.rule import sweep_move
from sts_lambda_star.domain import Observation
from sts_lambda_star.kernels import Ints
from sts_lambda_star.torus import STAY, move_cell

_FORECAST_STEPS = 15
_DEFAULT_WAIT = 1
_GOOD, _EVIL = THINGS.index("good"), THINGS.index("evil")


def forecast_things(seen: Observation, memory: Memory) -> Forecast:
    """Forecast Good, Evil, another player and Good's first cell: [B, R, 4, ...]."""
    batch, players, things, length = memory["trace"].shape
    out = unknown_forecast(batch * players * things, _FORECAST_STEPS)
    height, width = (np.repeat(a, players * things) for a in (seen.height, seen.width))
    write_forecasts(memory["trace"].reshape(-1, length), height, width, out)
    path, sure, chances = (a.reshape(batch, players, things, *a.shape[1:]) for a in out)
    still = np.broadcast_to(
        memory["first"][..., None, None], (batch, players, 1, _FORECAST_STEPS + 1)
    )
    return Forecast(
        np.concatenate((path, still), 2),
        np.concatenate((sure, np.ones((batch, players, 1))), 2),
        np.concatenate((chances, chances[:, :, :1]), 2),
    )


def choose_moves(
    intents: Intents, seen: Observation, shown: Sighting, memory: Memory, known: Forecast
) -> tuple[Ints, NDArray[np.bool_]]:
    """Return sets of equally good moves, int64[B, R], and bool[B, R], True for lost roles."""
    idle = intents.act == 0
    intents = intents._replace(
        thing=np.where(idle, _GOOD, intents.thing),
        high=np.where(idle, 0, intents.high),
        avoided=np.where(idle, _EVIL, intents.avoided),
    )
    players, shape = seen.cell.shape[1], seen.cell.shape
    seeking = intents.is_act("nothing", "keep") & (intents.high < FAR)[:, None]
    goal, lost = _forecast_goal(intents, seen, shown, memory, known, seeking)
    threat = _flatten(_select_forecast(intents, known, intents.avoided))
    wishes = Goals(
        *np.repeat(
            (intents.low, intents.high, intents.avoided, intents.alone, idle), players, axis=1
        )
    )
    crowd = seen.team.astype(np.int64) + seen.others
    height, width = np.repeat(seen.height, players), np.repeat(seen.width, players)
    places = Positions(seen.cell.ravel(), height, width, crowd.reshape(seen.cell.size, -1))
    planned, waiting = np.full((2, seen.cell.size), 1 << STAY, np.int64)
    plan_moves(places, wishes, goal, threat, planned)
    enough = np.repeat(np.where(intents.number > 0, intents.number, _DEFAULT_WAIT), players)
    lie_in_wait(places, memory["stood"].ravel(), enough, goal, waiting)
    active = intents.is_act("nothing", "keep") | (intents.is_act("hold") & memory["met"])
    return np.select(
        [intents.is_act("walk"), intents.is_act("ambush"), active],
        [1 << _walk_move(intents, memory), waiting.reshape(shape), planned.reshape(shape)],
        1 << STAY,
    ), lost


def _flatten(forecast: Forecast) -> Forecast:
    """Reshape a forecast of [B, R, ...] things to B * R things."""
    path, sure, chances = forecast
    return Forecast(path.reshape(-1, path.shape[-1]), sure.ravel(), chances.reshape(-1, MOVES))


def _select_forecast(intents: Intents, known: Forecast, thing: Ints) -> Forecast:
    """Select the forecast of each episode's thing, [B, R, ...], from [B, R, 4, ...]."""
    return Forecast(*(intents.select(a, thing) for a in known))


def _forecast_goal(
    intents: Intents,
    seen: Observation,
    shown: Sighting,
    memory: Memory,
    known: Forecast,
    seeking: NDArray[np.bool_],
) -> tuple[Forecast, NDArray[np.bool_]]:
    """Return the forecast of the instruction's thing, and bool[B, R], True for lost roles.

    A seeking role is lost if it has not seen the thing, or does not find it where forecast. It then
    heads for the cells of a sweep.
    """
    path, sure, chances = _select_forecast(intents, known, intents.thing)
    here = path[..., 0]
    in_sight = (shown.cells == here[..., None]).any(-1)
    missed = (
        in_sight & (intents.select(memory["age"]) != 0) & (intents.thing < len(THINGS) - 1)[:, None]
    )
    lost = seeking & (missed | (here == NOWHERE))
    size = seen.height[:, None], seen.width[:, None]
    sweep = move_cell(seen.cell, sweep_move(memory["searched"], seen), *size)
    path = np.where(lost[..., None], sweep[..., None], path)
    return _flatten(Forecast(path, np.where(lost, 1.0, sure), chances)), lost


def _walk_move(intents: Intents, memory: Memory) -> Ints:
    """Return the next move of a walk from the cell at which the instruction was given."""
    rows, columns = np.moveaxis(memory["gone"], -1, 0)
    down = intents.number * (intents.move // 3 - 1)
    right = intents.number * (intents.move % 3 - 1)
    move: Ints = 3 * np.sign(down[:, None] - rows) + np.sign(right[:, None] - columns) + STAY
    return move
