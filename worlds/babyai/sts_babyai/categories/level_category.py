"""Hindsight instructions for open levels, kept if a solver can follow them from observations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from sts.plugin import Episode, Scenario, Trajectory, content_hash
from sts_scenarios.plugin import Attempt, TaskCategory, iter_environments

from .policies import LevelState, PolicyAgent, play_from
from .room_frames import DOMAIN, Frame, replay_frames

if TYPE_CHECKING:
    from sts_babyai.environment import BabyAI

STEPS_BETWEEN_CANDIDATES = 6
MAX_PROPOSALS_PER_STEP = 2
"""Limit on the proposals tried at one step."""


class LevelCategory(TaskCategory):
    """Category of tasks in open levels; `propose` takes the frames up to the takeover."""

    domain = DOMAIN
    context = 12
    make_agent = PolicyAgent
    max_steps_per_episode = 2
    play = staticmethod(play_from)
    replay = staticmethod(replay_frames)

    def list_attempts(
        self, trajectory: Trajectory, context: int, horizon: int
    ) -> Iterator[Attempt]:
        """Yield regular steps of an open level, with a few proposals each."""
        episode = trajectory.episode
        if trajectory.instructions or (start := _open_level_start(episode)) is None:
            return
        actions = "".join(map(str, episode.actions[:, 0]))
        name = self.name.removeprefix("babyai-")
        offset = int(content_hash(trajectory.id.encode(), name.encode())[:8], 16)
        for step in range(
            context + offset % STEPS_BETWEEN_CANDIDATES,
            episode.steps - horizon + 1,
            STEPS_BETWEEN_CANDIDATES,
        ):
            proposals = list(self.propose(replay_frames(episode)[step - context : step + 1]))
            first = offset % len(proposals) if proposals else 0
            tried = (proposals[first:] + proposals[:first])[:MAX_PROPOSALS_PER_STEP]
            state = start._replace(moves_made=start.moves_made + actions[:step])
            yield Attempt(step, 0, state, tried)

    def read_request(self, scenario: Scenario) -> tuple[Frame, ...]:
        """Return the frames of a scenario's context, including the takeover."""
        return replay_frames(scenario.recording, 0, scenario.context + 1)


def _open_level_start(episode: Episode) -> LevelState | None:
    """Return the initial state of an episode; None if its level has a mission."""
    world = cast("BabyAI", next(iter_environments(episode)))
    return LevelState(world.level, world.seed, world.moves_made) if world.open else None
