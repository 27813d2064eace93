"""`sts suite`: list, show, select from, tag, compare, freeze and verify suites."""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING, Any

from sts.cli.command import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sts.storage.workspace import Workspace
    from sts.suites.selections import Selection
    from sts.suites.types import Scenario, Suite


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the subcommands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("ls", help="suites and drafts there are", example="sts suite ls")
    for name, text in (("show", "what is in one"), ("verify", "check every hash and replay")):
        one = actions.add_parser(name, help=text, example=f"sts suite {name} {{suite}}")
        part = "or a part: NAME@VERSION+tag:T+category:C" if name == "show" else None
        one.add_argument("suite", metavar="NAME@VERSION", help=part)
    _configure_tags(actions)
    diff = actions.add_parser(
        "diff",
        help="what a version kept, added, retired and replaced",
        example="sts suite diff mysuite@1 mysuite@2",
    )
    diff.add_argument("old", metavar="NAME@VERSION", help="the older, or a suite of another line")
    diff.add_argument("new", metavar="NAME@VERSION", help="the newer")
    frozen = actions.add_parser(
        "freeze", help="make a draft the next version", example="sts suite freeze mysuite"
    )
    frozen.add_argument("draft", metavar="NAME[@VERSION]")
    frozen.add_argument(
        "--description", default="", metavar="TEXT", help="one line (default: none)"
    )
    frozen.add_argument(
        "--category",
        action="append",
        default=[],
        metavar="module:NAME",
        help="a category of your own, whose checks are run; repeatable",
    )


def _configure_tags(actions: Any) -> None:
    tagged = actions.add_parser(
        "tag",
        help="tags of your own, which change no suite",
        example="sts suite tag mysuite@1 wrap walk-01 walk-02",
    )
    tagged.add_argument("suite", metavar="NAME@VERSION")
    tagged.add_argument("tag", nargs="?", metavar="TAG", help="(default: list all)")
    tagged.add_argument("id", nargs="*", metavar="ID", help="scenarios that it is given to")
    tagged.add_argument("--remove", action="store_true", help="take it from them")
    saved = actions.add_parser(
        "save",
        help="keep a selection under a name",
        example="sts suite save mysuite@1+tag:wrap+category:walk edges",
    )
    saved.add_argument("suite", metavar="NAME@VERSION+TERM", help="tag:T, category:C and the like")
    saved.add_argument("name", metavar="NAME", help="then NAME@VERSION+NAME is the same part")


def run(args: argparse.Namespace) -> int:
    """Does what `args.action` says."""
    from sts.storage.workspace import Workspace

    actions = {
        "ls": _ls,
        "show": _show,
        "tag": _tag,
        "save": _save,
        "verify": _verify,
        "diff": _diff,
        "freeze": _freeze,
    }
    return actions[args.action](args, Workspace.open(args.workspace))


def _ls(args: argparse.Namespace, workspace: Workspace) -> int:
    from sts.cli.arguments import say, table
    from sts.suites.folders import Listed, listed

    rows = listed(workspace)
    say(args.json, [row._asdict() for row in rows], table(Listed._fields, rows))
    return 0


def _show(args: argparse.Namespace, workspace: Workspace) -> int:
    from sts.cli.arguments import say, table
    from sts.suites import selections, store

    chosen = selections.load(workspace, args.suite, store.load)
    suite, every = chosen.suite, chosen.scenarios
    header = ("scenario", "difficulty", "takeover", "horizon", "instruction")
    rows = [(s.id, s.difficulty, s.takeover, s.horizon, s.instruction.text) for s in every]
    text = f"{_title(suite)}\n{_part(chosen)}\n{table(header, rows)}{_linked(every)}"
    value = {
        "suite": suite.label,
        "selection": chosen.meaning,
        "hash": suite.hash,
        "parent": suite.parent,
        "description": suite.description,
        "provenance": suite.provenance,
        "scenarios": [
            {
                "id": s.id,
                "hash": s.hash,
                "category": s.category,
                "kind": s.kind,
                "instruction": s.instruction.view(),
                "difficulty": s.difficulty,
                "takeover": s.takeover,
                "horizon": s.horizon,
                "partner": s.partner,
                "trajectory": s.trajectory,
                "world": s.world,
                "tags": list(s.tags),
                "heard": [one.view() for one in s.heard],
                "pair": s.pair,
                "series": s.series,
                "turn": s.turn,
                "replaces": s.replaces,
            }
            for s in every
        ],
    }
    say(args.json, value, text)
    return 0


def _linked(every: Sequence[Scenario]) -> str:
    """Returns what belongs together, one line each; "" for nothing."""
    from sts.suites.types import pairs, series

    lines = []
    for word, groups in (("pair", pairs(every)), ("dialogue", series(every))):
        for own in groups.values():
            said = " | ".join(f"{one.id} “{one.instruction.text}”" for one in own)
            lines.append(f"{word}: {said}")
    return "".join(("\n\n", "\n".join(lines))) if lines else ""


def _part(chosen: Selection) -> str:
    """Returns what a selection is, as a line; "" for a whole suite."""
    if not chosen.terms:
        return ""
    joined = f", {len(chosen.joined)} of them as they belong with another" if chosen.joined else ""
    count = f"{len(chosen.scenarios)} of its {len(chosen.suite.scenarios)} scenarios"
    return f"{chosen.meaning}: {count}{joined}\n"


def _tag(args: argparse.Namespace, workspace: Workspace) -> int:
    from sts.cli.arguments import say, table
    from sts.errors import ArgumentError
    from sts.suites import frozen, selections, tags

    suite = frozen.load(workspace, args.suite)
    if args.tag is not None and not args.id:
        raise ArgumentError(
            f"expected ids of scenarios behind {args.tag}: sts suite show {suite.label}"
        )
    if args.tag is not None:
        ids = tags.tag(workspace, suite, args.tag, args.id, remove=args.remove)
        text = f"{args.tag}: {', '.join(ids) or 'no scenario'}"
        say(args.json, {"suite": suite.name, "tag": args.tag, "scenarios": list(ids)}, text)
        return 0
    said, every = tags.read(workspace, suite.name), selections.tagged(workspace, suite)
    own = {tag for one in suite.scenarios for tag in one.tags}
    rows = [
        (tag, "suite" if tag in own else "workspace", len(ids), ", ".join(ids))
        for tag, ids in every.items()
    ]
    lines = [table(("tag", "of the", "scenarios", "which"), rows)] if rows else ["no tags"]
    lines += [f"{suite.label}+{name} is +{terms}" for name, terms in said.selections.items()]
    value = {"suite": suite.label, "tags": every, "selections": dict(said.selections)}
    say(args.json, value, "\n".join(lines))
    return 0


def _save(args: argparse.Namespace, workspace: Workspace) -> int:
    from sts.cli.arguments import say
    from sts.suites import frozen, selections

    chosen = selections.load(workspace, args.suite, frozen.load)
    selections.save(workspace, chosen, args.name)
    label = f"{chosen.suite.label}+{args.name}"
    say(
        args.json,
        {"selection": label, "meaning": chosen.meaning},
        f"{label} is {_part(chosen).rstrip()}",
    )
    return 0


def _title(suite: Suite) -> str:
    grown = f", grown from {suite.parent}" if suite.parent else ""
    count = len({s.category for s in suite.scenarios})
    described = f": {suite.description}" if suite.description else ""
    return (
        f"{suite.label}{described}\n{len(suite.scenarios)} scenarios in {count} "
        f"{'category' if count == 1 else 'categories'}{grown}; "
        f"hash {suite.hash[:16]}"
    )


def _verify(args: argparse.Namespace, workspace: Workspace) -> int:
    from sts.cli.arguments import progress, say
    from sts.domains import need
    from sts.errors import DamagedData
    from sts.suites import store
    from sts.suites.lint import lint

    suite = store.load(workspace, args.suite)
    with contextlib.suppress(DamagedData):  # the lint says of which
        for scenario in suite.scenarios:
            need(scenario.recording, f"{suite.label}: {scenario.id}")
    with progress("verifying", "scenarios") as show:
        faults = lint(suite.scenarios)
        show(len(suite.scenarios), len(suite.scenarios))
    if faults:
        raise DamagedData(f"{suite.label}: {faults[0]} ({len(faults)} faults in all)")
    text = (
        f"{suite.label} is sound: hash {suite.hash[:16]} matches, {len(suite.scenarios)} scenarios "
        "unique, on the test side, replayed exactly to their takeover"
    )
    say(args.json, {"suite": suite.label, "hash": suite.hash, "sound": True}, text)
    return 0


def _diff(args: argparse.Namespace, workspace: Workspace) -> int:
    from scenarios.changelog import difference
    from sts.cli.arguments import say

    between = difference(workspace, args.old, args.new)
    say(args.json, between.view(), between.text())
    return 0


def _freeze(args: argparse.Namespace, workspace: Workspace) -> int:
    from scenarios import categories, freezing
    from sts.cli.arguments import say

    own = [categories.named(name) for name in args.category]
    suite = freezing.freeze(workspace, args.draft, description=args.description, own=own)
    say(args.json, {"suite": suite.label, "hash": suite.hash}, f"frozen: {_title(suite)}")
    return 0


COMMAND = Command(
    summary="list, show, compare, freeze and verify suites",
    example="sts suite show {suite}",
    configure=configure,
    run=run,
)
