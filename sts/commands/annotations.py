"""`sts annotations`: judgements in and out as a ratings table."""

from __future__ import annotations

import argparse
from collections import Counter
from datetime import UTC, datetime

from sts.annotations import history, imports, people, submissions
from sts.annotations.store import Connection, Store
from sts.annotations.types import RefusedAnswer
from sts.cli.arguments import table, warn
from sts.cli.command import Result
from sts.commands.study import check_enqueued, read_study
from sts.storage.workspace import Workspace

_ANSWER = 60


def import_(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Append judgements made elsewhere."""
    from sts.annotations.locate import located

    ratings = imports.read_csv(args.file)
    with Store.open(workspace) as store:
        ratings, additions = located(workspace, store, ratings)
        with store.write(alone=True) as connection:
            imported = imports.append(
                connection, ratings, additions, study=store.study, required=None, now=store.now()
            )
    text = f"{imported.added} judgements added, {imported.known} were there already"
    if imported.annotators:
        text += f"; new annotators: {', '.join(imported.annotators)}"
    return Result(imported._asdict(), text)


def export(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Write the current judgements, and the digests of what they are from."""
    from sts.annotations import digests
    from sts.annotations.export import exported, write_csv

    file = args.out
    check_enqueued(workspace, args.suite)
    ratings, made_of = exported(workspace, args.suite, names=args.real_names)
    write_csv(file, ratings)
    digests.write(file.with_name(f"{file.name}.json"), made_of)
    if args.real_names:
        warn(f"{file} shows real names: share it only with people who may know them")
    settled = int((ratings["source"] == "settled").sum())
    unjudged = int((ratings["verdict"] == "").sum())
    judged = len(ratings) - settled - unjudged
    counts = {"file": str(file), "judgements": judged, "settled": settled, "unjudged": unjudged}
    by_rule = f", {settled} continuations settled by rule" if settled else ""
    text = f"{file}: {judged} judgements{by_rule}, and {unjudged} continuations without a verdict"
    return Result(counts, text)


def refused(args: argparse.Namespace, workspace: Workspace) -> Result:
    """List what pages sent that could not be kept as a judgement."""

    def read(connection: Connection) -> list[RefusedAnswer]:
        found = submissions.refused_answers(connection)
        if not args.pseudonyms:
            return found
        called = people.pseudonyms(connection)
        return [one._replace(annotator=called[one.annotator]) for one in found]

    answers = read_study(workspace, read) or []
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
        if count >= submissions.REFUSED_LIMIT
    ]
    return Result([one._asdict() for one in answers], "\n".join(lines))


def verify(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Find what was changed, lost or added behind the store's back."""
    store = Store.find(workspace)
    if store is None:
        return Result({"findings": []}, "no annotation database here, so nothing to verify")
    with store:
        found = history.verify(store.database)
    authors, wrong = len(found.authors), found.findings
    counts = {"events": found.events, "people": authors, "clips": len(found.clips)}
    counts |= {"continuations": found.continuations, "references": len(found.references)}
    text = (
        f"{found.events} events of {authors} {'person' if authors == 1 else 'people'}, "
        f"{counts['clips']} clips, {found.continuations} continuations and "
        f"{counts['references']} references looked at"
    )
    if found.forgotten:
        text += f"; the words of {found.forgotten} events are forgotten"
    if wrong:
        text += f"; {len(wrong)} finding{'' if len(wrong) == 1 else 's'}"
    else:
        text += "; nothing was changed, lost or added"
    value = counts | {"forgotten": found.forgotten, "findings": wrong}
    return Result(value, "\n".join([*wrong, text]), 1 if wrong else 0)
