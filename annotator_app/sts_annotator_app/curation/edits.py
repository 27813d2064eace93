"""Previews of edits on the curation page."""

import contextlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sts import agents
from sts.domains import load_domain
from sts.episodes import Instruction
from sts.errors import StsError
from sts.viewer.payload import episode_payload
from sts_annotator_app.curation import views
from sts_annotator_app.curation.drafts import CachedDraft
from sts_scenarios.draft.editing import Editor, describe_partner
from sts_scenarios.rules import categories


def preview_edit(opened: CachedDraft, sent: object) -> dict[str, Any] | None:
    """Return the preview of an edit that a page requests; None without a request.

    A page sends `candidate`, `changes` and a `number`, which is returned; `whole` requests the
    whole trajectory as well. Invalid changes are reported under `error`.
    """
    if not isinstance(sent, Mapping):
        return None
    number, id = sent.get("number"), sent.get("candidate")
    out: dict[str, Any] = {"number": number if type(number) is int else 0, "candidate": str(id)}
    try:
        candidate = opened.find_candidate(id)
        with opened.editing:
            editor = opened.editor(candidate.summary.id, candidate.state.scenario)
            out["mark"] = candidate.row_hash
            if sent.get("whole") is True:
                out["whole"] = _load_trajectory(opened, editor)
            changes = sent.get("changes")
            out["steps"] = editor.find_steps(changes)
            edited = editor.preview(changes)
        out["notice"] = describe_partner(edited.scenario.partner)
        out["facts"] = views.describe_scenario(edited.scenario, edited.label, edited.fault)
        out["changes"] = [
            [name, _format_value(old), _format_value(new)]
            for name, (old, new) in edited.changes.items()
        ]
        out["templates"] = list(editor.category(edited.scenario.category).templates)
    except StsError as error:
        out["error"] = str(error)
    return out


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {item}" for name, item in sorted(value.items())) or "none"
    return str(value)


def _load_trajectory(opened: CachedDraft, editor: Editor) -> dict[str, Any]:
    """Return the whole trajectory of a candidate, with the available players and categories."""
    before, trajectory = editor.before, editor.trajectory
    instruction = Instruction(before.instruction.text, before.category, before.step, "curator")
    payload = episode_payload(
        opened.draft.workspace,
        trajectory.episode,
        takeover=before.step,
        players=before.players,
        instructions=[instruction],
    )
    world = trajectory.episode.domain
    picture = load_domain(world).scene_layout(trajectory.episode.state)
    return {
        "episode": {**payload, "id": before.id},
        "players": [picture.names[index] for index in picture.players],
        "objects": list(picture.players),
        "categories": [category.name for category in categories.load_categories(world)],
        "partners": _list_partners(world),
    }


@lru_cache
def _list_partners(world: str) -> list[str]:
    """Return the partner policies for worlds of a domain, by installed agents."""
    partners = ["no-op", "replay"]
    for name in agents.list_installed():
        with contextlib.suppress(StsError):  # such as of an extra that is not installed
            if agents.load(name).domain in ("", world):
                partners.append(f"agent:{name}")
    return partners
