"""`sts draft edit`, `add`, `pair` and `series`: what changes candidates."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace


def edit(args: argparse.Namespace, workspace: Workspace) -> int:
    """Changes a candidate, and says what is another than before."""
    import time

    from scenarios import categories
    from scenarios.curation import author, checked_reason, decide, decision
    from scenarios.editing import Editor
    from scenarios.freezing import look, select
    from scenarios.mining.failures import recording_of
    from sts.annotations.store import Store
    from sts.cli.arguments import say
    from sts.errors import ArgumentError
    from sts.suites.drafts import check_open

    draft, every = look(workspace, args.name)
    check_open(draft)
    (one,) = select(draft, every, [args.id])
    reason = checked_reason(args.reason or "")
    before = draft.candidate(args.id, one.state.scenario)
    category = categories.named(args.category or before.category)
    asked = _changes(args) | ({"category": category.name} if args.category else {})
    trajectory = recording_of(workspace, before)
    made = Editor(before, trajectory, [category]).preview(asked)
    if not made.changes:
        raise ArgumentError(f"nothing of {args.id} would change: sts draft edit --help")
    draft.keep(made.scenario)
    with Store.open(workspace) as store:
        person = author(store, args.author)
        event = decision(one, "edit", person, reason=reason, at=time.time())
        detail = {**event.detail, "changes": asked}
        event = event._replace(scenario=made.scenario.row_hash, detail=detail)
        decide(store, draft, [event])
    lines = [f"{name}: {_word(old)} -> {_word(new)}" for name, (old, new) in made.changes.items()]
    text = "\n".join((f"{args.id} edited by {person.name}", *lines, _fit(made.fault)))
    changes = {name: {"before": old, "after": new} for name, (old, new) in made.changes.items()}
    value = {"draft": draft.name, "candidate": args.id, "changes": changes, "fault": made.fault}
    say(args.json, value, text)
    return 0


def link(args: argparse.Namespace, workspace: Workspace) -> int:
    """Makes a pair or a dialogue of candidates, or takes one apart."""
    from scenarios import linking
    from scenarios.freezing import look, select
    from sts.annotations.store import Store
    from sts.cli.arguments import say
    from sts.suites.drafts import check_open

    draft, every = look(workspace, args.name)
    check_open(draft)
    chosen = select(draft, every, args.id)
    with Store.open(workspace) as store:
        made, person = linking.link(store, draft, every, chosen, args.action, args.author)
    ids, name = [one.id for one in made], getattr(made[0], args.action)
    said = f"{args.action} {name}" if name else "apart"
    value = {"draft": draft.name, "candidates": ids, args.action: name}
    say(args.json, value, f"{said}: {', '.join(ids)}, by {person.name}")
    return 0


def add(args: argparse.Namespace, workspace: Workspace) -> int:
    """Adds a candidate at a moment that somebody chose."""
    from scenarios import categories
    from scenarios.editing import added
    from sts.cli.arguments import say
    from sts.suites import drafts
    from sts.trajectories import store as trajectories

    draft = drafts.open_draft(workspace, args.name)
    drafts.check_open(draft)
    trajectory = trajectories.find(workspace, args.trajectory)
    category = categories.named(args.category)
    last = drafts.last_numbers(workspace, draft.name, draft.ids()).get(category.name, 0)
    id = f"{category.name}-{last + 1:02d}"
    made = added(trajectory, category, _changes(args) | {"category": category.name}, id=id)
    drafts.add(draft, [made.scenario])
    text = f"added {id}: {made.scenario.instruction.text}\n{_fit(made.fault)}"
    say(args.json, {"draft": draft.name, "candidate": id, "fault": made.fault}, text)
    return 0


def _changes(args: argparse.Namespace) -> dict[str, Any]:
    """Returns what the flags of `edit` and `add` ask for."""
    names = ("takeover", "context", "length", "role", "wording", "text", "category", "partner")
    flags = {name: getattr(args, name) for name in names} | {"tags": args.tag}
    return {name: value for name, value in flags.items() if value is not None}


def _word(value: Any) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _fit(fault: str | None) -> str:
    return "it fits" if fault is None else f"it does not fit: {fault}"
