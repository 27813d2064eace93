"""clear-way: be out of the other cook's way before they come.

Asked when the other is going to step onto the cook's place within some steps and does not push
against them yet; whoever stands still is bumped into.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from scenarios.category import Label, Rubric
from sts.worlds.overcooked.basics import SIDES, STAY

from .asking import NOT_DONE, Asked, Deed, Proposal, category, decided
from .moments import Moment
from .playing import FLOOR, Past

SOONEST, LATEST = 2, 8


def proposals(asked: Asked) -> Iterator[tuple[Proposal, ...]]:
    """Yields that the other will come by."""
    place = asked.now.at(asked.role)
    come = [n for n, one in enumerate(asked.ahead, 1) if one.at(1 - asked.role) == place]
    if come and SOONEST <= come[0] <= LATEST:
        yield (Proposal({"moves": _ahead(asked)}, {}),)


def _ahead(asked: Asked) -> list[int]:
    """Returns the moves that the other is going to make."""
    ahead = asked.moves[asked.moment : asked.moment + LATEST, 1 - asked.role]
    return [int(move) for move in ahead]


def rule(line: Sequence[Moment], role: int, parameters: Mapping[str, Any]) -> Label:
    """Failure where the other first pushes against the cook; success once they stand there."""
    place = line[0].at(role)
    for step, move in enumerate(parameters["moves"], 1):
        if step >= len(line):
            break
        before, now = line[step - 1], line[step]
        if now.at(1 - role) == place:
            return decided(step, True)
        if move < len(SIDES) and before.at(1 - role) == now.at(1 - role):
            (x, y), (right, down) = before.at(1 - role), SIDES[move]
            if (x + right, y + down) in (before.at(role), now.at(role)):
                return decided(step, False)
    return NOT_DONE


def probe(past: Past) -> int:
    """Steps to where it is farthest from the other's way, which goes on as it last went."""
    frame = past.frames[-1]
    (row, column), (there, across) = frame["me"][:2].tolist(), frame["partner"][:2].tolist()
    right, down = SIDES[int(frame["partner"][2])]
    way = [(there + n * down, across + n * right) for n in range(1, 4)]
    best, farthest = STAY, -1.0
    for move, (dx, dy) in enumerate((*SIDES, (0, 0))):
        cell = (row + dy, column + dx)
        if frame["tiles"][cell] != FLOOR or cell == (there, across):
            continue
        apart = abs(cell[0] - there) + abs(cell[1] - across) - 3.0 * (cell in way)
        apart -= 5.0 * (cell == _place_when_asked(past))
        if apart > farthest:
            best, farthest = move, apart
    return best


def _place_when_asked(past: Past) -> tuple[int, int]:
    row, column = past.frames[past.asked]["me"][:2].tolist()
    return row, column


def shortcut(past: Past) -> int:
    """Stands still."""
    return STAY


def _held(move: int, past: Past) -> int:
    return move


CATEGORY = category(
    "clear-way",
    (
        "The cook with the {other} hat is about to pass over your place: be gone before that.",
        "Clear the way for the cook with the {other} hat before they bump into you.",
        "Let the cook with the {other} hat pass over your place, without keeping them waiting.",
    ),
    Deed(
        proposals, rule, probe, shortcut, tuple(partial(_held, move) for move in range(len(SIDES)))
    ),
    horizon=12,
    rubric=Rubric(
        "The cook with the {other} hat comes to stand where the cook stood at the takeover, and "
        "did not push against the cook before.",
        "To push is to try to step onto a place on which the other stands, and to stay where one "
        "is.",
    ),
)
