"""Teammates: names, template fields, marked cells and ambiguity."""

from collections.abc import Mapping, Sequence
from typing import Any

from sts.domains import load_domain
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts_scenarios.category import Overlay

from .policies import STAY, History, move_towards
from .tracks import DOMAIN, FIRST_PLAYER, Track, frames_since_sight

RECENT_STEPS = 3
"""Steps for which a player in sight can be confused with another."""


def teammate_name(names: Sequence[str], target: int) -> str:
    """Return the name of a teammate in instructions, given the names of all objects."""
    is_pair = len(names) == FIRST_PLAYER + 2
    return "your team-mate" if is_pair else f"participant {names[FIRST_PLAYER + target]}"


def template_fields(episode: Episode, player: int, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the template field for the teammate."""
    names = load_domain(DOMAIN).scene_layout(episode.state).names
    return {"mate": teammate_name(names, parameters["target"])}


def mark_teammate(scenario: Scenario) -> Overlay:
    """Return an overlay that marks the teammate's cell at the takeover."""
    place = scenario.recording.scene[
        scenario.takeover, FIRST_PLAYER + scenario.parameters["target"]
    ]
    return Overlay((int(place),))


def follow(history: History) -> int:
    """Return the move to a teammate in sight, or to where one was last seen."""
    cells = next((cells for cells in reversed(history.others) if cells), None)
    return move_towards(history, cells[0]) if cells else STAY


def why_ambiguous(track: Track, target: int) -> str | None:
    """Return why a teammate can be confused with others; None if only it was recently in sight."""
    others = (p for p in range(track.scene.shape[1] - FIRST_PLAYER) if p != track.player)
    if [p for p in others if frames_since_sight(track.distance_to(p))[-1] <= RECENT_STEPS] != [
        target
    ]:
        return f"the teammate is not the only player in sight in the last {RECENT_STEPS} steps"
    return None
