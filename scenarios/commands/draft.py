"""`sts draft`: look at the candidates of a draft, and decide about them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sts.cli.command import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scenarios.freezing import Looked
    from sts.storage.workspace import Workspace
    from sts.suites.drafts import Draft

STATUSES = ("undecided", "accepted", "rejected", "kept", "retired")


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the subcommands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    begun = actions.add_parser(
        "from", help="begin the next version of a suite", example="sts draft from mysuite@1"
    )
    begun.add_argument("suite", metavar="NAME@VERSION")
    begun.add_argument(
        "--replace", action="store_true", help="in the place of a draft that was not frozen"
    )
    shown = _named(actions, "show", "candidates, and what was decided about each", "mysuite")
    shown.add_argument("id", nargs="*", metavar="ID", help="only these (default: all)")
    shown.add_argument("--status", choices=STATUSES, help="only what is so (default: all)")
    shown.add_argument("--category", metavar="C", help="only of this category (default: all)")
    for name, words, example in (
        ("accept", "candidates into the next version", "mysuite walk-01"),
        ("reject", "candidates, saying why", "mysuite walk-02 --reason unclear"),
        ("retire", "scenarios of the parent, saying why", "mysuite walk-03 --reason twin"),
        ("undo", "the latest decision about candidates", "mysuite walk-01"),
    ):
        one = _named(actions, name, words, example)
        one.add_argument("id", nargs="*", metavar="ID")
        if name == "accept":
            one.add_argument(
                "--all", action="store_true", help="all that is undecided, without a look at it"
            )
        if name != "undo":
            one.add_argument(
                "--reason", required=name != "accept", metavar="TEXT", help="why, in one line"
            )
        one.add_argument(
            "--as", dest="author", metavar="NAME", help="who decides (default: your login)"
        )
    _named(actions, "diff", "what the next version changes", "mysuite")
    checked = _named(actions, "check", "why it cannot be frozen, if so", "mysuite")
    checked.add_argument(
        "--category",
        action="append",
        default=[],
        metavar="module:NAME",
        help="a category of your own, whose checks are run; repeatable",
    )


def _named(actions: Any, action: str, words: str, example: str) -> argparse.ArgumentParser:
    one: argparse.ArgumentParser = actions.add_parser(
        action, help=words, example=f"sts draft {action} {example}"
    )
    one.add_argument("name", metavar="NAME")
    return one


def run(args: argparse.Namespace) -> int:
    """Does what `args.action` says."""
    from sts.storage.workspace import Workspace

    workspace = Workspace.open(args.workspace)
    actions = {"from": _from, "show": _show, "diff": _diff, "check": _check}
    return actions.get(args.action, _decide)(args, workspace)


def _from(args: argparse.Namespace, workspace: Workspace) -> int:
    from sts.cli.arguments import say
    from sts.errors import ArgumentError
    from sts.suites import drafts, store
    from sts.suites.folders import versions

    parent = store.load(workspace, args.suite)
    newest = max(versions(workspace)[parent.name])
    if parent.version != newest:
        raise ArgumentError(
            f"{parent.label} is not the newest: begin the next version from {parent.name}@{newest}"
        )
    there = drafts.find(workspace, parent.name)
    if there is not None and not args.replace and drafts.frozen_as(there) is None:
        raise ArgumentError(
            f"there is a draft {parent.name} already: go on with it, or begin anew with --replace"
        )
    draft = drafts.begin(
        workspace,
        parent.name,
        parent.scenarios,
        parent=parent.label,
        replaces=there.id if there else None,
    )
    say(
        args.json,
        {"draft": draft.name, "parent": parent.label, "scenarios": len(parent.scenarios)},
        f"draft {draft.name} begins with the {len(parent.scenarios)} scenarios of {parent.label}, "
        f"which stay unless they are retired\nnext: sts mine {draft.name}, sts draft retire "
        f"{draft.name} ID --reason TEXT",
    )
    return 0


def _looked(workspace: Workspace, name: str) -> tuple[Draft, list[Looked]]:
    from scenarios.freezing import looked_at
    from sts.annotations.store import Store
    from sts.suites.drafts import open_draft

    draft = open_draft(workspace, name)
    store = Store.find(workspace)
    if store is None:
        return draft, looked_at(draft, ())
    with store:
        return draft, looked_at(draft, store.decisions(draft.id))


def _chosen(draft: Draft, every: Sequence[Looked], ids: Sequence[str]) -> list[Looked]:
    from sts.errors import UnknownName

    known = {one.summary.id: one for one in every}
    for id in ids:
        if id not in known:
            raise UnknownName(f"candidate of draft {draft.name}", id, known, most=10)
    return [known[id] for id in dict.fromkeys(ids)]


def _show(args: argparse.Namespace, workspace: Workspace) -> int:
    from collections import Counter

    from sts.cli.arguments import say, table

    draft, every = _looked(workspace, args.name)
    chosen = _chosen(draft, every, args.id) if args.id else every
    chosen = [
        one
        for one in chosen
        if args.status in (None, one.status) and args.category in (None, one.summary.category)
    ]
    counts = Counter(one.status for one in every)
    counted = ", ".join(f"{counts[name]} {name}" for name in STATUSES if counts[name])
    header = ("candidate", "status", "by", "difficulty", "instruction", "reason")
    rows = [
        (
            one.summary.id,
            one.status,
            one.state.by or "-",
            one.summary.difficulty,
            one.summary.text,
            one.state.reason or "-",
        )
        for one in chosen
    ]
    begun = f" from {draft.parent}" if draft.parent else ""
    text = f"draft {draft.name}{begun}: {len(every)} candidates, {counted}\n\n{table(header, rows)}"
    value = {
        "draft": draft.name,
        "parent": draft.parent,
        "counts": dict(counts),
        "candidates": [_view(one) for one in chosen],
    }
    say(args.json, value, text)
    return 0


def _view(one: Looked) -> dict[str, Any]:
    own = one.summary._asdict() | {"status": one.status, "reason": one.state.reason}
    decided = {"by": one.state.by, "at": one.state.at, "scenario": one.state.scenario}
    history = [{"kind": d.kind, "by": d.by, "at": d.at, **d.detail} for d in one.state.standing]
    return own | decided | {"decisions": history, "opinions": dict(one.state.opinions or {})}


def _decide(args: argparse.Namespace, workspace: Workspace) -> int:
    import time

    from scenarios.curation import author, checked_reason, decision
    from sts.annotations.store import Store
    from sts.cli.arguments import say
    from sts.errors import ArgumentError
    from sts.suites.drafts import check_open

    draft, every = _looked(workspace, args.name)
    check_open(draft)
    reason = checked_reason(getattr(args, "reason", None) or "")
    if getattr(args, "all", False):
        if args.id:
            raise ArgumentError("expected ids of candidates or --all, found both")
        chosen = [one for one in every if one.status == "undecided"]
        reason = reason or "all at once, not looked at"
    else:
        chosen = _chosen(draft, every, args.id)
    if not chosen:
        raise ArgumentError(f"expected the id of a candidate: sts draft show {args.name}")
    with Store.open(workspace) as store:
        person = author(store, args.author)
        made = [decision(one, args.action, person, reason=reason, at=time.time()) for one in chosen]
        store.decide(draft.id, made)
    ids = [one.summary.id for one in chosen]
    done = {"accept": "accepted", "reject": "rejected", "retire": "retired", "undo": "undone"}
    what = ids[0] if len(ids) == 1 else f"{len(ids)} candidates"
    say(
        args.json,
        {"draft": draft.name, "decision": args.action, "candidates": ids, "by": person.name},
        f"{done[args.action]} by {person.name}: {what}",
    )
    return 0


def _diff(args: argparse.Namespace, workspace: Workspace) -> int:
    from scenarios.changelog import text
    from scenarios.freezing import contents
    from sts.cli.arguments import say

    draft, every = _looked(workspace, args.name)
    made = contents(draft, every)
    kept = sum(one.status == "kept" for one in every)
    kept -= sum(change.kind == "replaced" for change in made.changes)
    value = {
        "draft": draft.name,
        "parent": draft.parent,
        "kept": kept,
        "changes": [one._asdict() for one in made.changes],
    }
    say(args.json, value, text(draft.parent, made.changes, kept))
    return 0


def _check(args: argparse.Namespace, workspace: Workspace) -> int:
    from scenarios import categories
    from scenarios.freezing import contents, faults
    from sts.cli.arguments import say

    draft, every = _looked(workspace, args.name)
    own = [categories.named(name) for name in args.category]
    made = contents(draft, every)
    found = faults(every, made.scenarios, own)
    text = "\n".join(found) or (
        f"draft {draft.name} can be frozen: {len(made.scenarios)} scenarios\n"
        f"next: sts suite freeze {draft.name}"
    )
    say(args.json, {"draft": draft.name, "sound": not found, "faults": found}, text)
    return 1 if found else 0


COMMAND = Command(
    summary="look at candidates and decide about them, before they are a suite",
    example="sts draft show mysuite",
    configure=configure,
    run=run,
)
