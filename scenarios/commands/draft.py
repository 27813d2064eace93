"""`sts draft`: look at the candidates of a draft, and decide about them."""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING, Any

from scenarios.commands import changing
from scenarios.commands.listing import STATUSES
from sts.cli.command import Command
from sts.errors import StsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scenarios.category import Category
    from scenarios.freezing import Looked
    from scenarios.gates import Gate
    from scenarios.profiles import Profile, Profiles
    from sts.storage.workspace import Workspace
    from sts.suites.types import Scenario


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
    shown.add_argument(
        "--category",
        metavar="C",
        help="only of this category, a name or module:NAME (default: all)",
    )
    shown.add_argument(
        "--profiles",
        action="store_true",
        help="with how many continuations of each agent are a success by rule, made where missing",
    )
    shown.add_argument(
        "--agent",
        action="append",
        metavar="A",
        help="of a profile; repeatable (default: those that the world's categories name)",
    )
    shown.add_argument(
        "--as", dest="author", metavar="NAME", help="who looks (default: your login)"
    )
    _configure_edits(actions)
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
                "--reason",
                required=name != "accept",
                metavar="TEXT",
                help=f"why, in one line{' (default: none)' if name == 'accept' else ''}",
            )
        _add_author(one)
    _configure_links(actions)
    opinion = _named(
        actions,
        "opinion",
        "say whether two people would agree about a candidate, blind to what others say",
        "mysuite walk-01 yes",
    )
    opinion.add_argument("id", metavar="ID")
    opinion.add_argument("word", choices=("yes", "no", "undo"), help="undo takes yours back")
    _add_author(opinion)
    _named(actions, "diff", "what the next version changes", "mysuite")
    checked = _named(actions, "check", "why it cannot be frozen, if so", "mysuite")
    checked.add_argument(
        "--category",
        action="append",
        default=[],
        metavar="module:NAME",
        help="a category of your own, whose checks are run; repeatable",
    )
    checked.add_argument(
        "--gates",
        action="store_true",
        help="with what chance, reward, a shortcut and a probe pass, by what categories declare",
    )


def _configure_links(actions: Any) -> None:
    for link, words, example in (
        ("pair", "two candidates of one takeover, credited together", "walk-01 walk-02"),
        ("series", "candidates that are turns of one dialogue, in order", "walk-01 walk-03"),
    ):
        one = _named(actions, link, words, f"mysuite {example}")
        one.add_argument("id", nargs="+", metavar="ID", help="one alone: takes it all apart")
        _add_author(one)


def _configure_edits(actions: Any) -> None:
    edit = _named(
        actions, "edit", "a candidate, deriving what depends on it", "mysuite walk-01 --takeover 14"
    )
    edit.add_argument("id", metavar="ID")
    edit.add_argument("--reason", metavar="TEXT", help="why, in one line (default: none)")
    add = _named(
        actions,
        "add",
        "a candidate at a moment of your choice",
        "mysuite --trajectory 3f2a --takeover 14 --role 0 --category my:CATEGORY",
    )
    add.add_argument("--trajectory", required=True, metavar="T", help="its id or first digits")
    as_is = "(default: as it is)"
    for one, needed in ((edit, False), (add, True)):
        default, own = ("", "(default: the category's)") if needed else (f" {as_is}", as_is)
        one.add_argument(
            "--takeover",
            type=int,
            required=needed,
            metavar="STEP",
            help=f"of the trajectory{default}",
        )
        one.add_argument(
            "--role", type=int, required=needed, metavar="R", help=f"who is asked{default}"
        )
        one.add_argument(
            "--category", required=needed, metavar="C", help=f"a name or module:NAME{default}"
        )
        one.add_argument("--context", type=int, metavar="C", help=f"steps before it {own}")
        one.add_argument("--length", type=int, metavar="L", help=f"steps after it {own}")
        one.add_argument("--partner", metavar="P", help=f"what the others do {own}")
        one.add_argument("--wording", type=int, metavar="N", help=f"of the category, from 0 {own}")
        one.add_argument("--text", metavar="TEXT", help=f"words of your own {own}")
        one.add_argument("--tag", action="append", metavar="T", help=f"all its tags {own}")
        _add_author(one)


def _add_author(one: argparse.ArgumentParser) -> None:
    one.add_argument(
        "--as", dest="author", metavar="NAME", help="who decides (default: your login)"
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
    actions = {
        "from": _from,
        "show": _show,
        "edit": changing.edit,
        "add": changing.add,
        "pair": changing.link,
        "series": changing.link,
        "opinion": _opinion,
        "diff": _diff,
        "check": _check,
    }
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


def _show(args: argparse.Namespace, workspace: Workspace) -> int:
    from scenarios.commands.listing import show
    from scenarios.freezing import look, select

    draft, every = look(workspace, args.name)
    return show(args, draft, every, select(draft, every, args.id) if args.id else every)


def _decide(args: argparse.Namespace, workspace: Workspace) -> int:
    import time

    from scenarios.curation import author, check, checked_reason, decide, decision
    from scenarios.freezing import look, select
    from sts.annotations.store import Store
    from sts.cli.arguments import say
    from sts.errors import ArgumentError
    from sts.suites.drafts import check_open

    draft, every = look(workspace, args.name)
    check_open(draft)
    reason = checked_reason(getattr(args, "reason", None) or "")
    if getattr(args, "all", False):
        if args.id:
            raise ArgumentError("expected ids of candidates or --all, found both")
        chosen = [one for one in every if one.status == "undecided"]
        reason = reason or "all at once, not looked at"
    else:
        chosen = select(draft, every, args.id)
    if not chosen:
        raise ArgumentError(f"expected the id of a candidate: sts draft show {args.name}")
    for one in chosen:
        check(one, args.action)
    with Store.open(workspace) as store:
        person = author(store, args.author)
        made = [decision(one, args.action, person, reason=reason, at=time.time()) for one in chosen]
        decide(store, draft, made)
    ids = [one.summary.id for one in chosen]
    done = {"accept": "accepted", "reject": "rejected", "retire": "retired", "undo": "undone"}
    what = ids[0] if len(ids) == 1 else f"{len(ids)} candidates"
    say(
        args.json,
        {"draft": draft.name, "decision": args.action, "candidates": ids, "by": person.name},
        f"{done[args.action]} by {person.name}: {what}",
    )
    return 0


def _opinion(args: argparse.Namespace, workspace: Workspace) -> int:
    import time

    from scenarios.curation import author, decide, opinion
    from scenarios.freezing import look, select
    from sts.annotations.store import Store
    from sts.cli.arguments import say
    from sts.suites.drafts import check_open

    draft, every = look(workspace, args.name)
    check_open(draft)
    (one,) = select(draft, every, [args.id])
    with Store.open(workspace) as store:
        person = author(store, args.author)
        decide(store, draft, [opinion(one, args.word, person, at=time.time())])
    said = {"yes": "two people would agree", "no": "two people would not agree"}
    say(
        args.json,
        {"draft": draft.name, "candidate": args.id, "opinion": args.word, "by": person.name},
        f"{args.id}: {said.get(args.word, 'taken back, what was said')}, by {person.name}",
    )
    return 0


def _diff(args: argparse.Namespace, workspace: Workspace) -> int:
    from scenarios.changelog import text
    from scenarios.freezing import contents, look
    from sts.cli.arguments import say

    draft, every = look(workspace, args.name)
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
    from scenarios.freezing import contents, faults, look
    from scenarios.profiles import Profiles
    from sts.cli.arguments import say

    draft, every = look(workspace, args.name)
    own = [categories.named(name) for name in args.category]
    made = contents(draft, every)
    found = faults(draft, every, made.scenarios, own)
    staying = [one for one in every if one.stays]
    profiles = Profiles(draft, own=own)
    flat = profiles.flat(staying)
    notes = [f"{id} tells no agents apart: {why}" for id, why in flat.items()]
    lines = found or [
        f"draft {draft.name} can be frozen: {len(made.scenarios)} scenarios",
        f"next: sts suite freeze {draft.name}",
    ]
    value = {"draft": draft.name, "sound": not found, "faults": found, "notes": notes}
    lines += [f"note: {one}" for one in notes]
    if args.gates:
        rows = _gates(made.scenarios, own, _there(profiles, staying))
        value["gates"] = [row._asdict() | {"held": row.held} for row in rows]
        lines += _as_table(rows)
    say(args.json, value, "\n".join(lines))
    return 1 if found else 0


def _there(profiles: Profiles, every: Sequence[Looked]) -> list[Profile]:
    """Returns the profiles that have been made."""
    out = []
    for one in every:
        with contextlib.suppress(StsError):  # of a category that is not here
            if (made := profiles.of(one)) is not None:
                out.append(made)
    return out


def _gates(
    scenarios: Sequence[Scenario], own: Sequence[Category], profiles: Sequence[Profile]
) -> list[Gate]:
    """Returns the rows of every category of a draft that declares what it is tested with."""
    from scenarios import categories, gates

    rules = categories.ruling(scenarios, own)
    return [
        row
        for name in sorted({one.category for one in scenarios} & {*rules})
        for one in ([s for s in scenarios if s.category == name],)
        for row in (
            *gates.of_pool(rules[name], one),
            *gates.of_suite(one, rules, profiles),
        )
    ]


def _as_table(rows: Sequence[Gate]) -> list[str]:
    from sts.cli.arguments import table

    if not rows:
        return ["gates: no category declares what it is tested with"]
    shown = [
        (
            row.category,
            row.name,
            f"{row.figure:.2f}",
            "" if row.limit is None else f"{'>=' if row.least else '<='} {row.limit:.2f}",
            "" if row.limit is None else "yes" if row.held else "no",
        )
        for row in rows
    ]
    return [table(("category", "gate", "figure", "limit", "held"), shown)]


COMMAND = Command(
    summary="look at candidates and decide about them, before they are a suite",
    example="sts draft show mysuite",
    configure=configure,
    run=run,
)
