"""Candidates of the train side as episodes that a learner can learn to obey from."""

from __future__ import annotations

from typing import Any

from sts.domains import domain
from sts.errors import DamagedData, StsError
from sts.suites.drafts import Draft, side
from sts.suites.types import DONE, Scenario
from sts.trajectories.types import Participant, Trajectory, split


def trajectories(draft: Draft, edited: dict[str, str]) -> list[Trajectory]:
    """Return candidates of a draft as trajectories: context, what is asked, and what came of it.

    `edited` has of each the `row_hash` of what an edit made of it, or "".

    Raises:
      StsError: the draft is of the test side, by which agents are judged, or what one asks for is
        not done in its recording.
    """
    every = draft.scenarios(edited)
    if side(draft) == "test" or any(split(s.world, s.provenance) == "test" for s in every):
        raise StsError(
            f"draft {draft.name} is of the test side, by which agents are judged: expected one of "
            "sts mine NAME --split train"
        )
    for one in every:
        if DONE not in one.tags:
            raise StsError(
                f"draft {draft.name}: what {one.id} asks for is not done in its recording, so "
                "nobody learns from it to obey: reject it, or undo its edit"
            )
    return [_trajectory(draft, one) for one in every]


def _trajectory(draft: Draft, one: Scenario) -> Trajectory:
    """Return the recording of a scenario, whose instructions have the steps of their giving."""
    made, episode = one.provenance, one.recording
    kinds, names = made.get("kinds", ()), made.get("recorded_by", ())
    if not len(kinds) == len(names) == episode.participants:
        raise DamagedData(f"draft {draft.name}: {one.id} does not say who was recorded")
    asked: dict[str, Any] = {
        "id": one.id,
        "category": one.category,
        "kind": one.kind,
        "roles": list(one.roles),
        "takeover": one.takeover,
        "parameters": one.parameters,
        "difficulty": one.difficulty,
    }
    return Trajectory(
        episode,
        tuple(Participant(kind, name) for kind, name in zip(kinds, names, strict=True)),
        one.instructions,
        domain(episode.domain).world(episode.state),
        f"sts mine {draft.name} {one.id} from {one.trajectory} step {one.context_start}",
        {
            "split": "train",
            "world": one.world,
            "source": made.get("source"),
            "fingerprint": made.get("fingerprint"),
            "asked": asked,
        },
    )
