"""join-teammate: stand on the cell of another participant, who stops at takeover.

Participants cannot tell one another apart by sight, so it is asked when only that one was in sight
in the last steps. Easy: it is one cell away at takeover; medium: two, just out of sight; hard:
three or four, so that it has to be looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenarios.category import Candidate, Category, Label, Word
from sts.domains import domain
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory

from .tracks import DOMAIN, FIRST, Cells, Track, ago, distances, moments, once

HORIZON = 10
RECENT = 3
FAR = 4


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments with one team-mate at hand."""
    episode = trajectory.episode
    names = domain(DOMAIN).picture(episode.state).names
    for track, moment in moments(episode, context, horizon):
        apart = [apart_from(episode, track, other) for other in range(episode.participants)]
        for target in range(episode.participants):
            if _fault(apart, track.role, target, moment, context):
                continue
            away = int(apart[target][moment])
            difficulty = ("easy", "medium", "hard")[min(away, 3) - 1]
            told = {"mate": called(names, target)}
            yield Candidate(moment, track.role, difficulty, {"target": target}, told)


def called(names: Sequence[str], target: int) -> str:
    """Returns what wordings call a team-mate, by the names of all objects."""
    alone = len(names) == FIRST + 2
    return "your team-mate" if alone else f"participant {names[FIRST + target]}"


def fill(episode: Episode, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the team-mate as wordings have it."""
    names = domain(DOMAIN).picture(episode.state).names
    return {"mate": called(names, parameters["target"])}


def words(scenario: Scenario) -> dict[str, Word]:
    """Returns the team-mate; where there is only one, the text may call it anything of these."""
    names = domain(DOMAIN).picture(scenario.recording.state).names
    target, people = scenario.parameters["target"], scenario.recording.participants
    others = [p for p in range(people) if p not in (target, *scenario.roles)]
    also = ("team-mate", "teammate", "mate", "partner", "the other") if not others else ()
    return {"mate": Word(called(names, target), tuple(called(names, p) for p in others), also)}


def apart_from(episode: Episode, track: Track, other: int) -> Any:
    """Returns int64[T + 1], the distances to another participant."""
    return distances(track.me, episode.scene[:, FIRST + other].astype("int64"), track.size)


def _fault(apart: list[Cells], role: int, target: int, moment: int, context: int) -> str | None:
    if target == role:
        return "a participant cannot join itself"
    if apart[target][moment] == 0:
        return "the two share a cell already"
    if apart[target][moment] > FAR:
        return f"the team-mate is more than {FAR} cells away"
    return crowd(apart, role, target, moment, context)


def crowd(apart: list[Cells], role: int, target: int, moment: int, context: int) -> str | None:
    """Says why a team-mate cannot be told from others by sight; None where it is the only one."""
    seen = {p: ago(a, moment, context) for p, a in enumerate(apart) if p != role}
    lately = [p for p, when in seen.items() if when is not None and when <= RECENT]
    if lately != [target]:
        return f"the team-mate is not the only one in sight in the last {RECENT} steps"
    return None


def fits(scenario: Scenario) -> str | None:
    """Says why the team-mate cannot be joined or told from the others."""
    episode, role = scenario.recording, scenario.roles[0]
    target = scenario.parameters["target"]
    if not 0 <= target < episode.participants:
        return "there is no such team-mate"
    track = Track(episode, role)
    apart = [apart_from(episode, track, other) for other in range(episode.participants)]
    return _fault(apart, role, target, scenario.takeover, scenario.takeover)


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Success at the first frame after takeover on the team-mate's cell; else not_done."""
    scene = episode.scene[takeover + 1 :]
    return once(scene[:, FIRST + roles[0]] == scene[:, FIRST + parameters["target"]])


CATEGORY = Category(
    name="join-teammate",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Join {mate} on the same cell.",
        "Go to {mate} and stand on the same cell.",
        "Stand with {mate}, both on one cell.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    words=words,
    superseded=True,
)
