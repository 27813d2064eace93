"""shadow-evil: stay on Evil or next to it for some steps in a row while it moves.

Asked when Evil is in sight, moves in at least half of the steps and leaves whoever stands still.
Easy: in three of the first four steps it is still beside whoever stands; medium: in two; hard: in
fewer.
"""

from __future__ import annotations

from typing import Any

from scenarios.category import Category, Controls, Hits, Label, Rubric, Word
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.worlds.lambda_star.agents.local_search import LocalSearch

from . import abreast
from .abreast import Spots, Tracks
from .playing import Past, last, moving, toward
from .screening import ask_for_steps, batched, fill_steps, hits, leaving
from .tracks import DOMAIN, SIGHT, Track, in_a_row, number, once

HORIZON = 12
STEPS = 4


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments at which Evil is in sight and about to lead somewhere."""
    spots = Spots.of(every, every.to_evil <= SIGHT, context, horizon)
    spots = spots.where(spots.moves(every.evil))
    away = spots.still(every.evil)
    free = ~abreast.in_a_row(away <= SIGHT, STEPS)
    return hits(spots.where(free), leaving(away[free][:, :STEPS]), ask_for_steps(STEPS))


MOMENTS = batched(find, fill_steps)


def _fault(track: Track, moment: int) -> str | None:
    return None if track.to_evil[moment] <= SIGHT else "Evil is not in sight at takeover"


def fits(scenario: Scenario) -> str | None:
    """Says why Evil cannot be shadowed from takeover on."""
    if scenario.parameters["steps"] > scenario.horizon:
        return "there are fewer steps than are asked for"
    return _fault(Track(scenario.recording, scenario.roles[0]), scenario.takeover)


def words(scenario: Scenario) -> dict[str, Word]:
    """Returns the number of steps."""
    return {"steps": number(scenario.parameters["steps"], range(2, 11))}


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Success where enough frames in a row after takeover, all within 1 of Evil, first end."""
    close = Track(episode, roles[0]).to_evil[takeover + 1 :] <= 1
    return once(in_a_row(close, parameters["steps"]))


def _to_evil(seen: Past) -> int:
    return toward(seen, last(seen.evil)[0])


CATEGORY = Category(
    name="shadow-evil",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Shadow Evil: be on it or next to it for {steps} steps in a row.",
        "Stay close to Evil, on it or next to it, for {steps} steps in a row.",
        "For {steps} steps in a row, keep next to Evil or on it.",
    ),
    candidates=MOMENTS.candidates,
    screen=MOMENTS.screen,
    label=label,
    fits=fits,
    words=words,
    rubric=Rubric(
        done="After the takeover there are {steps} steps in a row, one directly after the other, "
        "at each of which the participant is on Evil's cell or one of the eight around it.",
        guideline="The takeover itself does not count. A single step farther away begins the "
        "count anew. What comes after {steps} such steps does not matter.",
    ),
    controls=Controls(probe=moving(_to_evil), shortcut=LocalSearch(), against_reward=True),
)
