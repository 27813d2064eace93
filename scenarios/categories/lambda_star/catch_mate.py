"""catch-mate: get onto the cell of a team-mate that runs away from whoever comes near.

The team-mate is a `fugitive` from takeover on, so that what it does depends on what is done: it
flees for two steps and rests for one, and stands still out of sight. Asked in teams of two, when it
was in sight in the last steps and is no farther than a cell from where it was then. Easy: it is one
cell away at takeover; medium: two, just out of sight; hard: three or four.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scenarios.category import Category, Controls, Hits, Label, Overlay, Rubric
from sts.episodes import Episode
from sts.suites.types import Scenario

from . import abreast, mates
from .abreast import Spots, Tracks
from .playing import STAY, Past, moving, toward
from .screening import batched, hits
from .tracks import DOMAIN, FIRST, SIGHT, Track, ago, distances, once

HORIZON = 10
PARTNER = "agent:fugitive"
FAR = 4


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments with the team-mate at hand, in teams of two."""
    if every.people != 2:
        return hits(Spots.of(every, np.zeros(every.me.shape, np.bool_), context, horizon), 0)
    mate = every.me.reshape(-1, 2, every.me.shape[1])[:, ::-1].reshape(every.me.shape)
    away = every.apart(every.me, mate)
    gone = abreast.ago(away)
    near = (gone <= min(mates.RECENT, context)) & (away > 0) & (away <= FAR)
    spots = Spots.of(every, near, context, horizon)
    was = spots.now(mate, -spots.now(gone))
    spots = spots.where(every.apart(spots.now(mate), was) <= SIGHT)
    kinds = [("", {"target": target}) for target in (1, 0)]  # by who is asked
    return hits(spots, np.minimum(spots.now(away), 3) - 1, kinds, spots.track % 2)


MOMENTS = batched(find, mates.fill)


def _fault(episode: Episode, track: Track, moment: int, context: int) -> str | None:
    """Return why the other of two participants cannot be caught; None if it can."""
    away = mates.apart_from(episode, track, 1 - track.role)
    if away[moment] == 0:
        return "the two share a cell already"
    if away[moment] > FAR:
        return f"the team-mate is more than {FAR} cells away"
    since = ago(away, moment, context)
    if since is None or since > mates.RECENT:
        return f"the team-mate was not in sight in the last {mates.RECENT} steps"
    mate = episode.scene[:, FIRST + 1 - track.role].astype("int64")
    if distances(mate[moment], mate[moment - since], track.size) > SIGHT:
        return "the team-mate is not near where it was last in sight"
    return None


def fits(scenario: Scenario) -> str | None:
    """Return why the team-mate cannot be caught; None if it can."""
    episode, role = scenario.recording, scenario.roles[0]
    if scenario.partner != PARTNER:
        return "the team-mate does not run away"
    if episode.participants != 2:
        return "there are others besides the team-mate"
    if scenario.parameters["target"] != 1 - role:
        return "there is no such team-mate"
    return _fault(episode, Track(episode, role), scenario.takeover, scenario.takeover)


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Return success at the first frame after takeover on the team-mate's cell; else not_done."""
    scene = episode.scene[takeover + 1 :]
    return once(scene[:, FIRST + roles[0]] == scene[:, FIRST + parameters["target"]])


def _catch(seen: Past) -> int:
    """Returns the move to where the team-mate is, or was last in sight."""
    cells = next((cells for cells in reversed(seen.others) if cells), None)
    return toward(seen, cells[0]) if cells else STAY


def _go_there(seen: Past) -> int:
    """Returns the move to where the team-mate was last in sight when it was asked for."""
    asked = seen.others[: seen.asked + 1]
    cells = next((cells for cells in reversed(asked) if cells), None)
    return toward(seen, cells[0]) if cells else STAY


def _marked(scenario: Scenario) -> Overlay:
    """Returns where the team-mate is at takeover."""
    place = scenario.recording.scene[scenario.takeover, FIRST + scenario.parameters["target"]]
    return Overlay((int(place),))


CATEGORY = Category(
    name="catch-mate",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Catch {mate}, who runs away from you: be on the same cell.",
        "Chase {mate} until you are both on one cell.",
        "Try to get onto the cell of {mate}, who steps away when you come near.",
    ),
    candidates=MOMENTS.candidates,
    screen=MOMENTS.screen,
    label=label,
    fits=fits,
    partner=PARTNER,
    words=mates.words,
    rubric=Rubric(
        done="At some step after the takeover the participant and {mate} are on the same cell.",
        guideline="Once is enough, and it does not matter who moved. Next to one another is not "
        "caught, nor is changing places with one step. The marked cell is where {mate} was at the "
        "takeover.",
        overlay=_marked,
    ),
    controls=Controls(probe=moving(_catch), shortcut=moving(_go_there), against_reward=True),
)
