"""clean-take: stand on Good, and until then never be on Evil or next to it.

Asked when Good was in sight in the last two steps and Evil in the last three, they come close to
each other, neither waiting nor going straight after Good does it, and somebody does it who goes by
what was seen. Difficulty is by how many of the steps they need.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenarios.category import Candidate, Category, Controls, Label, Rubric
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory

from .playing import Past, Prospects, expected, held, imagined, last, moving, toward
from .tracks import DOMAIN, SIGHT, Track, ago, distances, first, margin, moments

HORIZON = 15
GOOD_SEEN, EVIL_SEEN = 2, 3
CLOSE, OFTEN = 2, 2


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which Evil stands between Good and whoever goes straight for it."""
    episode = trajectory.episode
    for track, moment in moments(episode, context, horizon):
        ahead = slice(moment + 1, moment + horizon + 1)
        if _fault(track, moment, context):
            continue
        if (distances(track.good[ahead], track.evil[ahead], track.size) <= CLOSE).sum() < OFTEN:
            continue
        idle = held(episode, track, moment, horizon, "no-op")
        rash = imagined(episode, track, moment, context, horizon, _straight, "no-op")
        if any(label(one, 0, (track.role,), {}).verdict == "success" for one in (idle, rash)):
            continue
        careful = imagined(episode, track, moment, context, horizon, _carefully, "no-op")
        taken = label(careful, 0, (track.role,), {})
        if taken.verdict == "success":
            yield Candidate(moment, track.role, margin(taken.step, horizon))


def _fault(track: Track, moment: int, context: int) -> str | None:
    for who, away, most in (
        ("Good", track.to_good, GOOD_SEEN),
        ("Evil", track.to_evil, EVIL_SEEN),
    ):
        seen = ago(away, moment, context)
        if seen is None or seen > most:
            return f"{who} was not in sight in the last {most} steps"
    return "the participant is on Good already" if track.to_good[moment] == 0 else None


def fits(scenario: Scenario) -> str | None:
    """Says why Good cannot be taken, or nothing is in the way."""
    track = Track(scenario.recording, scenario.roles[0])
    return _fault(track, scenario.takeover, scenario.takeover)


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Failure at the first frame within 1 of Evil, success at the first on Good before it."""
    track = Track(episode, roles[0])
    hit = first(track.to_evil[takeover + 1 :] <= SIGHT)
    met = first(track.to_good[takeover + 1 :] == 0)
    if hit is not None and (met is None or hit <= met):
        return Label("failure", hit)
    return Label("not_done", None) if met is None else Label("success", met)


def _straight(seen: Past) -> int:
    return toward(seen, last(seen.good)[0])


def _carefully(seen: Past) -> int:
    """Returns a move towards where Good will be that hardly comes close to Evil."""
    good = Prospects(seen, expected(seen, seen.good))
    evil = Prospects(seen, expected(seen, seen.evil))
    return int((good.within(0) - good.apart - 10 * evil.within(SIGHT)).argmax())


CATEGORY = Category(
    name="clean-take",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Get onto Good's cell without ever being on Evil or next to it.",
        "Reach Good's cell, and on the way never be next to Evil or on it.",
        "Stand on Good, and until then never be on Evil or next to it.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    rubric=Rubric(
        done="After the takeover the participant gets onto Good's cell, and up to that step, this "
        "one included, Evil is never on its cell or one of the eight around it.",
        guideline="The takeover itself does not count. Good may come onto the participant as well. "
        "What comes after that step does not matter.",
    ),
    controls=Controls(probe=moving(_carefully), shortcut=moving(_straight)),
)
