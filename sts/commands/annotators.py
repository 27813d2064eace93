"""`sts annotators`: who may judge, and the personal link that lets them in."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sts.cli.arguments import say, table
from sts.cli.command import Command

if TYPE_CHECKING:
    from sts.annotations.types import Annotator
    from sts.storage.workspace import Workspace

_EXAMPLE = "sts annotators add Ana"


def _configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="add | ls | link | retire"
    )
    for name, words in (
        ("add", "add a person and show their personal link, once"),
        ("link", "replace a person's link; a retired one is let in again"),
        ("retire", "end a person's link; their judgements stay"),
    ):
        leaf = actions.add_parser(
            name, help=words, description=words, example=f"sts annotators {name} Ana"
        )
        leaf.add_argument("name", metavar="NAME", help="1 to 64 printable characters")
    words = "list everyone, with how many continuations each has judged"
    actions.add_parser("ls", help=words, description=words, example="sts annotators ls")


def _run(args: argparse.Namespace) -> int:
    from sts.annotations.store import Store
    from sts.storage.workspace import Workspace

    workspace = Workspace.open(args.workspace)
    if args.action == "ls":
        _list(workspace, as_json=args.json)
        return 0
    with Store.open(workspace) as store:
        change = {
            "add": store.add_annotator,
            "link": store.renew_link,
            "retire": store.retire_annotator,
        }[args.action]
        _show(change(args.name), as_json=args.json)
    return 0


def _show(annotator: Annotator, *, as_json: bool) -> None:
    name, link = annotator.name, f"/enter?t={annotator.token}" if annotator.token else None
    if link is None:
        text = f"{name} is retired; `sts annotators link` would let them in again"
    else:
        text = (
            f"{name} enters at the address that `sts annotate` prints, followed by\n  {link}\n"
            "The link is shown this once; `sts annotators link` makes another."
        )
    say(as_json, {"id": annotator.id, "name": name, "link": link}, text)


def _list(workspace: Workspace, *, as_json: bool) -> None:
    from sts.annotations.store import Store

    people: list[Annotator] = []
    judged: dict[str, int] = {}
    store = Store.find(workspace)
    if store is not None:
        with store:
            people, judged = store.annotators(), store.judged_by()
    rows = [
        {
            "annotator": one.name,
            "judged": judged.get(one.name, 0),
            "state": "retired" if one.retired else "linked" if one.linked else "imported",
        }
        for one in people
    ]
    text = (
        table(("annotator", "judged", "state"), [tuple(row.values()) for row in rows])
        if rows
        else "nobody yet; `sts annotators add NAME` adds a person"
    )
    say(as_json, {"annotators": rows}, text)


COMMAND = Command(
    summary="add, list and retire the people who judge",
    example=_EXAMPLE,
    configure=_configure,
    run=_run,
)
