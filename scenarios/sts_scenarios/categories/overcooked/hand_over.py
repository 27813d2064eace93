"""hand-over: lay something on a counter where the other cook can take it.

Asked, of an onion or a dish, before a person laid one where the other took it soon after. What the
other then does is not judged: laying it within their reach is what was asked, and leaving it there:
what the cook takes back is not handed over. Easy where the cook holds it already; else medium, or
hard where the other stands in a part of the kitchen of their own, so that not every counter will
do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts_scenarios.category import Candidate, Category, Label, Rubric, Word

from .moments import (
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
    """Yield a moment before each time that a cook laid something that the other then took."""
    line = replay_snapshots(trajectory.episode)
    for step in range(context + 1, len(line)):
        for who, deed, place in line[step].events:
            thing = deed.removesuffix("_drop")
            if thing not in THINGS or not deed.endswith("_drop"):
                continue
            if not _is_taken_by(line[step + 1 : step + 1 + TAKEN_WITHIN], 1 - who, thing, place):
                continue
            moment = step
            while moment > max(context, step - MAX_LEAD) and not _why_invalid(
                line[moment - 1], who, thing
            ):
                moment -= 1
            if moment < step and moment + horizon < len(line):
                told = hat_names(who) | {"a": THINGS[thing]}
                how = _grade_difficulty(line[moment], who, thing)
                yield Candidate(moment, who, how, {"thing": thing}, told, answer=thing)


def _is_taken_by(later: tuple[Snapshot, ...], who: int, thing: str, place: Place) -> bool:
    """Says whether this cook, and not the other, is the first to take what lies there."""
    takers = (
        w for moment in later for w, *what in moment.events if what == [_pickup_event(thing), place]
    )
    return next(takers, None) == who


def _pickup_event(thing: str) -> str:
    return f"{thing}_pickup"


def _grade_difficulty(moment: Snapshot, role: int, thing: str) -> str:
    if moment.holds(role) == thing:
        return "easy"
    apart = reachable_places(moment, 0) != reachable_places(moment, 1)
    return "hard" if apart else "medium"


def _why_invalid(moment: Snapshot, role: int, thing: str) -> str | None:
    return None if moment.holds(role) in ("", thing) else "the cook holds something else"


def fits(scenario: Scenario) -> str | None:
    """Says why a cook cannot be asked for it at takeover."""
    return _why_invalid(
        snapshots_until_takeover(scenario)[-1], scenario.roles[0], scenario.parameters["thing"]
    )


def words(scenario: Scenario) -> dict[str, Word]:
    """Return the thing, and the other cook's hat."""
    asked = scenario.parameters["thing"]
    others = tuple(thing for thing in THINGS if thing != asked)
    return hat_field(scenario.roles[0]) | {"a": Word(THINGS[asked], others, (asked,))}


def label_hand_over(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Success when the judged cook lays such a thing where the other can take it, for good."""
    role, thing = roles[0], parameters["thing"]
    laid: dict[Place, int] = {}
    taken: list[int] = []
    for step, moment in enumerate(replay_snapshots(episode)[takeover + 1 :], 1):
        for who, deed, place in moment.events:
            if deed == _pickup_event(thing) and place in laid:
                since = laid.pop(place)
                taken += [since] if who != role else []
            elif (who, deed) == (role, f"{thing}_drop") and place in reachable_places(
                moment, 1 - role
            ):
                laid[place] = step
    handed = [*taken, *laid.values()]
    return Label("success", min(handed)) if handed else Label("not_done", None)


CATEGORY = Category(
    name="hand-over",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Lay {a} on a counter where the cook with the {other} hat can take it.",
        "Hand over {a}: lay it on a counter that the cook with the {other} hat can reach.",
        "Give {a} to the cook with the {other} hat, by way of a counter.",
    ),
    candidates=find_candidates,
    label=label_hand_over,
    fits=fits,
    words=words,
    context=CONTEXT,
    partner=PARTNER,
    rubric=Rubric(
        "The cook lays {a} on a counter that the cook with the {other} hat can reach, for good.",
        "It is done when it is laid there. Whether the other takes it is not asked, but what the "
        "cook takes back before the other has it was not handed over. Other things do not count.",
    ),
)
