"""Training candidates as episodes from which a learner can learn to follow instructions."""

from typing import Any

from sts.domains import load_domain
from sts.errors import DamagedData, StsError
from sts.suites.drafts import Draft, get_draft_split
from sts.suites.suite import DONE_TAG, Scenario
from sts.trajectories.trajectory import Player, Trajectory, get_split


def load_training_trajectories(draft: Draft, edited: dict[str, str]) -> list[Trajectory]:
    """Return candidates of a training draft as trajectories with instruction and outcome.

    `edited` has the id of each with the `row_hash` of its edit, or "".

    Raises:
      StsError: the draft is of the test split, or a recording does not do what its candidate asks.
    """
    scenarios = draft.scenarios(edited)
    splits = {get_split(s.world, s.provenance) for s in scenarios}
    if "test" in {*splits, get_draft_split(draft)}:
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
    kinds, people = origin.get("kinds", ()), origin.get("recorded_by", ())
    if not len(kinds) == len(people) == episode.n_players:
        raise DamagedData(
            f"draft {draft.name}: the provenance of {scenario.id} does not list its players"
        )
    names = ("id", "category", "kind", "parameters", "difficulty")
    request: dict[str, Any] = {name: getattr(scenario, name) for name in names}
    request |= {"takeover": scenario.context, "roles": list(scenario.players)}
    about = {name: origin.get(name) for name in ("source", "fingerprint")}
    place = f"{scenario.id} from {scenario.trajectory} step {scenario.context_start}"
    return Trajectory(
        episode,
        tuple(Player(kind, name) for kind, name in zip(kinds, people, strict=True)),
        scenario.instructions,
        load_domain(episode.domain).world_id(episode.state),
        f"sts mine {draft.name} {place}",
        {"split": "train", "world": scenario.world, "asked": request} | about,
    )
