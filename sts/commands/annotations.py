"""`sts annotations`: judgements in and out as a ratings table."""

from __future__ import annotations

import argparse
from pathlib import Path

from sts.cli.arguments import say
from sts.cli.command import Command
from sts.errors import UnknownName
from sts.storage.workspace import Workspace

_EXAMPLE = "sts annotations export ratings.csv --suite starter@1"


def _configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="import | export")
    words = "append judgements made elsewhere; all or nothing, and harmless when repeated"
    leaf = actions.add_parser(
        "import", help=words, description=words, epilog="example: sts annotations import them.csv"
    )
    leaf.add_argument("file", metavar="FILE", type=Path, help="a ratings table in CSV")
    words = "write the current judgements, corrections applied"
    leaf = actions.add_parser(
        "export", help=words, description=words, epilog=f"example: {_EXAMPLE}"
    )
    leaf.add_argument("file", metavar="FILE", type=Path, help="the CSV file to write")
    leaf.add_argument("--suite", metavar="NAME@VERSION", help="default: everything in the store")


def _run(args: argparse.Namespace) -> int:
    workspace = Workspace.open(args.workspace)
    if args.action == "import":
        _import(workspace, args.file, as_json=args.json)
    else:
        _export(workspace, args.file, args.suite, as_json=args.json)
    return 0


def _import(workspace: Workspace, file: Path, *, as_json: bool) -> None:
    from sts.annotations.imports import read_csv
    from sts.annotations.locate import located
    from sts.annotations.store import Store

    ratings = read_csv(file)
    with Store.open(workspace) as store:
        ratings, additions = located(workspace, store, ratings)
        required = workspace.setting("annotation", "required", 1)
        imported = store.append(ratings, additions, required=required)
    text = f"{imported.added} judgements added, {imported.known} were there already"
    if imported.annotators:
        text += f"; new annotators: {', '.join(imported.annotators)}"
    say(as_json, imported._asdict(), text)


def _export(workspace: Workspace, file: Path, suite: str | None, *, as_json: bool) -> None:
    from sts.annotations.export import ratings, write_csv
    from sts.annotations.store import Store

    if suite is not None:
        store = Store.find(workspace)
        enqueued: list[str] = []
        if store is not None:
            with store:
                enqueued = store.suites()
        if suite not in enqueued:
            raise UnknownName("enqueued suite", suite, enqueued)
    table = ratings(workspace, suite)
    write_csv(file, table)
    judged = int((table["verdict"] != "").sum())
    unjudged = len(table) - judged
    counts = {"file": str(file), "judgements": judged, "unjudged": unjudged}
    text = f"{file}: {judged} judgements, and {unjudged} continuations nobody has judged"
    say(as_json, counts, text)


COMMAND = Command(
    summary="bring judgements in and out as a ratings table",
    example=_EXAMPLE,
    configure=_configure,
    run=_run,
)
