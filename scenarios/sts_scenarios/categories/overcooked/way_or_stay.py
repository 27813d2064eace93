"""way-or-stay: a pair, to be out of the other cook's way in time, or to stay in it.

Asked when the other is going to step onto the cook's place within some steps and does not push
against them yet; whoever stands still is bumped into. Easy: they come with the sixth step or later;
medium: the fourth or fifth; hard: the second or third.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts.worlds.overcooked.basics import SIDES, STAY
from sts_scenarios.categories.tried import NOT_DONE, Deed, Proposal, decided
from sts_scenarios.category import Label, Rubric

from .asking import Asked, category
from .moments import Moment
from .playing import FLOOR, Past

SOONEST, LATEST = 2, 8
EASY, MEDIUM = 6, 4
DEEDS = {
    "way": "let them pass over your place, and be gone before they push against you",
    "stay": f"stay on your place for {LATEST} steps in a row, whoever wants to pass",
}


def proposals(asked: Asked) -> Iterator[tuple[Proposal, ...]]:
    """Yield that the other will come by."""
    place = asked.now.at(asked.role)
    come = [n for n, one in enumerate(asked.ahead, 1) if one.at(1 - asked.role) == place]
    if come and SOONEST <= come[0] <= LATEST:
        yield tuple(
            Proposal({"asked": name, "moves": _ahead(asked)}, {"deed": text}, name, _haste(come[0]))
            for name, text in DEEDS.items()
        )


def _haste(steps: int) -> str:
    """Return the difficulty by how soon the other comes."""
    return "easy" if steps >= EASY else "medium" if steps >= MEDIUM else "hard"


def _ahead(asked: Asked) -> list[int]:
    """Return the moves that the other is going to make."""
    ahead = asked.moves[asked.moment : asked.moment + LATEST, 1 - asked.role]
    return [int(move) for move in ahead]


def rule(line: Sequence[Moment], role: int, parameters: Mapping[str, Any]) -> Label:
    """Of the way: failure at the first push, success once the other stands there.

    Of staying: failure at the first step on another place, success after LATEST steps.
    """
    place = line[0].at(role)
    if parameters["asked"] == "stay":
        left = next((n for n, one in enumerate(line) if one.at(role) != place), None)
        if left is not None and left <= LATEST:
            return decided(left, False)
        return decided(LATEST, True) if len(line) > LATEST else NOT_DONE
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
    """Stays, or steps to where it is farthest from the other's way, which goes on as it went."""
    if "stay on your place" in past.told:
        return STAY
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


CATEGORY = category(
    "way-or-stay",
    (
        "The cook with the {other} hat is coming: {deed}.",
        "You stand where the cook with the {other} hat wants to go: {deed}.",
        "As to the cook with the {other} hat: {deed}.",
    ),
    Deed(proposals, rule, probe, shortcut),
    horizon=12,
    rubric=Rubric(
        "As the cook with the {other} hat came, the cook did this: {deed}.",
        "One's place is where the cook stood at the takeover. To push is to try to step onto a "
        "place on which the other stands, and to stay where one is. Turning about is staying.",
    ),
)
