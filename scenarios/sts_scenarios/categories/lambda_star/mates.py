"""Team-mates: what they are called, how far away they are, and which of them is in sight alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sts.domains import domain
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts_scenarios.category import Overlay, Word

from .playing import STAY, History, move_towards
from .tracks import DOMAIN, FIRST_PLAYER, Track, frames_since_sight

RECENT_STEPS = 3
"""For how many steps somebody in sight can be confused with another."""


def teammate_name(names: Sequence[str], target: int) -> str:
    """Return what wordings call a team-mate, by the names of all objects."""
    alone = len(names) == FIRST_PLAYER + 2
    return "your team-mate" if alone else f"participant {names[FIRST_PLAYER + target]}"


def template_fields(episode: Episode, role: int, parameters: Mapping[str, Any]) -> dict[str, Word]:
    """Return the team-mate; if it is the only one, the text may also call it any of these."""
    names = domain(DOMAIN).picture(episode.state).names
    others = [p for p in range(episode.participants) if p not in (parameters["target"], role)]
    also = ("team-mate", "teammate", "mate", "partner", "the other") if not others else ()
    also_others = tuple(teammate_name(names, p) for p in others)
    return {"mate": Word(teammate_name(names, parameters["target"]), also_others, also)}


def mark_teammate(scenario: Scenario) -> Overlay:
    """Return where the team-mate is at takeover, by which it is told from others."""
    place = scenario.recording.scene[
        scenario.takeover, FIRST_PLAYER + scenario.parameters["target"]
    ]
    return Overlay((int(place),))


def follow(seen: History) -> int:
    """Return the move to the other that is in sight, or where one was last."""
    cells = next((cells for cells in reversed(seen.others) if cells), None)
    return move_towards(seen, cells[0]) if cells else STAY


def why_ambiguous(own: Track, target: int) -> str | None:
    """Return why a team-mate can be confused with others; None if only it was in sight lately."""
    others = (p for p in range(own.scene.shape[1] - FIRST_PLAYER) if p != own.role)
    if [p for p in others if frames_since_sight(own.distance_to(p))[-1] <= RECENT_STEPS] != [
        target
    ]:
        return f"the team-mate is not the only one in sight in the last {RECENT_STEPS} steps"
    return None
