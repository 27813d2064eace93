"""Instructions for a cook alongside a recorded person, kept if a solver can follow them."""

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sts.plugin import Episode, Scenario, Trajectory
from sts_overcooked.constants import HATS
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
    label_attempt,
    make_candidates,
    steps_needed,
    template_fields,
    why_not_proposed,
)

from .policies import Policy, PolicyAgent, play_from
from .snapshots import CONTEXT, DOMAIN, PARTNER, Snapshot, hat_field, hat_names, replay_snapshots

STEPS_BETWEEN_CANDIDATES = 20
"""Steps from one tried candidate step to the next."""
CACHE_SIZE = 4096
"""Cached attempts; mining asks for each half of a contrast pair separately."""


class RequestContext(NamedTuple):
    """Step of a recording at which a cook could be asked."""

    snapshots: Sequence[Snapshot]  # the recording, T + 1
    actions: Any  # int[T, 2], the recorded actions
    step: int  # the takeover
    player: int  # the evaluated cook
    horizon: int  # L

    @property
    def snapshot(self) -> Snapshot:
        """Snapshot at the takeover."""
        return self.snapshots[self.step]

    @property
    def future(self) -> Sequence[Snapshot]:
        """Recorded snapshots after the takeover, up to the horizon."""
        return self.snapshots[self.step + 1 : self.step + self.horizon + 1]


def build_category(
    name: str, templates: tuple[str, ...], task: Task, *, horizon: int, rubric: Rubric
) -> Category:
    """Return a category that asks a cook for a task alongside the recorded person."""

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        episode = trajectory.episode
        snapshots = replay_snapshots(episode)
        for player in range(len(HATS)):
            step = context
            while step + horizon < len(snapshots):
                proposals = list(
                    task.propose(RequestContext(snapshots, episode.actions, step, player, horizon))
                )
                if proposals:
                    pair = proposals[step % len(proposals)]
                    steps = count_solver_steps(
                        episode, step, player, (context, horizon), encode_proposals(pair)
                    )
                    if steps is not None:
                        yield from make_candidates(
                            step,
                            player,
                            difficulty_by_steps(steps, horizon),
                            pair,
                            hat_names(player),
                        )
                step += STEPS_BETWEEN_CANDIDATES if proposals else 1

    @functools.lru_cache(maxsize=CACHE_SIZE)
    def count_solver_steps(
        episode: Episode, step: int, player: int, lengths: tuple[int, int], encoded: bytes
    ) -> int | None:
        """Return the steps the solver needs; None if it fails or the shortcut succeeds."""
        snapshots, requests = replay_snapshots(episode), json.loads(encoded)

        def labels(policy: Policy) -> Iterator[Label]:
            for words, parameters in requests:
                text = templates[0].format(**words, **hat_names(player))
                attempt = play_from(episode, snapshots, step, lengths, player, text, policy)
                rule = functools.partial(task.label, player=player, parameters=parameters)
                yield label_attempt(attempt, rule)

        return steps_needed(labels(task.solver), labels(task.shortcut), lengths[1])

    def list_proposals(scenario: Scenario) -> list[Proposal]:
        snapshots, actions = replay_snapshots(scenario.recording), scenario.recording.actions
        request = RequestContext(
            snapshots, actions, scenario.context, scenario.players[0], scenario.horizon
        )
        return [proposal for pair in task.propose(request) for proposal in pair]

    def why_invalid(scenario: Scenario) -> str | None:
        if scenario.partner != PARTNER:
            return "the partner is not the recorded person, whose actions are known"
        return why_not_proposed(scenario, list_proposals(scenario))

    def words(scenario: Scenario) -> Mapping[str, str]:
        fields = template_fields(scenario, list_proposals(scenario))
        return fields | hat_field(scenario.players[0])

    def label(
        episode: Episode, takeover: int, players: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        return task.label(replay_snapshots(episode)[takeover:], players[0], parameters)

    return Category(
        name=name,
        kind="instruction",
        domain=DOMAIN,
        horizon=horizon,
        templates=templates,
        candidates=candidates,
        label=label,
        why_invalid=why_invalid,
        context=CONTEXT,
        partner=PARTNER,
        template_fields=words,
        rubric=rubric,
        controls=ControlPolicies(
            solver=PolicyAgent(task.solver),
            shortcut=PolicyAgent(task.shortcut),
            against_reward=True,
        ),
    )


def find_first_event(
    snapshots: Sequence[Snapshot], player: int, kinds: Sequence[str]
) -> tuple[int, str, tuple[int, int]] | None:
    """Return the step, kind and place of a cook's first event of some kinds; None for none."""
    return next(
        (
            (n, kind, place)
            for n, snapshot in enumerate(snapshots)
            if n
            for cook, kind, place in snapshot.events
            if cook == player and kind in kinds
        ),
        None,
    )
