"""Data of candidates for the curation page: episode, properties and decisions."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

from sts.annotations.types import Annotator
from sts.domains import domain
from sts.engine.rendering import look
from sts.engine.replay import along
from sts.errors import StsError
from sts.suites.decisions import Decision, opinion_of
from sts.suites.types import Scenario
from sts.viewer.criteria import criterion
from sts.viewer.payload import encode_sprite, episode_payload
from sts.viewer.sprites import load_sprites
from sts_annotator_app.curation.drafts import OpenDraft, find_recorder
from sts_scenarios import categories
from sts_scenarios.category import Label
from sts_scenarios.curation import opinions
from sts_scenarios.fitting import fault
from sts_scenarios.freezing import Looked

_MAX_VIEWS = 512
"""Cached views of candidates."""
_LOG = logging.getLogger(__name__)


def describe_candidate(opened: OpenDraft, candidate: Looked) -> dict[str, Any]:
    """Return the current version of a candidate; `broken` is the error if it has no episode."""
    return _describe_cached(opened, candidate.summary.id, candidate.state.scenario)


@lru_cache(_MAX_VIEWS)
def _describe_cached(opened: OpenDraft, id: str, edited: str) -> dict[str, Any]:
    candidate = opened.candidates[id]
    view: dict[str, Any] = {"id": id, "mark": edited or candidate.summary.row_hash, "broken": ""}
    try:
        scenario = opened.scenario(id, edited)
        view |= describe_scenario(scenario, *label_recording(scenario)) | {
            "source": find_recorder(candidate)
        }
        view["episode"] = load_recording(opened, scenario)
    except StsError as error:
        _LOG.error("draft %s: %s: %s", opened.draft.name, id, error)
        view["broken"] = str(error)
    return view


def load_recording(opened: OpenDraft, scenario: Scenario) -> dict[str, Any]:
    """Return the payload of a scenario's context and the recording after it."""
    shown = episode_payload(
        opened.draft.workspace,
        scenario.recording,
        takeover=scenario.takeover,
        roles=scenario.roles,
        instructions=scenario.instructions,
    )
    return {**shown, "id": scenario.id}


def label_recording(scenario: Scenario) -> tuple[Label | None, str | None]:
    """Return the automatic label of the recording, and why the scenario is invalid, if it is."""
    rules = categories.ruling([scenario])
    if (rule := rules.get(scenario.category)) is None:
        return None, "its category is not installed here"
    label = rule.label(scenario.recording, scenario.takeover, scenario.roles, scenario.parameters)
    return label, fault(scenario, rules)


def describe_scenario(scenario: Scenario, label: Label | None, unfit: str | None) -> dict[str, Any]:
    """Return the properties of a scenario; `unfit` is why it is invalid, or None."""
    return {
        "instruction": scenario.instruction.text,
        "criterion": criterion(scenario),
        "category": scenario.category,
        "kind": scenario.kind,
        "difficulty": scenario.difficulty,
        "parameters": [[name, str(value)] for name, value in sorted(scenario.parameters.items())],
        "label": None if label is None else [label.verdict, label.step],
        "fault": unfit,
        "tags": list(scenario.tags),
        "takeover": scenario.context_start + scenario.takeover,
        "context": scenario.takeover,
        "horizon": scenario.horizon,
        "player": scenario.roles[0],
        "partner": scenario.partner,
        "pair": scenario.pair,
    }


def load_player_view(opened: OpenDraft, candidate: Looked) -> dict[str, Any]:
    """Return the evaluated player's view along the recording, as on the play page."""
    scenario = opened.scenario(candidate.summary.id, candidate.state.scenario)
    recording, role = scenario.recording, scenario.roles[0]
    world = domain(recording.domain)
    replay = along([recording], [scenario.id])
    view: dict[str, Any] = {"takeover": scenario.takeover, "frames": [], "session": scenario.id}
    if world.form(recording.state).kind == "frames":
        sheets = load_sprites(opened.draft.workspace, recording, role)
        shape = look(world.restore([recording.state]), recording.domain, role).shape
        view |= {
            "sprites": [encode_sprite(s) for s in sheets],
            "height": shape[0],
            "width": shape[1],
        }
    else:
        view["drawing"] = recording.domain
        view["frames"] = [world.sight(worlds, role) for worlds in replay]
    return view


def describe_state(candidate: Looked, person: Annotator, blind: bool) -> dict[str, Any]:
    """Return the decisions in force about a candidate, latest last.

    If blind is set, only the person's own second rating is included.
    """
    mine = opinion_of(candidate.state, person.id)
    own: dict[str, Any] = {"opinion": mine.detail["opinion"] if mine else "", "opinions": []}
    if blind:
        hidden = {"inherited": False, "last": "", "standing": []}
        return (
            {
                "id": candidate.summary.id,
                "mark": candidate.state.scenario or candidate.summary.row_hash,
            }
            | hidden
            | own
        )
    standing = [
        [d.uuid, d.kind, d.by, str(d.detail.get("reason", ""))] for d in candidate.state.standing
    ]
    return {
        **own,
        "opinions": [[name, word] for name, word in opinions(candidate.state, person).items()],
        "id": candidate.summary.id,
        "inherited": candidate.inherited,
        "last": candidate.state.last,
        "standing": standing,
        "mark": candidate.state.scenario or candidate.summary.row_hash,
    }


def format_log_line(decision: Decision) -> dict[str, Any]:
    """Return a decision as an entry of the changelog."""
    reason = decision.detail.get("reason") or ", ".join(decision.detail.get("changes", ()))
    return {
        "uuid": decision.uuid,
        "candidate": decision.candidate,
        "kind": decision.kind,
        "by": decision.by,
        "at": decision.at,
        "why": str(reason),
    }
