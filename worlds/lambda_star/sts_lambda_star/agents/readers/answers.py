"""Answers of a reader to questions."""

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Memory
from sts_lambda_star.agents.readers.forecasts import Forecast
from sts_lambda_star.agents.readers.grammar import ACTS, QUESTIONS, THINGS, Act
from sts_lambda_star.agents.readers.intents import Intents
from sts_lambda_star.agents.readers.sightings import NOWHERE
from sts_lambda_star.domain import Observation
from sts_lambda_star.kernels import Ints
from sts_lambda_star.state import MOVES, TOKENS
from sts_lambda_star.torus import TIE_BACK, first_move

_YES, _NO = TOKENS.index("yes"), TOKENS.index("no")
_ZERO, _MORE = TOKENS.index("0"), TOKENS.index("more")
_FIRST_DIRECTION = TOKENS.index(MOVES[0])
_UNKNOWN = -1
_PEOPLE = THINGS.index("people")


def guess_weights(intents: Intents) -> NDArray[np.float64]:
    """Return float64[B, 1, 22], equal weights over all tokens that can answer the question."""
    ways = [TOKENS.index(move) for move in MOVES]
    directions = [way for way in ways if TOKENS[way] != "stay"]
    numbers = list(range(_ZERO, _MORE + 1))
    kinds: dict[Act, list[int]] = {"seen": [_YES, _NO], "when": numbers, "count": numbers[:-1]}
    table = np.zeros((len(ACTS), len(TOKENS)))
    for act in QUESTIONS:
        table[ACTS.index(act), kinds.get(act, ways)] = 1.0
    out = table[intents.act]
    out[(intents.act == ACTS.index("where")) & (intents.anchor > 0)] = np.isin(
        np.arange(len(TOKENS)), directions
    )
    return out[:, None]


def answer_weights(
    intents: Intents, seen: Observation, memory: Memory, known: Forecast
) -> NDArray[np.float64]:
    """Return float64[B, R, 22], the answer to the question; a guess if it is unknown."""
    now = intents.select(memory["age"]) == 0
    crowd = (seen.team.astype(np.int64) + seen.others).sum(-1)
    age = intents.select(memory["age"])
    place = intents.select(known.path)[..., 0]
    anchor = intents.select(known.path, intents.anchor)[..., 0]
    start = np.where((intents.anchor > 0)[:, None], anchor, seen.cell)
    trace = intents.select(memory["trace"])
    by_act: dict[Act, Ints] = {
        "seen": np.where(now, _YES, _NO),
        "when": np.where((age < 0) | (age > 8), _MORE, _ZERO + age),
        "count": _ZERO + np.minimum(np.where((intents.thing == _PEOPLE)[:, None], crowd, now), 9),
        "where": _direction_token(seen, start, place),
        "was": _direction_token(seen, seen.cell, intents.select(memory["place"])),
        "last": _direction_token(seen, trace[..., -2], trace[..., -1]),
        "next": _next_move_token(intents, seen, known),
    }
    tokens = np.select(
        [intents.is_act(act) for act in by_act], list(by_act.values()), default=_UNKNOWN
    )
    sure = (tokens != _UNKNOWN)[..., None]
    return np.where(sure, np.eye(len(TOKENS))[np.maximum(tokens, 0)], guess_weights(intents))


def _direction_token(seen: Observation, start: Ints, goal: Ints) -> Ints:
    """Return the token of the direction from one cell to another; unknown if a cell is."""
    cells = np.maximum(start, 0), np.maximum(goal, 0)
    move = first_move(*cells, seen.height[:, None], seen.width[:, None], TIE_BACK)
    return np.where((start == NOWHERE) | (goal == NOWHERE), _UNKNOWN, _FIRST_DIRECTION + move)


def _next_move_token(intents: Intents, seen: Observation, known: Forecast) -> Ints:
    """Return the token of the thing's next move: by its period, else its most frequent move."""
    path, sure = intents.select(known.path), intents.select(known.confidence)
    often = _FIRST_DIRECTION + intents.select(known.move_probabilities).argmax(-1)
    expected = np.where(sure > 0, _direction_token(seen, path[..., 0], path[..., 1]), often)
    return np.where(path[..., 0] == NOWHERE, _UNKNOWN, expected)
