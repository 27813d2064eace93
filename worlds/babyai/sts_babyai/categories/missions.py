"""Categories of BabyAI missions, one for each kind.

The mission is the instruction, known from the start. The automatic label is the verdict of its
verifier, read from the reward. A candidate step has an open mission that the package's bot would
complete within three quarters of the horizon: easy within a quarter, medium within a half, else
hard. Missions that name places relative to the start ("on your left") are excluded, because an
annotator does not see the start.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sts.plugin import DIFFICULTIES, Episode, Scenario, Trajectory
from sts_babyai.agents import missions
from sts_scenarios.plugin import (
    NOT_DONE,
    Candidate,
    Category,
    Label,
    Rubric,
    iter_environments,
    make_label,
)

from .bring import NEXT_TO
from .policies import LevelState
from .room_frames import DOMAIN

if TYPE_CHECKING:
    from sts_babyai.environment import BabyAI

MIN_BOT_STEPS = 2
"""Minimum number of steps that the bot must need."""


def build_category(
    kind: str, *, context: int, horizon: int, rubric: Rubric, whole: bool = False
) -> Category:
    """Return the category of one kind of missions, one of `missions.KINDS`.

    If `whole`, the context must start with the recording, so that an annotator sees which part of
    the mission is done.
    """

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        """Yield steps with an open mission, at every multiple of `context`."""
        if not any(_is_asked_kind(i.text, kind) for i in trajectory.instructions):
            return
        room = trajectory.episode.steps - horizon
        last = min(context, room) if whole else room
        for step, world in enumerate(_replay_worlds(trajectory.episode, last)):
            if step == 0 or step % context or world.ended:
                continue
            difficulty = _grade_difficulty(world, horizon)
            if difficulty is not None:
                words = {"mission": world.instruction()}
                yield Candidate(step, 0, difficulty, fields=words, said_at_start=True)

    def words(scenario: Scenario) -> dict[str, str]:
        world = next(_replay_worlds(scenario.recording, 0))
        return {"mission": world.instruction()}

    def why_invalid(scenario: Scenario) -> str | None:
        """Return why the mission cannot be asked for at the takeover; else None."""
        *_, world = _replay_worlds(scenario.recording, scenario.context)
        if world.ended:
            return "the mission has already ended"
        return (
            None
            if _is_asked_kind(world.instruction(), kind)
            else f"it is not a mission of kind {kind!r}"
        )

    return Category(
        name=f"babyai-{kind}",
        kind="instruction",
        domain=DOMAIN,
        horizon=horizon,
        templates=("{mission}",),
        candidates=candidates,
        label=label_mission,
        why_invalid=why_invalid,
        template_fields=words,
        context=context,
        rubric=rubric,
    )


def _is_asked_kind(mission: str, kind: str) -> bool:
    return missions.mission_kind(mission) == kind and not missions.is_relative(mission)


def _replay_worlds(episode: Episode, last: int) -> Iterator[BabyAI]:
    """Yield the environment before each step up to step `last`."""
    return cast("Iterator[BabyAI]", islice(iter_environments(episode), max(last + 1, 0)))


def _grade_difficulty(world: BabyAI, horizon: int) -> str | None:
    max_steps = 3 * horizon // 4
    needed = _bot_steps_needed(LevelState(world.level, world.seed, world.moves_made), max_steps)
    if needed is None or needed < MIN_BOT_STEPS:
        return None
    return DIFFICULTIES[min(-(-4 * needed // horizon), 3) - 1]


@functools.lru_cache(maxsize=1024)
def _bot_steps_needed(played: LevelState, max_steps: int) -> int | None:
    """Return how many actions the bot needs; None if more than `max_steps`."""
    from sts_babyai.agents.planning import find_solution  # needs the extra

    actions = find_solution(cast("BabyAI", played), max_steps)
    return None if actions is None else len(actions)


def label_mission(
    episode: Episode, takeover: int, players: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Return the verifier's first verdict, success or failure; not_done if there is none."""
    rewards = episode.rewards[takeover:, players[0]]
    nonzero = np.flatnonzero(rewards)
    if not nonzero.size:
        return NOT_DONE
    step = int(nonzero[0])
    return make_label(step + 1, bool(rewards[step] > 0))


ANY_MATCH_NOTE = "If several things fit the words, any of them counts."
GO_TO = build_category(
    "go-to",
    context=4,
    horizon=20,
    rubric=Rubric(
        "After the takeover, the triangle faces what it has to go to, from the cell next to it.",
        f"One step is enough, also in passing. {ANY_MATCH_NOTE}",
        version="2",
    ),
)
"""Face an object from the next cell, as in "go to the red ball"."""
OPEN = build_category(
    "open",
    context=4,
    horizon=20,
    rubric=Rubric(
        "After the takeover, the triangle opens the door that it has to open.",
        "An open door is a thin bar at the side of its cell. If it opens another door and nothing "
        f"moves afterwards, it is a failure. {ANY_MATCH_NOTE}",
        version="2",
    ),
)
"""Open a door, as in "open the yellow door"."""
PICK_UP = build_category(
    "pick-up",
    context=4,
    horizon=20,
    rubric=Rubric(
        "After the takeover, the triangle picks up what it has to pick up.",
        "The strip below the map shows what it carries. If it picks up another thing and nothing "
        "moves afterwards, it is a failure; otherwise that does not matter. "
        f"{ANY_MATCH_NOTE}",
        version="2",
    ),
)
"""Pick up an object, as in "pick up a grey key"."""
PUT_NEXT = build_category(
    "put-next",
    context=4,
    horizon=25,
    rubric=Rubric(
        "After the takeover, the triangle puts the thing that is named first down next to the one "
        "that is named second.",
        f"{NEXT_TO} A thing that the triangle still carries does not count. {ANY_MATCH_NOTE}",
        version="2",
    ),
)
"""Drop one object next to another, as in "put the box next to the key"."""
SEQUENCE = build_category(
    "sequence",
    context=8,
    horizon=30,
    whole=True,
    rubric=Rubric(
        "By the last step, the triangle has done everything, in the order that the words say. What "
        "it did before the takeover counts too.",
        '"A after you B" means first B, then A. "A and B" may be done in any order. Going to a '
        f"thing means facing it once, from the cell next to it. {ANY_MATCH_NOTE}",
        version="2",
    ),
)
"""Several things, as in "open the red door after you go to a key"."""
