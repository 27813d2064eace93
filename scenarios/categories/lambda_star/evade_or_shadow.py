"""evade-or-shadow: a pair, to keep away from Evil or to keep by it, from one and the same moment.

Asked when Evil was in sight in the last two steps, is at most two cells away and moves in at least
half of the steps; waiting does neither, at most three of the nine ways that can be held without
looking keep away, and somebody does either who goes by what was seen. Difficulty as `evade-evil`'s.
"""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.category import Candidate, Category, Controls, Rubric
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory

from . import avoid_evil, shadow_evil
from .either import Deed, both, label_of, listening, words_of
from .evade_evil import away, haste, sparing
from .follow_good import in_a_row
from .playing import last, moving, toward
from .tracks import DOMAIN, SIGHT, Track, ago, distances, moments

HORIZON = 12
STEPS = shadow_evil.STEPS
RECENT, AWAY, SPARED = 2, 2, 3
DEEDS = {
    "evade": Deed("never be on it or next to it until the end", avoid_evil.label, away, {}),
    "shadow": Deed(
        f"be on it or next to it for {STEPS} steps in a row",
        shadow_evil.label,
        lambda seen: toward(seen, last(seen.evil)[0]),
        {"steps": STEPS},
    ),
}


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields both halves at moments with Evil at hand."""
    episode = trajectory.episode
    for track, moment in moments(episode, context, horizon):
        ahead = track.evil[moment : moment + horizon + 1]
        if _fault(track, moment, context) or 2 * (ahead[1:] != ahead[:-1]).sum() < horizon:
            continue
        stands = distances(int(track.me[moment]), ahead[1:], track.size) <= SIGHT
        if not stands.any() or in_a_row(stands, STEPS).any():
            continue
        if sparing(track, moment, horizon) <= SPARED:
            difficulty = haste(track, moment, horizon)
            yield from both(DEEDS, episode, track, moment, (context, horizon), difficulty)


def _fault(track: Track, moment: int, context: int) -> str | None:
    if not 0 < track.to_evil[moment] <= AWAY:
        return f"Evil is not one to {AWAY} cells away"
    seen = ago(track.to_evil, moment, context)
    lately = seen is not None and seen <= RECENT
    return None if lately else f"Evil was not in sight in the last {RECENT} steps"


def fits(scenario: Scenario) -> str | None:
    """Says why neither can be asked at takeover."""
    if scenario.parameters["asked"] not in DEEDS:
        return "there is no such thing to ask for"
    track = Track(scenario.recording, scenario.roles[0])
    return _fault(track, scenario.takeover, scenario.takeover)


CATEGORY = Category(
    name="evade-or-shadow",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=("Mind Evil: {deed}.", "Evil is about: {deed}.", "As to Evil: {deed}."),
    candidates=candidates,
    label=label_of(DEEDS),
    fits=fits,
    words=words_of(DEEDS),
    rubric=Rubric(
        done="Of Evil, the participant did this after the takeover: {deed}.",
        guideline="The takeover itself does not count. Next to it is one of the eight cells around "
        "it, across the edges of the board. In a row is one step directly after the other.",
    ),
    controls=Controls(
        probe=moving(listening(DEEDS)),
        shortcut=moving(DEEDS["shadow"].policy),
        against_reward=True,
    ),
)
