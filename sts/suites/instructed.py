"""Training candidates as episodes from which a learner can learn to follow instructions."""

from __future__ import annotations

from typing import Any

from sts.domains import domain
from sts.errors import DamagedData, StsError
from sts.suites.drafts import Draft, split_of_draft
from sts.suites.types import DONE_TAG, Scenario
from sts.trajectories.types import Participant, Trajectory, split_of


def trajectories(draft: Draft, edited: dict[str, str]) -> list[Trajectory]:
    """Return candidates of a training draft as trajectories with instruction and outcome.

    `edited` has the id of each with the `row_hash` of its edit, or "".

    Raises:
      StsError: the draft is of the test split, or a recording does not do what its candidate asks.
    """
    scenarios = draft.scenarios(edited)
    if split_of_draft(draft) == "test" or any(
        split_of(s.world, s.provenance) == "test" for s in scenarios
    ):
        raise StsError(
            f"draft {draft.name} is of the test split, on which agents are evaluated; export a "
            "draft of sts mine NAME --split train"
        )
    for scenario in scenarios:
        if DONE_TAG not in scenario.tags:
            raise StsError(
                f"draft {draft.name}: the recording of {scenario.id} does not do what it asks, "
                "so it cannot serve as a training episode; reject it, or undo its edit"
            )
    return [_trajectory(draft, scenario) for scenario in scenarios]


def _trajectory(draft: Draft, scenario: Scenario) -> Trajectory:
    """Return the recording of a scenario with its instructions at the steps they were given."""
    origin, episode = scenario.provenance, scenario.recording
    kinds, names = origin.get("kinds", ()), origin.get("recorded_by", ())
    if not len(kinds) == len(names) == episode.participants:
        raise DamagedData(
            f"draft {draft.name}: the provenance of {scenario.id} does not list its players"
        )
    asked: dict[str, Any] = {
        "id": scenario.id,
        "category": scenario.category,
        "kind": scenario.kind,
        "roles": list(scenario.roles),
        "takeover": scenario.takeover,
        "parameters": scenario.parameters,
        "difficulty": scenario.difficulty,
    }
    return Trajectory(
        episode,
        tuple(Participant(kind, name) for kind, name in zip(kinds, names, strict=True)),
        scenario.instructions,
        domain(episode.domain).world(episode.state),
        f"sts mine {draft.name} {scenario.id} from {scenario.trajectory} "
        f"step {scenario.context_start}",
        {
            "split": "train",
            "world": scenario.world,
            "source": origin.get("source"),
            "fingerprint": origin.get("fingerprint"),
            "asked": asked,
        },
    )
