"""`sts draft edit`, `add`, `pair` and `dialogue`: commands that change candidates."""

import argparse
import json
import time
from typing import Any

from sts.annotations.store import AnnotationStore
from sts.cli.command import Result
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.trajectories import store as trajectories
from sts_scenarios import categories, curation, linking
from sts_scenarios.editing import Editor, add_scenario
from sts_scenarios.freezing import load_candidates, select_candidates
from sts_scenarios.mining.failures import load_recording


def edit(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Change a candidate, and show what differs from before."""
    draft, every = load_candidates(workspace, args.name)
    drafts.check_open(draft)
    (one,) = select_candidates(draft, every, [args.id])
    reason = curation.validate_reason(args.reason or "")
    before = draft.candidate(args.id, one.state.scenario)
    category = categories.load_category(args.category or before.category)
    asked = _read_changes(args) | ({"category": category.name} if args.category else {})
    trajectory = load_recording(workspace, before)
    made = Editor(before, trajectory, [category]).preview(asked)
    if not made.changes:
        raise ArgumentError(f"nothing of {args.id} would change: sts draft edit --help")
    draft.save_edit(made.scenario)
    with AnnotationStore.open(workspace) as store:
        person = curation.find_or_add_curator(store, args.author)
        event = curation.make_decision(one, "edit", person, reason=reason, at=time.time())
        detail = {**event.detail, "changes": asked}
        event = event._replace(scenario=made.scenario.row_hash, detail=detail)
        curation.append_decisions(store, draft, [event])
    lines = [
        f"{name}: {_format_value(old)} -> {_format_value(new)}"
        for name, (old, new) in made.changes.items()
    ]
    text = "\n".join((f"{args.id} edited by {person.name}", *lines, _describe_validity(made.fault)))
    changes = {name: {"before": old, "after": new} for name, (old, new) in made.changes.items()}
    value = {"draft": draft.name, "candidate": args.id, "changes": changes, "fault": made.fault}
    return Result(value, text)


def link(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Make a pair or a dialogue of candidates, or take one apart."""
    draft, every = load_candidates(workspace, args.name)
    drafts.check_open(draft)
    chosen = select_candidates(draft, every, args.id)
    with AnnotationStore.open(workspace) as store:
        made, person = linking.link_candidates(
            store, draft, every, chosen, args.action, args.author
        )
    ids, name = [one.id for one in made], getattr(made[0], args.action)
    said = f"{args.action} {name}" if name else "apart"
    value = {"draft": draft.name, "candidates": ids, args.action: name}
    return Result(value, f"{said}: {', '.join(ids)}, by {person.name}")


def add(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Add a candidate at a moment of the curator's choice."""
    draft = drafts.open_draft(workspace, args.name)
    drafts.check_open(draft)
    trajectory = trajectories.find_trajectory(workspace, args.trajectory)
    category = categories.load_category(args.category)
    last = drafts.find_last_numbers(workspace, draft.name, draft.load_ids()).get(category.name, 0)
    id = f"{category.name}-{last + 1:02d}"
    made = add_scenario(
        trajectory, category, _read_changes(args) | {"category": category.name}, id=id
    )
    drafts.add_candidates(draft, [made.scenario])
    text = f"added {id}: {made.scenario.instruction.text}\n{_describe_validity(made.fault)}"
    return Result({"draft": draft.name, "candidate": id, "fault": made.fault}, text)


def _read_changes(args: argparse.Namespace) -> dict[str, Any]:
    """Return what the flags of `edit` and `add` ask for."""
    names = "takeover context horizon player template instruction category partner".split()
    flags = {name: getattr(args, name) for name in names} | {"tags": args.tag or None}
    return {name: value for name, value in flags.items() if value is not None}


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _describe_validity(fault: str | None) -> str:
    return "it fits" if fault is None else f"it does not fit: {fault}"
