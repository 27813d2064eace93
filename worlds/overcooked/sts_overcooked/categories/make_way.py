"""make-way: get out of the other cook's way.

Asked if the other cook has just tried in vain to step onto the cook's cell. Success is when the
other stands there; it must be the recorded person, who is known to come by. Easy if the recorded
cook left within three steps, medium within six, else hard.
"""

from collections.abc import Iterator
from typing import Any

from sts.plugin import Episode, Scenario, Trajectory
from sts_overcooked.constants import SIDES
from sts_scenarios.plugin import NOT_DONE, Candidate, Category, Label, Rubric, make_label

from .snapshots import CONTEXT, DOMAIN, PARTNER, Snapshot, hat_field, hat_names, replay_snapshots

HORIZON = 20
EASY_STEPS, MEDIUM_STEPS = 3, 6


def find_candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yield steps at which a cook blocks the other, who later comes by."""
    episode = trajectory.episode
    snapshots = replay_snapshots(episode)
    for step in range(context, len(snapshots) - horizon):
        for player in range(episode.n_players):
            if not _is_in_the_way(episode, snapshots, step, player):
                continue
            steps = _steps_until_passed(snapshots[step : step + horizon + 1], player)
            if steps is not None:
                difficulty = (
                    "easy" if steps <= EASY_STEPS else "medium" if steps <= MEDIUM_STEPS else "hard"
                )
                yield Candidate(step, player, difficulty, fields=hat_names(player))


def _is_in_the_way(
    episode: Episode, snapshots: tuple[Snapshot, ...], step: int, player: int
) -> bool:
    """Return True if the other cook has just tried in vain to step onto this cook's cell."""
    other = 1 - player
    move = int(episode.actions[step - 1, other])
    if move >= len(SIDES):
        return False
    (x, y), (dx, dy) = snapshots[step].position(other), SIDES[move]
    stood_still = snapshots[step - 1].position(other) == (x, y)
    return stood_still and (x + dx, y + dy) == snapshots[step].position(player)


def _steps_until_passed(after: tuple[Snapshot, ...], player: int) -> int | None:
    """Return the steps until the other cook stands where this one stood; None for never."""
    place = after[0].position(player)
    passed = (step for step in range(1, len(after)) if after[step].position(1 - player) == place)
    return next(passed, None)


def why_invalid(scenario: Scenario) -> str | None:
    """Return why no recorded person is blocked at the takeover; else None."""
    if scenario.partner != PARTNER:
        return "the partner is not the recorded person, who is known to come by"
    context = scenario.recording.slice_steps(scenario.recording.state, 0, scenario.context)
    blocked = _is_in_the_way(
        context, replay_snapshots(context), scenario.context, scenario.players[0]
    )
    return None if blocked else "the cook is not in the way of the other"


def label_make_way(
    episode: Episode, takeover: int, players: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Return success when the other cook first stands on the evaluated one's takeover cell."""
    steps = _steps_until_passed(replay_snapshots(episode)[takeover:], players[0])
    return NOT_DONE if steps is None else make_label(steps, True)


CATEGORY = Category(
    name="make-way",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    templates=(
        "You are in the way of the cook with the {other} hat: let them pass.",
        "Get out of the way of the cook with the {other} hat.",
        "Step aside, the cook with the {other} hat wants to come by.",
    ),
    candidates=find_candidates,
    label=label_make_way,
    why_invalid=why_invalid,
    template_fields=lambda scenario: hat_field(scenario.players[0]),
    context=CONTEXT,
    partner=PARTNER,
    rubric=Rubric(
        "After the takeover, the cook with the {other} hat steps onto the cell on which the judged "
        "cook stood at the takeover.",
        "Stepping aside is not enough: the other cook must step onto that cell. It does not matter "
        "where the judged cook goes, or whether it comes back later.",
        version="2",
    ),
)
