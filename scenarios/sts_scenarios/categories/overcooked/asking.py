"""What a cook can be asked beside a recorded person, and only where it can be done."""

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
"""Steps from one moment that is tried to the next."""
CACHE_SIZE = 4096
"""Attempts that are remembered: the two halves of a pair are looked for twice."""


class Request(NamedTuple):
    """Where something could be asked.

    Attributes:
      line: the moments of the recording.
      moves: int[T, 2] of it.
      moment: the takeover.
      role: who would be asked.
      horizon: L.
    """

    line: Sequence[Snapshot]
    moves: Any
    moment: int
    role: int
    horizon: int

    @property
    def now(self) -> Snapshot:
        """The takeover."""
        return self.line[self.moment]

    @property
    def ahead(self) -> Sequence[Snapshot]:
        """What was recorded after the takeover, as far as the horizon."""
        return self.line[self.moment + 1 : self.moment + self.horizon + 1]


def build_category(
    name: str, wordings: tuple[str, ...], deed: Task, *, horizon: int, rubric: Rubric
) -> Category:
    """Return the category that asks a cook for a deed beside the recorded person."""

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        """Yield what is asked, at moments some steps apart."""
        episode = trajectory.episode
        line = replay_snapshots(episode)
        for role in range(len(HATS)):
            moment = context
            while moment + horizon < len(line):
                every = list(deed.propose(Request(line, episode.moves, moment, role, horizon)))
                if every:
                    asked = every[moment % len(every)]
                    steps = _tried(
                        episode, moment, role, (context, horizon), encode_proposals(asked)
                    )
                    if steps is not None:
                        yield from make_candidates(
                            moment,
                            role,
                            difficulty_by_steps(steps, horizon),
                            asked,
                            hat_names(role),
                        )
                moment += STEPS_BETWEEN_MOMENTS if every else 1

    @functools.lru_cache(maxsize=CACHE_SIZE)
    def _tried(
        episode: Episode, moment: int, role: int, lengths: tuple[int, int], asked: bytes
    ) -> int | None:
        """Return how many steps the probe needs; None where it fails or the shortcut does it."""
        line, own = replay_snapshots(episode), json.loads(asked)

        def labels(policy: Policy) -> Iterator[Label]:
            for words, parameters in own:
                text = wordings[0].format(**words, **hat_names(role))
                what = play_from(episode, line, moment, lengths, role, text, policy)
                asked_of = functools.partial(deed.rule, role=role, parameters=parameters)
                yield label_attempt(what, asked_of)

        return steps_needed(labels(deed.probe), labels(deed.shortcut), lengths[1])

    def _proposed(scenario: Scenario) -> list[Proposal]:
        line, moves = replay_snapshots(scenario.recording), scenario.recording.moves
        place = Request(line, moves, scenario.takeover, scenario.roles[0], scenario.horizon)
        return [one for asked in deed.propose(place) for one in asked]

    def fits(scenario: Scenario) -> str | None:
        """Says why it cannot be asked at takeover."""
        if scenario.partner != PARTNER:
            return "only of the recorded person is it known what they will do"
        return why_not_proposed(scenario, _proposed(scenario))

    def words(scenario: Scenario) -> Mapping[str, Word]:
        """Return what the text must say, and what would say something else."""
        other = Word(hat_names(scenario.roles[0])["other"])
        return template_fields(scenario, _proposed(scenario)) | {"other": other}

    def label(
        episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        """The rule's word on what was done from the takeover on."""
        return deed.rule(replay_snapshots(episode)[takeover:], roles[0], parameters)

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
            probe=PolicyAgent(deed.probe), shortcut=PolicyAgent(deed.shortcut), against_reward=True
        ),
    )


def find_first_event(
    line: Sequence[Snapshot], role: int, deeds: Sequence[str]
) -> tuple[int, str, tuple[int, int]] | None:
    """Return when a cook first did one of some deeds, which, and where; None for never."""
    return next(
        (
            (n, deed, place)
            for n, one in enumerate(line)
            if n
            for who, deed, place in one.events
            if who == role and deed in deeds
        ),
        None,
    )
