"""BabyAI as its categories see it: one for each kind of mission, and all alike but for that.

The mission is the instruction, known from the start; its verifier, whose word is the reward, is the
automatic label. A moment makes sense while the mission is open, and when the package's bot would
fulfil it from there within three quarters of the steps: within a quarter it is easy, within a half
medium, else hard. Missions that speak of places as seen from the start ("on your left") are left
out, because a judge does not see the start.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from sts.episodes import Episode
from sts.suites.types import DIFFICULTIES, Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.babyai.agents import missions
from sts_scenarios.category import Candidate, Category, Label, Rubric
from sts_scenarios.replayed import environments

if TYPE_CHECKING:
    from sts.worlds.babyai.environment import BabyAI

DOMAIN = "babyai"
LEAST = 2
"""How many steps the bot must need at least."""
BY = 8
"""Steps that the bot is given at once: lengths that are near one another share what it finds."""


def category(
    kind: str, *, context: int, horizon: int, rubric: Rubric, whole: bool = False
) -> Category:
    """Return the category of missions of one kind, one of `missions.KINDS`.

    If `whole`, it asks only where the context is the recording from its start, so that a judge sees
    which part of the mission is done.
    """

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        """Yield moments with an open mission, every `context` steps."""
        if not any(_asked(i.text, kind) for i in trajectory.instructions):
            return
        room = trajectory.episode.steps - horizon
        last = min(context, room) if whole else room
        for moment, world in enumerate(_worlds(trajectory.episode, last)):
            if moment == 0 or moment % context or world.ended:
                continue
            difficulty = _difficulty(world, horizon)
            if difficulty is not None:
                words = {"mission": world.instruction()}
                yield Candidate(moment, 0, difficulty, words=words, said_at_start=True)

    def fits(scenario: Scenario) -> str | None:
        """Says why the instruction cannot be the mission, or why the mission is no longer open."""
        *_, world = _worlds(scenario.recording, scenario.takeover)
        if world.ended:
            return "the mission is over already"
        if world.instruction() != scenario.instruction.text:
            return f"the world's own mission is another: {world.instruction()}"
        return None if _asked(world.instruction(), kind) else f"it is no {kind} mission"

    return Category(
        name=f"babyai-{kind}",
        kind="instruction",
        domain=DOMAIN,
        horizon=horizon,
        wordings=("{mission}",),
        candidates=candidates,
        label=label,
        fits=fits,
        context=context,
        rubric=rubric,
    )


def _asked(mission: str, kind: str) -> bool:
    return missions.kind(mission) == kind and not missions.relative(mission)


def _worlds(episode: Episode, last: int) -> Iterator[BabyAI]:
    """Yield the world before each step up to step `last`."""
    return cast("Iterator[BabyAI]", islice(environments(episode), max(last + 1, 0)))


class _Played(NamedTuple):
    """What a world's future depends on."""

    level: str
    seed: int
    moves_made: str


def _difficulty(world: BabyAI, horizon: int) -> str | None:
    most = 3 * horizon // 4
    played = _Played(world.level, world.seed, world.moves_made)
    needed = _needed(played, -(-most // BY) * BY)
    if needed is None or not LEAST <= needed <= most:
        return None
    return DIFFICULTIES[min(-(-4 * needed // horizon), 3) - 1]


@functools.lru_cache(maxsize=1024)
def _needed(played: _Played, most: int) -> int | None:
    """Return how many moves the bot needs, None where it is more than `most`."""
    from sts.worlds.babyai.agents.planning import solution  # needs the extra

    found = solution(cast("BabyAI", played), most)
    return None if found is None else len(found)


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """The verifier's word, success or failure, when it is first heard; else not_done."""
    rewards = episode.rewards[takeover:, roles[0]]
    heard = np.flatnonzero(rewards)
    if not heard.size:
        return Label("not_done", None)
    step = int(heard[0])
    return Label("success" if rewards[step] > 0 else "failure", step + 1)


ANY = "Where several things fit the words, any of them counts."
GO_TO = category(
    "go-to",
    context=4,
    horizon=20,
    rubric=Rubric(
        "At some step after the takeover the triangle faces what it is to go to, from the cell "
        "next to it.",
        f"Once is enough, in passing too. {ANY}",
    ),
)
"""Stand before an object and face it, as in "go to the red ball"."""
OPEN = category(
    "open",
    context=4,
    horizon=20,
    rubric=Rubric(
        "After the takeover the triangle opens the door that is named.",
        "An open door is a thin bar at the side of its cell. Where another is opened and nothing "
        f"moves after it, the mission has failed. {ANY}",
    ),
)
"""Open a door, as in "open the yellow door"."""
PICK_UP = category(
    "pick-up",
    context=4,
    horizon=20,
    rubric=Rubric(
        "After the takeover the triangle takes up what is named, as the strip below the map shows.",
        "What it takes up otherwise does not matter, but where nothing moves after it the mission "
        f"has failed. {ANY}",
    ),
)
"""Take an object up, as in "pick up a grey key"."""
PUT_NEXT = category(
    "put-next",
    context=4,
    horizon=25,
    rubric=Rubric(
        "After the takeover the triangle lays what is named first side by side with what is named "
        "second.",
        f"Corner to corner is not next to it, and while it is carried it is not laid. {ANY}",
    ),
)
"""Carry one object beside another, as in "put the box next to the key"."""
SEQUENCE = category(
    "sequence",
    context=8,
    horizon=30,
    whole=True,
    rubric=Rubric(
        "By the end all of it is done in the order that the words say, what was done before the "
        "takeover included.",
        "After you do one thing means: that first. And says no order. To go to something is to "
        f"face it from the cell next to it, once. {ANY}",
    ),
)
"""Several things, as in "open the red door after you go to a key"."""
