"""hand-over: put something on a counter where the other cook can take it.

Asked about an onion or a dish, before a recorded person put one down that the other took soon
after. Only putting it within the other's reach is judged; taking it back does not count. Easy if
the cook already holds it; hard if the two reach different parts of the kitchen, so that not every
counter will do; else medium.
"""

from collections.abc import Iterator
from typing import Any

from sts.plugin import Episode, Scenario, Trajectory
from sts_scenarios.plugin import NOT_DONE, Candidate, Category, Label, Rubric, make_label

from .snapshots import (
    CONTEXT,
    DOMAIN,
    PARTNER,
    Place,
    Snapshot,
    hat_field,
    hat_names,
    reachable_places,
    replay_snapshots,
    snapshots_until_takeover,
)

HORIZON, MAX_LEAD, TAKEN_WITHIN = 50, 25, 60
THINGS = {"onion": "an onion", "dish": "a dish"}


def find_candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yield a step before each time that a cook put down something that the other then took."""
    snapshots = replay_snapshots(trajectory.episode)
    for put_step in range(context + 1, len(snapshots)):
        for cook, kind, place in snapshots[put_step].events:
            thing = kind.removesuffix("_drop")
            if thing not in THINGS or not kind.endswith("_drop"):
                continue
            if not _is_taken_by(
                snapshots[put_step + 1 : put_step + 1 + TAKEN_WITHIN], 1 - cook, thing, place
            ):
                continue
            step = put_step
            while step > max(context, put_step - MAX_LEAD) and not _why_invalid(
                snapshots[step - 1], cook, thing
            ):
                step -= 1
            if step < put_step and step + horizon < len(snapshots):
                fields = hat_names(cook) | {"a": THINGS[thing]}
                difficulty = _grade_difficulty(snapshots[step], cook, thing)
                yield Candidate(step, cook, difficulty, {"thing": thing}, fields, answer=thing)


def _is_taken_by(later: tuple[Snapshot, ...], cook: int, thing: str, place: Place) -> bool:
    """Return True if this cook, and not the other, is the first to take what lies there."""
    takers = (
        taker
        for snapshot in later
        for taker, *event in snapshot.events
        if event == [f"{thing}_pickup", place]
    )
    return next(takers, None) == cook


def _grade_difficulty(snapshot: Snapshot, player: int, thing: str) -> str:
    if snapshot.held_thing(player) == thing:
        return "easy"
    apart = reachable_places(snapshot, 0) != reachable_places(snapshot, 1)
    return "hard" if apart else "medium"


def _why_invalid(snapshot: Snapshot, player: int, thing: str) -> str | None:
    return None if snapshot.held_thing(player) in ("", thing) else "the cook holds another thing"


def why_invalid(scenario: Scenario) -> str | None:
    """Return why the cook cannot be asked for it at the takeover; else None."""
    return _why_invalid(
        snapshots_until_takeover(scenario)[-1], scenario.players[0], scenario.parameters["thing"]
    )


def words(scenario: Scenario) -> dict[str, str]:
    """Return the template fields for the thing and the other cook's hat."""
    return hat_field(scenario.players[0]) | {"a": THINGS[scenario.parameters["thing"]]}


def label_hand_over(
    episode: Episode, takeover: int, players: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Return success at the first step that puts such a thing within the other's reach for good."""
    player, thing = players[0], parameters["thing"]
    laid: dict[Place, int] = {}
    taken_steps: list[int] = []
    for step, snapshot in enumerate(replay_snapshots(episode)[takeover + 1 :], 1):
        for cook, kind, place in snapshot.events:
            if kind == f"{thing}_pickup" and place in laid:
                since = laid.pop(place)
                taken_steps += [since] if cook != player else []
            elif (cook, kind) == (player, f"{thing}_drop") and place in reachable_places(
                snapshot, 1 - player
            ):
                laid[place] = step
    handed = [*taken_steps, *laid.values()]
    return make_label(min(handed), True) if handed else NOT_DONE


CATEGORY = Category(
    name="hand-over",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    templates=(
        "Lay {a} on a counter where the cook with the {other} hat can take it.",
        "Hand over {a}: lay it on a counter that the cook with the {other} hat can reach.",
        "Give {a} to the cook with the {other} hat, by way of a counter.",
    ),
    candidates=find_candidates,
    label=label_hand_over,
    why_invalid=why_invalid,
    template_fields=words,
    context=CONTEXT,
    partner=PARTNER,
    rubric=Rubric(
        "After the takeover, the cook lays {a} on a counter that the cook with the {other} hat can "
        "reach, and leaves it there.",
        "It counts as soon as it lies there, whether or not the other cook takes it. If the cook "
        "takes it back before the other cook has it, it does not count. Other things do not count.",
        version="2",
    ),
)
