"""where-is-good: say in which direction Good is at takeover.

Asked when Good is in sight. Easy: nothing else is, and the grid's edge does not come between;
medium: something else is in sight, or Good is across the edge; hard: both.
"""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.category import Candidate, Category, Overlay, Rubric
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory

from .tracks import DOMAIN, SIGHT, Track, across_edge, direction, distances, moments, said

HORIZON = 5


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields every moment with Good in sight."""
    episode = trajectory.episode
    for track, moment in moments(episode, context, horizon):
        if track.to_good[moment] > SIGHT:
            continue
        scene = episode.scene[moment].astype("int64")
        near = int((distances(scene, int(track.me[moment]), track.size) <= SIGHT).sum())
        crowded = near > 2
        across = across_edge(track.size, int(track.me[moment]), int(track.good[moment]))
        answer = direction(track, moment)
        yield Candidate(
            moment,
            track.role,
            ("easy", "medium", "hard")[crowded + across],
            {"answer": answer},
            answer=answer,
        )


def fits(scenario: Scenario) -> str | None:
    """Says why there is no such answer at takeover."""
    track = Track(scenario.recording, scenario.roles[0])
    if track.to_good[scenario.takeover] > SIGHT:
        return "Good is not in sight at takeover"
    truth = direction(track, scenario.takeover)
    return None if scenario.parameters["answer"] == truth else f"the answer is {truth}"


CATEGORY = Category(
    name="where-is-good",
    kind="question",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "In which direction is Good from you? Say stay if you are on it.",
        "Where is Good, seen from your cell? Answer with a direction, or stay if you are on it.",
        "Which way is Good right now? If you stand on it, say stay.",
    ),
    candidates=candidates,
    label=said,
    fits=fits,
    rubric=Rubric(
        done="The first word that the participant says is the direction in which Good was from it "
        "at the takeover, or stay where Good was on its cell.",
        guideline="Where Good goes after the takeover does not matter. Across the edge of the "
        "board it is still next to the participant. Silence is not done.",
        overlay=lambda scenario: Overlay(sight=True),
    ),
    superseded=True,
)
