"""Hindsight instructions for open levels, kept if a solver can follow them from observations."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from sts.episodes import Episode
from sts.storage.files import content_hash
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts_scenarios.categories.tried import (
    Proposal,
    Task,
    difficulty_by_steps,
    encode_proposals,
    label_attempt,
    make_candidates,
    steps_needed,
    template_fields,
    why_not_proposed,
)
from sts_scenarios.category import Candidate, Category, Controls, Label, Rubric, Word
from sts_scenarios.replayed import environments

from .playing import LevelState, PolicyAgent, play_from
from .rooms import DOMAIN, make_labeller, replay_frames

if TYPE_CHECKING:
    from sts.worlds.babyai.environment import BabyAI

CONTEXT, STEPS_BETWEEN_MOMENTS = 12, 6
CACHE_SIZE = 1024
"""Cached attempts; mining asks for each half of a contrast pair separately."""
PROPOSALS_PER_MOMENT, MOMENTS_PER_EPISODE = 2, 2
"""Limits on the proposals tried at one step and on the candidate steps of one episode."""


def build_category(
    name: str,
    wordings: tuple[str, ...],
    deed: Task,
    *,
    horizon: int,
    rubric: Rubric,
    against_reward: bool = True,
) -> Category:
    """Return a category that asks for a task in an open level."""
    probe, shortcut = PolicyAgent(deed.probe), PolicyAgent(deed.shortcut)

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        """Yield candidates at regular steps of an open level, at most one proposal per step."""
        episode = trajectory.episode
        if trajectory.instructions or (start := _open_level_start(episode)) is None:
            return
        moves = "".join(map(str, episode.moves[:, 0]))
        mark = int(content_hash(trajectory.id.encode(), name.encode())[:8], 16)
        times = 0
        for moment in range(
            context + mark % STEPS_BETWEEN_MOMENTS,
            episode.steps - horizon + 1,
            STEPS_BETWEEN_MOMENTS,
        ):
            every = list(deed.propose(replay_frames(episode)[moment - context : moment + 1]))
            first = mark % len(every) if every else 0
            for asked in (every[first:] + every[:first])[:PROPOSALS_PER_MOMENT]:
                begun = start._replace(moves=start.moves + moves[:moment])
                steps = _tried(begun, (context, horizon), encode_proposals(asked))
                if steps is not None:
                    yield from make_candidates(
                        moment, 0, difficulty_by_steps(steps, horizon), asked
                    )
                    times += 1
                    break
            if times == MOMENTS_PER_EPISODE:
                return

    @functools.lru_cache(maxsize=CACHE_SIZE)
    def _tried(begun: LevelState, lengths: tuple[int, int], asked: bytes) -> int | None:
        """Return the steps the solver needs; None if it fails or the shortcut succeeds."""
        own = [(wordings[0].format(**words), parameters) for words, parameters in json.loads(asked)]

        def labels(agent: PolicyAgent) -> Iterator[Label]:
            for text, parameters in own:
                frames = play_from(begun, *lengths, text, agent)
                yield label_attempt(frames, functools.partial(deed.rule, parameters=parameters))

        return steps_needed(labels(probe), labels(shortcut), lengths[1])

    def _proposed(scenario: Scenario) -> list[Proposal]:
        frames = replay_frames(scenario.recording)[: scenario.takeover + 1]
        return [one for asked in deed.propose(frames) for one in asked]

    def fits(scenario: Scenario) -> str | None:
        """Return why the instruction cannot be given at the takeover; else None."""
        return why_not_proposed(scenario, _proposed(scenario))

    def words(scenario: Scenario) -> Mapping[str, Word]:
        """Return the template fields, each with its alternatives."""
        return template_fields(scenario, _proposed(scenario))

    return Category(
        name=f"babyai-{name}",
        kind="instruction",
        domain=DOMAIN,
        horizon=horizon,
        wordings=wordings,
        candidates=candidates,
        label=make_labeller(deed.rule),
        fits=fits,
        context=CONTEXT,
        words=words,
        rubric=rubric,
        controls=Controls(probe=probe, shortcut=shortcut, against_reward=against_reward),
    )


def _open_level_start(episode: Episode) -> LevelState | None:
    """Return the initial state of an episode; None if its level has a mission."""
    world = cast("BabyAI", next(environments(episode)))
    return LevelState(world.level, world.seed, world.moves_made) if world.open else None
