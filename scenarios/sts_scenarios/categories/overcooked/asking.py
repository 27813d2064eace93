"""Instructions for a cook alongside a recorded person, kept if a solver can follow them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.overcooked.basics import HATS
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

from .moments import CONTEXT, DOMAIN, PARTNER, Snapshot, hat_names, replay_snapshots
from .playing import Policy, PolicyAgent, play_from

STEPS_BETWEEN_MOMENTS = 20
"""Steps from one tried candidate step to the next."""
CACHE_SIZE = 4096
"""Cached attempts; mining asks for each half of a contrast pair separately."""


class Request(NamedTuple):
    """Step of a recording at which a cook could be asked.

    Attributes:
      snapshots: the recording, T + 1.
      moves: int[T, 2], the recorded actions.
      moment: the takeover.
      role: the evaluated cook.
      horizon: L.
    """

    snapshots: Sequence[Snapshot]
    moves: Any
    moment: int
    role: int
    horizon: int

    @property
    def snapshot(self) -> Snapshot:
        """Snapshot at the takeover."""
        return self.snapshots[self.moment]

    @property
    def future(self) -> Sequence[Snapshot]:
        """Recorded snapshots after the takeover, up to the horizon."""
        return self.snapshots[self.moment + 1 : self.moment + self.horizon + 1]


def build_category(
    name: str, wordings: tuple[str, ...], task: Task, *, horizon: int, rubric: Rubric
) -> Category:
    """Return a category that asks a cook for a task alongside the recorded person."""

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        """Yield candidates at regular steps."""
        episode = trajectory.episode
        snapshots = replay_snapshots(episode)
        for role in range(len(HATS)):
            moment = context
            while moment + horizon < len(snapshots):
                proposals = list(
                    task.propose(Request(snapshots, episode.moves, moment, role, horizon))
                )
                if proposals:
                    pair = proposals[moment % len(proposals)]
                    steps = count_solver_steps(
                        episode, moment, role, (context, horizon), encode_proposals(pair)
                    )
                    if steps is not None:
                        yield from make_candidates(
                            moment,
                            role,
                            difficulty_by_steps(steps, horizon),
                            pair,
                            hat_names(role),
                        )
                moment += STEPS_BETWEEN_MOMENTS if proposals else 1

    @functools.lru_cache(maxsize=CACHE_SIZE)
    def count_solver_steps(
        episode: Episode, moment: int, role: int, lengths: tuple[int, int], encoded: bytes
    ) -> int | None:
        """Return the steps the solver needs; None if it fails or the shortcut succeeds."""
        snapshots, requests = replay_snapshots(episode), json.loads(encoded)

        def labels(policy: Policy) -> Iterator[Label]:
            for words, parameters in requests:
                text = wordings[0].format(**words, **hat_names(role))
                attempt = play_from(episode, snapshots, moment, lengths, role, text, policy)
                rule = functools.partial(task.rule, role=role, parameters=parameters)
                yield label_attempt(attempt, rule)

        return steps_needed(labels(task.probe), labels(task.shortcut), lengths[1])

    def list_proposals(scenario: Scenario) -> list[Proposal]:
        snapshots, moves = replay_snapshots(scenario.recording), scenario.recording.moves
        request = Request(snapshots, moves, scenario.takeover, scenario.roles[0], scenario.horizon)
        return [proposal for pair in task.propose(request) for proposal in pair]

    def fits(scenario: Scenario) -> str | None:
        """Return why it cannot be asked at the takeover; else None."""
        if scenario.partner != PARTNER:
            return "the partner is not the recorded person, whose actions are known"
        return why_not_proposed(scenario, list_proposals(scenario))

    def words(scenario: Scenario) -> Mapping[str, Word]:
        """Return the template fields, each with its alternatives."""
        other = Word(hat_names(scenario.roles[0])["other"])
        return template_fields(scenario, list_proposals(scenario)) | {"other": other}

    def label(
        episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        """Return the rule's label of the snapshots from the takeover on."""
        return task.rule(replay_snapshots(episode)[takeover:], roles[0], parameters)

    return Category(
        name=name,
        kind="instruction",
        domain=DOMAIN,
        horizon=horizon,
        wordings=wordings,
        candidates=candidates,
        label=label,
        fits=fits,
        context=CONTEXT,
        partner=PARTNER,
        words=words,
        rubric=rubric,
        controls=Controls(
            probe=PolicyAgent(task.probe), shortcut=PolicyAgent(task.shortcut), against_reward=True
        ),
    )


def find_first_event(
    snapshots: Sequence[Snapshot], role: int, kinds: Sequence[str]
) -> tuple[int, str, tuple[int, int]] | None:
    """Return the step, kind and place of a cook's first event of some kinds; None for none."""
    return next(
        (
            (n, kind, place)
            for n, snapshot in enumerate(snapshots)
            if n
            for cook, kind, place in snapshot.events
            if cook == role and kind in kinds
        ),
        None,
    )
