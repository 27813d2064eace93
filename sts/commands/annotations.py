"""`sts annotations`: judgements in and out as a ratings table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sts.cli.arguments import say, table, warn
from sts.cli.command import Command
from sts.commands import audit, quality, reviews
from sts.commands.suites_judged import add_suite, check_enqueued

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace

_ANSWER = 60
_EXAMPLE = "sts annotations export {suite}"


def _configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(
        dest="action",
        required=True,
        metavar="import | export | refused | verify | audit | quality | reviews",
    )
    words = "append judgements made elsewhere; all or nothing, and harmless when repeated"
    leaf = actions.add_parser(
        "import", help=words, description=words, example="sts annotations import them.csv"
    )
    leaf.add_argument("file", metavar="FILE", type=Path, help="a ratings table in CSV")
    words = "write the current judgements, corrections applied, and the digests of their sources"
    leaf = actions.add_parser("export", help=words, description=words, example=_EXAMPLE)
    add_suite(leaf)
    leaf.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        default=Path("ratings.csv"),
        help="the CSV file to write; FILE.json has the digests (default: ratings.csv)",
    )
    leaf.add_argument(
        "--names",
        action="store_true",
        help="call people by name, for who leads (default: by pseudonym)",
    )
    words = "list what pages sent that could not be kept as a judgement"
    leaf = actions.add_parser(
        "refused",
        help=words,
        description=f"{words}; people are called by name, for who leads",
        example="sts annotations refused --json",
    )
    leaf.add_argument(
        "--pseudonyms", action="store_true", help="call people by pseudonym (default: by name)"
    )
    words = "find what was changed, lost or added behind the store's back; exit code 1 if anything"
    actions.add_parser("verify", help=words, description=words, example="sts annotations verify")
    audit.add(actions)
    quality.add(actions)
    reviews.add(actions)


def _run(args: argparse.Namespace) -> int:
    from sts.storage.workspace import Workspace

    workspace = Workspace.open(args.workspace)
    if args.action == "import":
        _import(workspace, args.file, as_json=args.json)
    elif args.action == "refused":
        _refused(workspace, pseudonyms=args.pseudonyms, as_json=args.json)
    elif args.action == "verify":
        return _verify(workspace, as_json=args.json)
    elif args.action == "audit":
        audit.show(workspace, args.suite, names=args.names, as_json=args.json)
    elif args.action == "quality":
        quality.show(workspace, args.suite, pseudonyms=args.pseudonyms, as_json=args.json)
    elif args.action == "reviews":
        reviews.show(workspace, args.suite, as_json=args.json)
    else:
        _export(workspace, args.out, args.suite, names=args.names, as_json=args.json)
    return 0


def _import(workspace: Workspace, file: Path, *, as_json: bool) -> None:
    from sts.annotations import imports
    from sts.annotations.locate import located
    from sts.annotations.store import Store

    ratings = imports.read_csv(file)
    with Store.open(workspace) as store:
        ratings, additions = located(workspace, store, ratings)
        with store.write(alone=True) as connection:
            imported = imports.append(
                connection, ratings, additions, study=store.study, required=None, now=store.now()
            )
    text = f"{imported.added} judgements added, {imported.known} were there already"
    if imported.annotators:
        text += f"; new annotators: {', '.join(imported.annotators)}"
    say(as_json, imported._asdict(), text)


def _export(
    workspace: Workspace, file: Path, suite: str | None, *, names: bool, as_json: bool
) -> None:
    from sts.annotations import digests
    from sts.annotations.export import exported, write_csv
    from sts.annotations.queue import suites
    from sts.annotations.store import Store

    if suite is not None:
        with Store.read_existing(workspace) as connection:
            enqueued = suites(connection) if connection else []
        check_enqueued(suite, enqueued)
    table, made_of = exported(workspace, suite, names=names)
    write_csv(file, table)
    digests.write(file.with_name(f"{file.name}.json"), made_of)
    if names:
        warn(f"people are called by name in {file}; hand it on only to who may know them")
    settled = int((table["source"] == "settled").sum())
    unjudged = int((table["verdict"] == "").sum())
    judged = len(table) - settled - unjudged
    counts = {"file": str(file), "judgements": judged, "settled": settled, "unjudged": unjudged}
    by_rule = f", {settled} continuations settled by rule" if settled else ""
    text = f"{file}: {judged} judgements{by_rule}, and {unjudged} continuations nobody has judged"
    say(as_json, counts, text)


def _refused(workspace: Workspace, *, pseudonyms: bool, as_json: bool) -> None:
    from collections import Counter
    from datetime import UTC, datetime

    from sts.annotations import people
    from sts.annotations.store import Store
    from sts.annotations.submissions import REFUSED_LIMIT, refused_answers

    with Store.read_existing(workspace) as connection:
        answers = refused_answers(connection) if connection else []
        if connection and pseudonyms:
            called = people.pseudonyms(connection)
            answers = [one._replace(annotator=called[one.annotator]) for one in answers]
    header = ("annotator", "received (UTC)", "why", "answer")
    rows = [
        (
            one.annotator,
            f"{datetime.fromtimestamp(one.received, UTC):%Y-%m-%d %H:%M:%S}",
            one.message,
            one.raw if len(one.raw) <= _ANSWER else f"{one.raw[:_ANSWER]}...",
        )
        for one in answers
    ]
    lines = [table(header, rows), ""] if rows else []
    lines.append(f"{len(rows)} refused answers kept aside; --json has them as far as they are kept")
    counts = Counter(one.annotator for one in answers)
    lines += [
        f"{name}: {count} is the most that is kept of one person; later ones are not here"
        for name, count in counts.items()
        if count >= REFUSED_LIMIT
    ]
    say(as_json, [one._asdict() for one in answers], "\n".join(lines))


def _verify(workspace: Workspace, *, as_json: bool) -> int:
    from sts.annotations.store import Store
    from sts.annotations.history import verify

    store = Store.find(workspace)
    if store is None:
        say(as_json, {"findings": []}, "no annotation database here, so nothing to verify")
        return 0
    with store:
        found = verify(store.database)
    people, wrong = len(found.authors), found.findings
    counts = {"events": found.events, "people": people, "clips": len(found.clips)}
    counts |= {"continuations": found.continuations, "references": len(found.references)}
    text = (
        f"{found.events} events of {people} {'person' if people == 1 else 'people'}, "
        f"{counts['clips']} clips, {found.continuations} continuations and "
        f"{counts['references']} references looked at"
    )
    if found.forgotten:
        text += f"; the words of {found.forgotten} events are forgotten"
    if wrong:
        text += f"; {len(wrong)} finding{'' if len(wrong) == 1 else 's'}"
    else:
        text += "; nothing was changed, lost or added"
    counts |= {"forgotten": found.forgotten}
    say(as_json, counts | {"findings": wrong}, "\n".join([*wrong, text]))
    return 1 if wrong else 0


COMMAND = Command(
    summary="bring judgements in and out as a ratings table",
    example=_EXAMPLE,
    configure=_configure,
    run=_run,
)
