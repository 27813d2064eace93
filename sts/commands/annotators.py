"""`sts annotators`: who takes part, what each does, and the link that lets them in."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sts.annotations.roles import DUTIES, ROLES
from sts.cli.arguments import say, table
from sts.cli.command import Command

if TYPE_CHECKING:
    from collections.abc import Callable

    from sts.annotations.types import Annotator
    from sts.storage.workspace import Workspace

_EXAMPLE = "sts annotators add Ana"


def _configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="add | ls | link | retire | role"
    )
    for name, words, example in (
        ("add", "add a person and show their personal link, once", "Ana --role curator"),
        ("link", "replace a person's link; a retired one is let in again", "Ana"),
        ("retire", "end a person's link; their judgements stay", "Ana"),
        ("role", "give a person a role, or take it away", "Ana lead"),
    ):
        leaf = actions.add_parser(
            name, help=words, description=words, example=f"sts annotators {name} {example}"
        )
        leaf.add_argument("name", metavar="NAME", help="1 to 64 printable characters")
        if name == "add":
            leaf.add_argument(
                "--role",
                action="append",
                choices=ROLES,
                help="what they do; repeatable (default: annotator)",
            )
        if name == "role":
            leaf.add_argument("role", choices=ROLES, help=_duties())
            leaf.add_argument("--remove", action="store_true", help="take it away (default: give)")
    words = "list everyone, with what they do and how many continuations each has judged"
    actions.add_parser("ls", help=words, description=words, example="sts annotators ls")


def _duties() -> str:
    return ", ".join(f"{role} {duty}" for role, duty in DUTIES.items())


def _run(args: argparse.Namespace) -> int:
    from sts.annotations.store import Store
    from sts.storage.workspace import Workspace

    workspace = Workspace.open(args.workspace)
    if args.action == "ls":
        _list(workspace, as_json=args.json)
        return 0
    with Store.open(workspace) as store:
        change: dict[str, Callable[[], Annotator]] = {
            "add": lambda: store.add_annotator(args.name, args.role or ROLES[:1]),
            "link": lambda: store.renew_link(args.name),
            "retire": lambda: store.retire_annotator(args.name),
            "role": lambda: store.set_role(args.name, args.role, held=not args.remove),
        }
        _show(change[args.action](), as_json=args.json)
    return 0


def _show(annotator: Annotator, *, as_json: bool) -> None:
    name, link = annotator.name, f"/enter?t={annotator.token}" if annotator.token else None
    doing = ", ".join(annotator.roles) or "nothing"
    if annotator.retired:
        text = f"{name} is retired; `sts annotators link` would let them in again"
    elif link is None:
        text = f"{name} is now: {doing}"
    else:
        text = (
            f"{name} enters at the address that `sts annotate` prints, followed by\n  {link}\n"
            "The link is shown this once; `sts annotators link` makes another."
        )
    value = {"id": annotator.id, "name": name, "roles": list(annotator.roles), "link": link}
    say(as_json, value, text)


def _list(workspace: Workspace, *, as_json: bool) -> None:
    from sts.annotations.store import Store

    people: list[Annotator] = []
    judged: dict[str, int] = {}
    store = Store.find(workspace)
    if store is not None:
        with store:
            people, judged = store.annotators(), store.judged_by()
    rows: list[dict[str, Any]] = [
        {
            "annotator": one.name,
            "roles": list(one.roles),
            "judged": judged.get(one.name, 0),
            "state": "retired" if one.retired else "linked" if one.linked else "imported",
        }
        for one in people
    ]
    text = (
        table(
            ("annotator", "roles", "judged", "state"),
            [(r["annotator"], ", ".join(r["roles"]), r["judged"], r["state"]) for r in rows],
        )
        if rows
        else "nobody yet; `sts annotators add NAME` adds a person"
    )
    say(as_json, {"annotators": rows}, text)


COMMAND = Command(
    summary="add, list and retire the people of a study, and say what each does",
    example=_EXAMPLE,
    configure=_configure,
    run=_run,
)
