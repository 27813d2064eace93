"""`sts draft edit`, `add`, `pair` and `dialogue`: commands that change candidates."""

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sts.annotations.database.annotation_store import AnnotationStore
from sts.cli.command import Result
from sts.errors import ArgumentError
from sts.names import count_noun
from sts.storage.lines import map_lines
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.trajectories import trajectory_store as trajectories
from sts_scenarios.draft import curation
from sts_scenarios.draft.candidate_tables import REQUIRED, read_candidates
from sts_scenarios.draft.editing import (
    Edit,
    Editor,
    describe_partner,
)
from sts_scenarios.draft.fields import FIELDS
from sts_scenarios.draft.freezing import load_candidates, select_candidates
from sts_scenarios.mining.failures import load_recording
from sts_scenarios.rules import categories
from sts_scenarios.rules.validity import UNCHECKED


def edit(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Change a candidate, and show what differs from before."""
    draft, candidates = load_candidates(workspace, args.name)
    drafts.check_open(draft)
    (candidate,) = select_candidates(draft, candidates, [args.id])
    before = draft.candidate(args.id, candidate.state.scenario)
    trajectory = load_recording(workspace, before)
    own = [categories.load_category(args.category)] if ":" in (args.category or "") else []
    new_values = _read_changes(args) | ({"category": own[0].name} if own else {})
    result = Editor(before, trajectory, own).preview(new_values)
    if not result.changes:
        raise ArgumentError(f"nothing of {args.id} would change: sts draft edit --help")
    request = curation.Request(
        candidate, "edit", args.reason or "", "", result.scenario, new_values
    )
    with AnnotationStore.open(workspace) as store:
        person, _ = curation.decide(store, draft, args.author, [request])
    lines = [
        f"{name}: {_format_value(old)} -> {_format_value(new)}"
        for name, (old, new) in result.changes.items()
    ]
    notes = [f"note: {notice}"] if (notice := describe_partner(result.scenario.partner)) else []
    text = "\n".join(
        (f"{args.id} edited by {person.name}", *lines, _describe_validity(result), *notes)
    )
    changes = {name: {"before": old, "after": new} for name, (old, new) in result.changes.items()}
    value = {"draft": draft.name, "candidate": args.id, "changes": changes, "fault": result.fault}
    return Result(value, text)


def link(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Make a pair or a dialogue of candidates, or take one apart."""
    draft, all_candidates = load_candidates(workspace, args.name)
    drafts.check_open(draft)
    candidates = select_candidates(draft, all_candidates, args.id)
    with AnnotationStore.open(workspace) as store:
        scenarios, person = curation.link_candidates(
            store, draft, all_candidates, candidates, args.action, args.author
        )
    ids, name = [scenario.id for scenario in scenarios], getattr(scenarios[0], args.action)
    outcome = f"{args.action} {name}" if name else "apart"
    value = {"draft": draft.name, "candidates": ids, args.action: name}
    return Result(value, f"{outcome}: {', '.join(ids)}, by {person.name}")


def add(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Add a candidate at a step of the curator's choice, or those of a table."""
    draft = drafts.open_draft(workspace, args.name)
    drafts.check_open(draft)
    stated = _read_changes(args) | ({"trajectory": args.trajectory} if args.trajectory else {})
    if args.csv is None:
        if missing := [f"--{name}" for name in REQUIRED if name not in stated]:
            raise ArgumentError(f"expected {', '.join(missing)}, or --csv FILE with a table")
    elif stated:
        raise ArgumentError(f"--csv cannot be combined with --{min(stated).replace('_', '-')}")
    by_line = {1: stated} if args.csv is None else read_candidates(Path(args.csv))
    with AnnotationStore.open(workspace) as store:
        person = curation.find_or_add_curator(store, args.author)
    last = drafts.find_last_numbers(workspace, draft.name, draft.load_ids())
    split = drafts.get_draft_split(draft) or "test"
    results = map_lines(
        args.csv,
        by_line,
        lambda fields: _make_candidate(workspace, fields, split, person.pseudonym, last),
    ).values()
    drafts.add_candidates(draft, [result.scenario for result in results])
    if args.csv is None:
        (result,) = results
        id = result.scenario.id
        text = f"added {id}: {result.scenario.instruction.text}\n{_describe_validity(result)}"
        return Result({"draft": draft.name, "candidate": id, "fault": result.fault}, text)
    outcomes = Counter(map(_describe_validity, results))
    rows = [{"candidate": result.scenario.id, "fault": result.fault} for result in results]
    counts = [f"{count} of them: {outcome}" for outcome, count in outcomes.items()]
    lines = [f"added {count_noun(len(results), 'candidate')} to draft {draft.name}", *counts]
    lines.append(f"next: sts draft show {draft.name}")
    return Result({"draft": draft.name, "candidates": rows}, "\n".join(lines))


def _make_candidate(
    workspace: Workspace, values: Mapping[str, Any], split: str, author: str, last: Counter[str]
) -> Edit:
    """Return the candidate of some fields and a `trajectory`, which must be of a split."""
    chosen = dict(values)
    trajectory = trajectories.find_trajectory(workspace, chosen.pop("trajectory"))
    if trajectory.split != split:
        raise ArgumentError(
            f"trajectory {trajectory.id} is of the {trajectory.split} split; expected one of the "
            f"{split} split, which sts trajectories ls --split {split} lists"
        )
    own = categories.load_category(values["category"]) if ":" in values["category"] else None
    chosen |= {"category": own.name} if own else {}
    return curation.make_candidate(trajectory, chosen, author, last, own)


def _read_changes(args: argparse.Namespace) -> dict[str, Any]:
    """Return what the flags of `edit` and `add` ask for."""
    flags = {name: getattr(args, name) for name in FIELDS if name != "tags"}
    flags["tags"] = args.tag or None
    return {name: value for name, value in flags.items() if value is not None}


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _describe_validity(result: Edit) -> str:
    if result.fault is not None:
        return f"it does not fit: {result.fault}"
    return "it fits" if result.label.verdict else UNCHECKED
