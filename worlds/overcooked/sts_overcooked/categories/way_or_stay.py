"""Category way-or-stay."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_overcooked.constants import SIDES, STAY
from sts_scenarios.plugin import NOT_DONE, Label, Proposal, Rubric, make_label

from .kitchen_category import KitchenCategory, RequestContext
from .policies import FLOOR, History
from .snapshots import Snapshot

EARLIEST_STEP, LATEST_STEP = 2, 8
EASY_STEP, MEDIUM_STEP = 6, 4
OPTION_TEXTS = {
    "way": "let them pass over your place, and be gone before they push against you",
    "stay": f"stay on your place for {LATEST_STEP} steps in a row, whoever wants to pass",
}


class WayOrStay(KitchenCategory):
    """A contrast pair, to be out of the other cook's way in time, or to stay in it.

    Asked if the other cook is going to step onto the cook's cell within a few steps, and would push
    a cook that stands still. Easy: it comes with the sixth step or later; medium: with the fourth
    or fifth; hard: with the second or third.
    """

    name = "way-or-stay"
    templates = (
        "The cook with the {other} hat is coming: {deed}.",
        "You stand where the cook with the {other} hat wants to go: {deed}.",
        "As to the cook with the {other} hat: {deed}.",
    )
    horizon = 12
    rubric = Rubric(
        "After the takeover, when the cook with the {other} hat comes, the cook does what it was "
        "told: {deed}.",
        "The place is the cell on which the cook stood at the takeover. Pushing means trying to "
        "step onto the other cook's cell. Turning on the spot counts as staying.",
        version="2",
    )

    def propose(self, request: RequestContext) -> Iterator[tuple[Proposal, ...]]:
        """Yield both options if the other cook is going to come by."""
        place = request.snapshot.position(request.player)
        come = [
            n
            for n, snapshot in enumerate(request.future, 1)
            if snapshot.position(1 - request.player) == place
        ]
        if come and EARLIEST_STEP <= come[0] <= LATEST_STEP:
            yield tuple(
                Proposal(
                    {"asked": name, "moves": _partner_moves(request)},
                    {"deed": text},
                    name,
                    _grade_haste(come[0]),
                )
                for name, text in OPTION_TEXTS.items()
            )

    def label(
        self, snapshots: Sequence[Snapshot], player: int, parameters: Mapping[str, Any]
    ) -> Label:
        """Label one of the two options.

        Making way fails at the first push and succeeds once the other stands on the cook's cell.
        Staying fails at the first step onto another cell and succeeds after LATEST_STEP steps.
        """
        place = snapshots[0].position(player)
        if parameters["asked"] == "stay":
            positions = [snapshot.position(player) for snapshot in snapshots]
            leave_step = next((n for n, at in enumerate(positions) if at != place), None)
            if leave_step is not None and leave_step <= LATEST_STEP:
                return make_label(leave_step, False)
            return make_label(LATEST_STEP, True) if len(snapshots) > LATEST_STEP else NOT_DONE
        for step, move in enumerate(parameters["moves"], 1):
            if step >= len(snapshots):
                break
            before, now = snapshots[step - 1], snapshots[step]
            if now.position(1 - player) == place:
                return make_label(step, True)
            if move < len(SIDES) and before.position(1 - player) == now.position(1 - player):
                (x, y), (right, down) = before.position(1 - player), SIDES[move]
                if (x + right, y + down) in (before.position(player), now.position(player)):
                    return make_label(step, False)
        return NOT_DONE

    def solver(self, history: History) -> int:
        """Stay, or step to the cell farthest from the other cook and its extrapolated path."""
        if "stay on your place" in history.instruction:
            return STAY
        frame = history.frames[-1]
        (row, column), (other_row, other_column) = (
            frame["me"][:2].tolist(),
            frame["partner"][:2].tolist(),
        )
        right, down = SIDES[int(frame["partner"][2])]
        path = [(other_row + n * down, other_column + n * right) for n in range(1, 4)]
        best, farthest = STAY, -1.0
        for move, (dx, dy) in enumerate((*SIDES, (0, 0))):
            cell = (row + dy, column + dx)
            if frame["tiles"][cell] != FLOOR or cell == (other_row, other_column):
                continue
            distance = abs(cell[0] - other_row) + abs(cell[1] - other_column) - 3.0 * (cell in path)
            distance -= 5.0 * (cell == _place_when_asked(history))
            if distance > farthest:
                best, farthest = move, distance
        return best

    def shortcut(self, history: History) -> int:
        """Stand still."""
        return STAY


def _grade_haste(steps: int) -> str:
    """Return the difficulty, by how soon the other cook comes."""
    return "easy" if steps >= EASY_STEP else "medium" if steps >= MEDIUM_STEP else "hard"


def _partner_moves(request: RequestContext) -> list[int]:
    """Return the actions that the other cook is going to take."""
    ahead = request.actions[request.step : request.step + LATEST_STEP, 1 - request.player]
    return [int(move) for move in ahead]


def _place_when_asked(history: History) -> tuple[int, int]:
    row, column = history.frames[history.asked_frame]["me"][:2].tolist()
    return row, column


CATEGORY = WayOrStay().build()
