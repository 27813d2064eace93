"""Hindsight instructions for open levels, kept if a solver can follow them from observations."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from sts.plugin import Episode, Scenario, Trajectory, content_hash
from sts_scenarios.plugin import (
    Candidate,
    Category,
    ControlPolicies,
    Label,
    Proposal,
    Rubric,
    Task,
    difficulty_by_steps,
    encode_proposals,
    iter_environments,
    label_attempt,
    make_candidates,
    steps_needed,
    template_fields,
    why_not_proposed,
)

from .policies import LevelState, PolicyAgent, play_from
from .room_frames import DOMAIN, replay_frames

if TYPE_CHECKING:
    from sts_babyai.environment import BabyAI

CONTEXT, STEPS_BETWEEN_CANDIDATES = 12, 6
CACHE_SIZE = 1024
"""Cached attempts; mining asks for each half of a contrast pair separately."""
MAX_PROPOSALS_PER_STEP, MAX_STEPS_PER_EPISODE = 2, 2
"""Limits on the proposals tried at one step and on the candidate steps of one episode."""


def build_category(
    name: str,
    templates: tuple[str, ...],
    task: Task,
    *,
    earlier_templates: tuple[str, ...],
    horizon: int,
    rubric: Rubric,
    against_reward: bool = True,
) -> Category:
    """Return a category that asks for a task in an open level."""
    solver, shortcut = PolicyAgent(task.solver), PolicyAgent(task.shortcut)

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        """Yield candidates at regular steps of an open level, at most one proposal per step."""
        episode = trajectory.episode
        if trajectory.instructions or (start := _open_level_start(episode)) is None:
            return
        actions = "".join(map(str, episode.actions[:, 0]))
        offset = int(content_hash(trajectory.id.encode(), name.encode())[:8], 16)
        count = 0
        for step in range(
            context + offset % STEPS_BETWEEN_CANDIDATES,
            episode.steps - horizon + 1,
            STEPS_BETWEEN_CANDIDATES,
        ):
            proposals = list(task.propose(replay_frames(episode)[step - context : step + 1]))
            first = offset % len(proposals) if proposals else 0
            for pair in (proposals[first:] + proposals[:first])[:MAX_PROPOSALS_PER_STEP]:
                state = start._replace(moves_made=start.moves_made + actions[:step])
                steps = count_solver_steps(state, (context, horizon), encode_proposals(pair))
                if steps is not None:
                    yield from make_candidates(step, 0, difficulty_by_steps(steps, horizon), pair)
                    count += 1
                    break
            if count == MAX_STEPS_PER_EPISODE:
                return

    @functools.lru_cache(maxsize=CACHE_SIZE)
    def count_solver_steps(
        state: LevelState, lengths: tuple[int, int], encoded: bytes
    ) -> int | None:
        """Return the steps the solver needs; None if it fails or the shortcut succeeds."""
        requests = [
            (templates[0].format(**words), parameters) for words, parameters in json.loads(encoded)
        ]

        def labels(agent: PolicyAgent) -> Iterator[Label]:
            for text, parameters in requests:
                frames = play_from(state, *lengths, text, agent)
                yield label_attempt(frames, functools.partial(task.label, parameters=parameters))

        return steps_needed(labels(solver), labels(shortcut), lengths[1])

    def list_proposals(scenario: Scenario) -> list[Proposal]:
        frames = replay_frames(scenario.recording, 0, scenario.context + 1)
        return [proposal for pair in task.propose(frames) for proposal in pair]

    def why_invalid(scenario: Scenario) -> str | None:
        return why_not_proposed(scenario, list_proposals(scenario))

    def words(scenario: Scenario) -> Mapping[str, str]:
        return template_fields(scenario, list_proposals(scenario))

    def label(
        episode: Episode, takeover: int, players: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        return task.label(replay_frames(episode, takeover), parameters)

    return Category(
        name=f"babyai-{name}",
        kind="instruction",
        domain=DOMAIN,
        horizon=horizon,
        templates=templates,
        earlier_templates=earlier_templates,
        candidates=candidates,
        label=label,
        why_invalid=why_invalid,
        context=CONTEXT,
        template_fields=words,
        rubric=rubric,
        controls=ControlPolicies(solver=solver, shortcut=shortcut, against_reward=against_reward),
    )


def _open_level_start(episode: Episode) -> LevelState | None:
    """Return the initial state of an episode; None if its level has a mission."""
    world = cast("BabyAI", next(iter_environments(episode)))
    return LevelState(world.level, world.seed, world.moves_made) if world.open else None
