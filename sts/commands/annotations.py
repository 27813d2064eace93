"""`sts annotations`: judgements in and out, who judged what, and what reviewers found."""

import argparse
from collections import Counter
from datetime import UTC, datetime

from sts.annotations import audit as audits
from sts.annotations import history, imbalance, imports, people, submissions
from sts.annotations.differences import list_disagreements, load_label_verdicts
from sts.annotations.error_analysis import ErrorAnalysis, count_errors
from sts.annotations.imbalance import AssignmentBalance
from sts.annotations.review_queues import load_reviews
from sts.annotations.store import AnnotationStore, Connection
from sts.annotations.types import RejectedSubmission
from sts.cli.arguments import format_table, warn
from sts.cli.command import Result
from sts.commands.study import check_enqueued, read_study
from sts.names import count_noun
from sts.storage.workspace import Workspace

_MAX_ANSWER_CHARS = 60
_MAX_HEADER_CHARS = 24
"""Letters of an agent's name that head a column; the lines under the table have them whole."""


def import_(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Append judgements made elsewhere."""
    from sts.annotations.matching import match_to_continuations

    ratings = imports.read_ratings(args.file)
    with AnnotationStore.open(workspace) as store:
        ratings, additions = match_to_continuations(workspace, store, ratings)
        with store.write(alone=True) as connection:
            imported = imports.import_ratings(
                connection, ratings, additions, study=store.study, required=None, now=store.now()
            )
    text = f"{imported.added} judgements added, {imported.known} were there already"
    if imported.annotators:
        text += f"; new annotators: {', '.join(imported.annotators)}"
    return Result(imported._asdict(), text)


def export(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Write the current judgements, and the digests of what they are from."""
    from sts.annotations import digests
    from sts.annotations.export import export_ratings, write_csv

    file = args.out
    check_enqueued(workspace, args.suite)
    ratings, made_of = export_ratings(workspace, args.suite, names=args.real_names)
    write_csv(file, ratings)
    digests.write_digests(file.with_name(f"{file.name}.json"), made_of)
    if args.real_names:
        warn(f"{file} shows real names: share it only with people who may know them")
    resolved = int((ratings["source"] == "settled").sum())
    unjudged = int((ratings["verdict"] == "").sum())
    judged = len(ratings) - resolved - unjudged
    counts = {
        "file": str(file),
        "judgements": judged,
        "auto_resolved": resolved,
        "unjudged": unjudged,
    }
    by_rule = f", {resolved} continuations auto-resolved" if resolved else ""
    text = f"{file}: {judged} judgements{by_rule}, and {unjudged} continuations without a verdict"
    return Result(counts, text)


def rejected(args: argparse.Namespace, workspace: Workspace) -> Result:
    """List what pages sent that could not be kept as a judgement."""

    def read(connection: Connection) -> list[RejectedSubmission]:
        found = submissions.list_rejected(connection)
        if not args.pseudonyms:
            return found
        called = people.load_pseudonyms(connection)
        return [one._replace(annotator=called[one.annotator]) for one in found]

    answers = read_study(workspace, read) or []
    header = ("annotator", "received (UTC)", "why", "answer")
    rows = [
        (
            one.annotator,
            f"{datetime.fromtimestamp(one.received, UTC):%Y-%m-%d %H:%M:%S}",
            one.message,
            one.raw if len(one.raw) <= _MAX_ANSWER_CHARS else f"{one.raw[:_MAX_ANSWER_CHARS]}...",
        )
        for one in answers
    ]
    lines = [format_table(header, rows), ""] if rows else []
    lines.append(f"{count_noun(len(rows), 'rejected submission')}; --json shows the full text")
    counts = Counter(one.annotator for one in answers)
    lines += [
        f"{name}: {count} is the most that is kept of one person; later ones are not here"
        for name, count in counts.items()
        if count >= submissions.MAX_REJECTED
    ]
    return Result([one._asdict() for one in answers], "\n".join(lines))


def verify(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Find what was changed, lost or added behind the store's back."""
    store = AnnotationStore.find(workspace)
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
        text += f"; {count_noun(len(wrong), 'finding')}"
    else:
        text += "; nothing was changed, lost or added"
    value = counts | {"forgotten": found.forgotten, "findings": wrong}
    return Result(value, "\n".join([*wrong, text]), 1 if wrong else 0)


def balance(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Show who judged which agent of a suite, or of everything."""

    def read(connection: Connection) -> AssignmentBalance:
        return audits.load_balance_audit(connection, args.suite, names=args.real_names)

    check_enqueued(workspace, args.suite)
    found = read_study(workspace, read) or imbalance.EMPTY_AUDIT
    if args.real_names:
        warn("this shows real names: share it only with people who may know them")
    value = found._asdict() | {"suite": args.suite, "judgements": imbalance.count_by_name(found)}
    return Result(value | {"sentence": found.sentence}, _format_audit(found))


def _format_audit(found: AssignmentBalance) -> str:
    if not found.clips:
        return found.sentence
    short = (
        sum(map(len, found.agents)) <= 4 * _MAX_HEADER_CHARS
        and max(map(len, found.agents)) <= _MAX_HEADER_CHARS
    )
    numbers = [f"[{number}]" for number in range(1, len(found.agents) + 1)]
    names = list(found.agents) if short else numbers
    counts = zip(*found.judgements, strict=True)
    rows = [(name, *row) for name, row in zip(found.annotators, counts, strict=True)]
    total = ("in all", *(sum(row) for row in found.judgements))
    lines = [format_table(("judgements", *names), [*rows, total]), ""]
    named = zip(names, found.agents, strict=True)
    lines += [f"{short} is {agent}" for short, agent in named if short != agent]
    lines.append(
        f"{found.clips} clips, {found.twice} of them judged by two people or more; "
        f"{found.anchors_judged} of {found.anchors} anchors judged"
    )
    several = len(found.annotators) > 1
    if several and found.between is not None and found.imbalance is not None:
        line = f"imbalance {found.imbalance:.2f} ({' and '.join(found.between)})"
        if found.cramers_v is not None and found.p is not None:
            line += f"; Cramer's V {found.cramers_v:.2f}, p {found.p:.3f}"
        lines.append(line)
    return "\n".join([*lines, found.sentence])


def reviews(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Show Table 1, and the scenarios whose rule people contradict."""
    suite = args.suite
    check_enqueued(workspace, suite)
    with AnnotationStore.open(workspace) as store, store.read() as connection:
        found, study = load_reviews(connection, suite), store.study
    errors = count_errors(found.clips, found.reviews, study.review_sample, study.seed)
    whole = suite.partition("+")[0]
    rules = load_label_verdicts(workspace.store, whole, [one.continuation for one in found.clips])
    against = list_disagreements(found.clips, rules, found.decided, found.notes)
    value = {
        "errors": [row._asdict() for row in errors.rows],
        "over": {who: counts._asdict() for who, counts in errors.samples.items()},
        "rules": [one._asdict() for one in against],
    }
    lines = [_format_errors(errors), ""]
    if against:
        header = ("scenario", "people differ", "against the rule", "for the rule", "remarks")
        lines.append(format_table(header, [(*one[:4], "; ".join(one.remarks)) for one in against]))
    else:
        lines.append("people and rules say the same of every clip that both have judged")
    return Result(value, "\n".join(lines))


def _format_errors(errors: ErrorAnalysis) -> str:
    header = ("source", "error", "people", "agents", "meaning")
    lines = [format_table(header, errors.rows)]
    for who, over in errors.samples.items():
        lines.append(
            f"{who}: {over.reviewed} reviewed of {over.sample}, drawn at random from "
            f"{over.failures} episodes annotated as failures"
            + (f"; {over.outside} reviewed outside the sample" if over.outside else "")
        )
    return "\n".join(lines)
