"""Data of candidates for the curation page: episode, properties and decisions."""

import logging
from functools import lru_cache
from typing import Any

from sts.annotations.records import Annotator
from sts.domains import load_domain
from sts.engine.rendering import render_frame
from sts.engine.replay import replay_worlds
from sts.errors import StsError
from sts.suites.decisions import Decision, find_rating
from sts.suites.suite import Scenario
from sts.viewer.criteria import find_criterion
from sts.viewer.payload import encode_sprite, episode_payload
from sts.viewer.sprites import load_sprites
from sts_annotator_app.curation.drafts import CachedDraft, find_recorder
from sts_scenarios.draft.curation import visible_ratings
from sts_scenarios.draft.freezing import DraftCandidate
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import NO_LABEL, Label
from sts_scenarios.rules.validity import UNCHECKED, find_fault, is_checked

_MAX_VIEWS = 512
"""Cached views of candidates."""
_LOG = logging.getLogger(__name__)


def describe_candidate(opened: CachedDraft, candidate: DraftCandidate) -> dict[str, Any]:
    """Return the current version of a candidate; `broken` is the error if it has no episode."""
    return _describe_cached(opened, candidate.summary.id, candidate.state.scenario)


@lru_cache(_MAX_VIEWS)
def _describe_cached(opened: CachedDraft, id: str, edited: str) -> dict[str, Any]:
    candidate = opened.candidates[id]
    view: dict[str, Any] = {"id": id, "mark": edited or candidate.summary.row_hash, "broken": ""}
    try:
        scenario = opened.scenario(id, edited)
        view |= describe_scenario(scenario, *label_recording(scenario))
        view["source"] = find_recorder(candidate)
        view["doubts"] = opened.doubts.get(id, "")
        view["episode"] = load_recording(opened, scenario)
    except StsError as error:
        _LOG.error("draft %s: %s: %s", opened.draft.name, id, error)
        view["broken"] = str(error)
    return view


def load_recording(opened: CachedDraft, scenario: Scenario) -> dict[str, Any]:
    """Return the payload of a scenario's context and the recording after it."""
    payload = episode_payload(
        opened.draft.workspace,
        scenario.recording,
        takeover=scenario.context,
        players=scenario.players,
        instructions=scenario.instructions,
    )
    return {**payload, "id": scenario.id}


def label_recording(scenario: Scenario) -> tuple[Label, str | None]:
    """Return the automatic label of the recording, and why the scenario is invalid, if it is."""
    by_name = categories.scenario_categories([scenario])
    if not is_checked(scenario, by_name):
        return NO_LABEL, None
    players, parameters = scenario.players, scenario.parameters
    label = by_name[scenario.category].label
    label_of_recording = label(scenario.recording, scenario.context, players, parameters)
    return label_of_recording, find_fault(scenario, by_name)


def describe_scenario(scenario: Scenario, label: Label, unfit: str | None) -> dict[str, Any]:
    """Return the properties of a scenario; `unfit` is why it is invalid, or None."""
    return {
        "instruction": scenario.instruction.text,
        "criterion": find_criterion(scenario),
        "own": {"criterion": scenario.criterion, "edge_cases": scenario.edge_cases},
        "category": scenario.category,
        "kind": scenario.kind,
        "difficulty": scenario.difficulty,
        "parameters": [[name, str(value)] for name, value in sorted(scenario.parameters.items())],
        "label": [label.verdict, label.step] if label.verdict else None,
        "unchecked": "" if label.verdict else UNCHECKED,
        "fault": unfit,
        "tags": list(scenario.tags),
        "takeover": scenario.step,
        "context": scenario.context,
        "horizon": scenario.horizon,
        "player": scenario.players[0],
        "partner": scenario.partner,
        "pair": scenario.pair,
        "dialogue": scenario.dialogue,
        "turn": scenario.turn,
    }


def load_player_view(opened: CachedDraft, candidate: DraftCandidate) -> dict[str, Any]:
    """Return the evaluated player's view along the recording, as in live sessions."""
    scenario = opened.scenario(candidate.summary.id, candidate.state.scenario)
    recording, player = scenario.recording, scenario.players[0]
    domain = load_domain(recording.domain)
    replay = replay_worlds([recording], [scenario.id])
    view: dict[str, Any] = {"takeover": scenario.context, "frames": [], "session": scenario.id}
    if domain.scene_format(recording.state).kind == "frames":
        sheets = load_sprites(opened.draft.workspace, recording, player)
        height, width, _ = render_frame(
            domain.restore([recording.state]), recording.domain, player
        ).shape
        view |= {"sprites": [*map(encode_sprite, sheets)], "height": height, "width": width}
    else:
        view["drawing"] = recording.domain
        view["frames"] = [domain.player_view(worlds, player) for worlds in replay]
    return view


def describe_state(candidate: DraftCandidate, person: Annotator, blind: bool) -> dict[str, Any]:
    """Return the decisions in force about a candidate, latest last.

    If blind is set, only the person's own second rating is included.
    """
    mine = find_rating(candidate.state, person.id)
    view: dict[str, Any] = {
        "id": candidate.summary.id,
        "mark": candidate.row_hash,
        "rating": mine.detail["rating"] if mine else "",
    }
    if blind:
        return view | {"ratings": [], "inherited": False, "last": "", "standing": []}
    standing = [
        [d.uuid, d.kind, d.by, str(d.detail.get("reason", ""))] for d in candidate.state.standing
    ]
    return view | {
        "ratings": [
            [name, word] for name, word in visible_ratings(candidate.state, person).items()
        ],
        "inherited": candidate.inherited,
        "last": candidate.state.last,
        "standing": standing,
    }


def format_log_line(decision: Decision) -> dict[str, Any]:
    """Return a decision as an entry of the changelog."""
    reason = decision.detail.get("reason") or ", ".join(decision.detail.get("changes", ()))
    names = ("uuid", "candidate", "kind", "by", "at")
    return {name: getattr(decision, name) for name in names} | {"why": str(reason)}
