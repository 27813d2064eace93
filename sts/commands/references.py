"""`sts references`: continuations of known verdict, served silently to measure annotators."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sts.cli.arguments import say, table
from sts.cli.command import Command

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace

_EXAMPLE = "sts references add CONTINUATION --truth success --step 7"


def _configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="add | ls")
    words = "put a continuation whose verdict is known into the pool"
    add = actions.add_parser("add", help=words, description=words, example=_EXAMPLE)
    add.add_argument("continuation", metavar="CONTINUATION", help="its identity or the start of it")
    add.add_argument("--truth", required=True, help="success, failure or not_done")
    add.add_argument(
        "--step",
        type=int,
        help="where the mark belongs, 1 to the horizon, counted from takeover (default: none)",
    )
    add.add_argument("--note", default="", help="why the truth is what it is (default: none)")
    words = "list the pool"
    actions.add_parser("ls", help=words, description=words, example="sts references ls")


def _run(args: argparse.Namespace) -> int:
    from sts.storage.workspace import Workspace

    workspace = Workspace.open(args.workspace)
    if args.action == "add":
        _add(workspace, args)
    else:
        _list(workspace, as_json=args.json)
    return 0


def _add(workspace: Workspace, args: argparse.Namespace) -> None:
    from sts.annotations import queue
    from sts.annotations.items import item_of
    from sts.annotations.references import check_truth
    from sts.annotations.store import Store
    from sts.continuations.store import find

    item = item_of(find(workspace, args.continuation), suite="")
    check_truth(args.truth, args.step, item.horizon)
    with Store.open(workspace) as store, store.write(alone=True) as connection:
        queue.add_reference(connection, item, args.truth, args.step, args.note, now=store.now())
    done = {"continuation": item.continuation, "truth": args.truth, "step": args.step}
    text = (
        f"{item.continuation} is a reference now, with the truth {args.truth}; it measures "
        f"annotators, and no longer counts for {item.agent}"
    )
    say(args.json, done, text)


def _list(workspace: Workspace, *, as_json: bool) -> None:
    from sts.annotations.references import every
    from sts.annotations.store import Store

    with Store.read_existing(workspace) as connection:
        pool = every(connection) if connection else []
    rows = [(one.continuation, one.truth, one.step or "", one.judged, one.note) for one in pool]
    text = (
        table(("continuation", "truth", "step", "judged", "note"), rows)
        if rows
        else "no references yet; `sts references add CONTINUATION --truth VERDICT` adds one"
    )
    say(as_json, {"references": [one._asdict() for one in pool]}, text)


COMMAND = Command(
    summary="keep the pool of continuations whose verdict is known",
    example=_EXAMPLE,
    configure=_configure,
    run=_run,
)
