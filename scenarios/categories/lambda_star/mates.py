"""Team-mates: what they are called, how far away they are, and which of them is in sight alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.category import Word
from sts.domains import domain
from sts.episodes import Episode
from sts.suites.types import Scenario

from .tracks import DOMAIN, FIRST, Cells, Track, ago, distances

RECENT = 3
"""For how many steps somebody in sight can be confused with another."""


def called(names: Sequence[str], target: int) -> str:
    """Return what wordings call a team-mate, by the names of all objects."""
    alone = len(names) == FIRST + 2
    return "your team-mate" if alone else f"participant {names[FIRST + target]}"


def fill(episode: Episode, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the team-mate as wordings have it."""
    names = domain(DOMAIN).picture(episode.state).names
    return {"mate": called(names, parameters["target"])}


def words(scenario: Scenario) -> dict[str, Word]:
    """Return the team-mate; if it is the only one, the text may also call it any of these."""
    names = domain(DOMAIN).picture(scenario.recording.state).names
    target, people = scenario.parameters["target"], scenario.recording.participants
    others = [p for p in range(people) if p not in (target, *scenario.roles)]
    also = ("team-mate", "teammate", "mate", "partner", "the other") if not others else ()
    return {"mate": Word(called(names, target), tuple(called(names, p) for p in others), also)}


def apart_from(episode: Episode, track: Track, other: int) -> Any:
    """Return int64[T + 1], the distances to another participant."""
    return distances(track.me, episode.scene[:, FIRST + other].astype("int64"), track.size)


def crowd(apart: list[Cells], role: int, target: int, moment: int, context: int) -> str | None:
    """Return why a team-mate can be confused with others; None if only it was in sight lately."""
    seen = {p: ago(a, moment, context) for p, a in enumerate(apart) if p != role}
    lately = [p for p, when in seen.items() if when is not None and when <= RECENT]
    if lately != [target]:
        return f"the team-mate is not the only one in sight in the last {RECENT} steps"
    return None
