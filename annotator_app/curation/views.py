"""What the page is sent of a candidate: its scenes, what is derived of it, and its decisions."""

from __future__ import annotations

import logging
from typing import Any

from annotator_app.curation.drafts import Opened, recorder
from annotator_app.episodes import seen
from scenarios import categories
from scenarios.freezing import Looked
from sts.errors import StsError
from sts.suites.decisions import Decision
from sts.suites.types import Scenario

_HELD = 512
"""Candidates of a draft whose views are kept at hand."""
_LOG = logging.getLogger(__name__)


def candidate(opened: Opened, one: Looked) -> dict[str, Any]:
    """Returns a candidate as it is now, with its episode; `broken` where that cannot be shown."""
    key = (one.summary.id, one.state.scenario)
    found = opened.views.get(key)
    if found is None:
        while len(opened.views) >= _HELD:
            opened.views.pop(next(iter(opened.views)), None)
        found = opened.views[key] = _candidate(opened, one)
    return found


def _candidate(opened: Opened, one: Looked) -> dict[str, Any]:
    view: dict[str, Any] = {"id": one.summary.id, "mark": opened.mark(one), "broken": ""}
    try:
        scenario = opened.scenario(one.summary.id, one.state.scenario)
        view |= facts(scenario) | {"source": recorder(one)}
        view["episode"] = episode(opened, scenario)
    except StsError as error:
        _LOG.error("draft %s: %s: %s", opened.draft.name, one.summary.id, error)
        view["broken"] = str(error)
    return view


def episode(opened: Opened, scenario: Scenario) -> dict[str, Any]:
    """Returns the context of a scenario and the recording that followed it, for a page.

    Raises:
      StsError: it cannot be shown.
    """
    shown = seen(
        opened.draft.workspace,
        scenario.recording,
        takeover=scenario.takeover,
        roles=scenario.roles,
        instructions=scenario.instructions,
    )
    return {**shown, "id": scenario.id}


def facts(scenario: Scenario) -> dict[str, Any]:
    """Returns what is to be known of a scenario beside its scenes.

    Raises:
      StsError: its category fails.
    """
    rule = categories.ruling([scenario]).get(scenario.category)
    label = fault = None
    if rule is not None:
        label = rule.label(
            scenario.recording, scenario.takeover, scenario.roles, scenario.parameters
        )
        fault = rule.fits(scenario)
    return {
        "text": scenario.instruction.text,
        "category": scenario.category,
        "kind": scenario.kind,
        "difficulty": scenario.difficulty,
        "parameters": [[name, str(value)] for name, value in sorted(scenario.parameters.items())],
        "label": None if label is None else [label.verdict, label.step],
        "fault": fault if rule is not None else "its category is not installed here",
        "tags": list(scenario.tags),
        "moment": scenario.context_start + scenario.takeover,
        "context": scenario.takeover,
        "length": scenario.horizon,
        "role": scenario.roles[0],
        "partner": scenario.partner,
        "pair": scenario.pair,
    }


def state(one: Looked) -> dict[str, Any]:
    """Returns what was decided about a candidate, the standing decisions with the latest last."""
    standing = [[d.uuid, d.kind, d.by, str(d.detail.get("reason", ""))] for d in one.state.standing]
    return {
        "id": one.summary.id,
        "inherited": one.inherited,
        "last": one.state.last,
        "standing": standing,
        "mark": one.state.scenario or one.summary.row_hash,
    }


def line(one: Decision) -> dict[str, Any]:
    """Returns a decision as a line of the changelog."""
    reason = one.detail.get("reason") or ", ".join(one.detail.get("changes", ()))
    return {
        "uuid": one.uuid,
        "candidate": one.candidate,
        "kind": one.kind,
        "by": one.by,
        "at": one.at,
        "why": str(reason),
    }
