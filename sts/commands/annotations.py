"""`sts annotations`: judgements in and out, who judged what, and what reviewers found."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from sts.cli.arguments import format_table, warn
from sts.cli.command import Result, argument, declare, group, option, switch
from sts.commands.quality import quality
from sts.commands.study import (
    ANNOTATED,
    ANY_SUITE,
    LEAD,
    PSEUDONYMS,
    REASON,
    get_lead,
    read_study,
    resolve_study,
)
from sts.errors import ArgumentError
from sts.names import count_noun, format_time, isolate

if TYPE_CHECKING:
    from sts.annotations.database.annotation_store import Connection
    from sts.annotations.findings.error_analysis import ErrorAnalysis
    from sts.annotations.findings.imbalance import AssignmentBalance
    from sts.annotations.findings.round_progress import RoundProgress
    from sts.annotations.records import RejectedSubmission
    from sts.storage.workspace import Workspace

_REAL_NAMES = switch("show real names, for the study lead (default: pseudonyms)")
_MAX_ANSWER_CHARS = 60
_MAX_HEADER_CHARS = 24
"""Letters of an agent's name that head a column; the lines under the table have them whole."""


@declare("import them.csv")
def import_(
    workspace: Workspace, *, file: Path = argument("FILE", "ratings table in CSV", type=Path)
) -> Result:
    """Append the judgements of a ratings table; all or none, and safe to repeat."""
    from sts.annotations.answers import imports
    from sts.annotations.answers.matching import match_to_continuations
    from sts.annotations.database.annotation_store import AnnotationStore

    ratings = imports.read_ratings(file)
    with AnnotationStore.open(workspace) as store:
        ratings, additions = match_to_continuations(workspace, store, ratings)
        with store.write(exclusive=True) as connection:
            imported = imports.import_ratings(
                connection, ratings, additions, study=store.study, now=store.now()
            )
    text = f"{count_noun(imported.added, 'judgement')} added, {imported.known} were there already"
    if imported.repeated:
        text += f", and {count_noun(imported.repeated, 'further row')} repeat one of these"
    if imported.annotators:
        text += f"; new annotators: {', '.join(imported.annotators)}"
    return Result(imported._asdict(), text)


@declare("export {suite}")
def export(
    workspace: Workspace,
    *,
    suite: str | None = ANY_SUITE,
    file: Path = option(
        "FILE",
        "CSV file to write; the hashes go to FILE.json",
        Path("ratings.csv"),
        flag="--out",
        type=Path,
    ),
    real_names: bool = _REAL_NAMES,
) -> Result:
    """Write the current judgements, with corrections applied, and their sources' hashes."""
    from sts.annotations.database.presence import RECORD_FILE, has_study
    from sts.annotations.findings.export import export_ratings, write_csv
    from sts.annotations.vault import digests

    suite = resolve_study(workspace, suite)
    ratings, made_of = export_ratings(workspace, suite, names=real_names)
    write_csv(file, ratings)
    digests.write_digests(file.with_name(f"{file.name}.json"), made_of)
    if has_study(workspace):  # an older database that is put back lacks some of them
        digests.write_digests(workspace.path(RECORD_FILE), made_of)
    if real_names:
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
    by_rule = f", {count_noun(resolved, 'continuation')} auto-resolved" if resolved else ""
    without = count_noun(unjudged, "continuation")
    text = f"{file}: {count_noun(judged, 'judgement')}{by_rule}, and {without} without a verdict"
    return Result(counts, text)


@declare("rejected --json")
def rejected(workspace: Workspace, *, pseudonyms: bool = PSEUDONYMS) -> Result:
    """List submissions from pages that were rejected."""
    from datetime import UTC, datetime

    from sts.annotations.answers import submissions
    from sts.annotations.people import people

    def read(connection: Connection) -> list[RejectedSubmission]:
        rejections = submissions.list_rejected(connection)
        if not pseudonyms:
            return rejections
        names = people.load_pseudonyms(connection)
        return [
            rejection._replace(annotator=names[rejection.annotator]) for rejection in rejections
        ]

    answers = read_study(workspace, read) or []
    header = ("annotator", "received (UTC)", "why", "answer")
    rows = [
        (
            answer.annotator,
            f"{datetime.fromtimestamp(answer.received, UTC):%Y-%m-%d %H:%M:%S}",
            answer.message,
            answer.raw
            if len(answer.raw) <= _MAX_ANSWER_CHARS
            else f"{answer.raw[:_MAX_ANSWER_CHARS]}...",
        )
        for answer in answers
    ]
    lines = [format_table(header, rows), ""] if rows else []
    lines.append(f"{count_noun(len(rows), 'rejected submission')}; --json shows the full text")
    counts = Counter(answer.annotator for answer in answers)
    lines += [
        f"{name}: {count} is the most that is kept of one person; later ones are not here"
        for name, count in counts.items()
        if count >= submissions.MAX_REJECTED
    ]
    return Result([answer._asdict() for answer in answers], "\n".join(lines))


@declare("verify")
def verify(workspace: Workspace) -> Result:
    """Find records that were changed, deleted or inserted from outside; exit code 1 if any."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.annotations.vault import history
    from sts.annotations.vault.annotation_checks import find_loss

    store = AnnotationStore.find(workspace)
    if store is None:
        return Result({"findings": []}, "no annotation database here, so nothing to verify")
    with store:
        record = history.verify(store.database)
    wrong = [*record.findings, *find_loss(record, workspace)]
    authors = len(record.authors)
    counts = {"events": record.events, "people": authors, "clips": len(record.clips)}
    counts |= {"continuations": record.continuations, "references": len(record.references)}
    text = (
        f"{record.events} events of {authors} {'person' if authors == 1 else 'people'}, "
        f"{counts['clips']} clips, {record.continuations} continuations and "
        f"{counts['references']} references looked at"
    )
    if record.forgotten:
        text += f"; the words of {record.forgotten} events are forgotten"
    if wrong:
        text += f"; {count_noun(len(wrong), 'finding')}"
    else:
        text += "; nothing was changed, lost or added"
    value = counts | {"forgotten": record.forgotten, "findings": wrong}
    return Result(value, "\n".join([*wrong, text]), 1 if wrong else 0)


@declare("balance --json")
def balance(
    workspace: Workspace, *, suite: str | None = ANY_SUITE, real_names: bool = _REAL_NAMES
) -> Result:
    """Show which annotators judged which agents, and whether their effects can be separated."""
    from sts.annotations.findings import audit as audits
    from sts.annotations.findings import imbalance

    queued = resolve_study(workspace, suite)

    def read(connection: Connection) -> AssignmentBalance:
        return audits.load_balance_audit(connection, queued, names=real_names)

    audit = read_study(workspace, read) or imbalance.EMPTY_AUDIT
    if real_names:
        warn("this shows real names: share it only with people who may know them")
    value = audit._asdict() | {"suite": suite, "judgements": imbalance.count_by_name(audit)}
    return Result(value | {"sentence": audit.sentence}, _format_audit(audit))


def _format_audit(audit: AssignmentBalance) -> str:
    if not audit.clips:
        return audit.sentence
    is_short = (
        sum(map(len, audit.agents)) <= 4 * _MAX_HEADER_CHARS
        and max(map(len, audit.agents)) <= _MAX_HEADER_CHARS
    )
    numbers = [f"[{number}]" for number in range(1, len(audit.agents) + 1)]
    names = list(audit.agents) if is_short else numbers
    counts = zip(*audit.judgements, strict=True)
    rows = [(name, *row) for name, row in zip(audit.annotators, counts, strict=True)]
    total = ("in all", *(sum(row) for row in audit.judgements))
    lines = [format_table(("judgements", *names), [*rows, total]), ""]
    named = zip(names, audit.agents, strict=True)
    lines += [f"{name} is {agent}" for name, agent in named if name != agent]
    lines.append(
        f"{audit.clips} clips, {audit.twice} of them judged by two people or more; "
        f"{audit.anchors_judged} of {audit.anchors} anchors judged"
    )
    several = len(audit.annotators) > 1
    if several and audit.between is not None and audit.imbalance is not None:
        line = f"imbalance {audit.imbalance:.2f} ({' and '.join(audit.between)})"
        if audit.cramers_v is not None and audit.p is not None:
            line += f"; Cramer's V {audit.cramers_v:.2f}, p {audit.p:.3f}"
        lines.append(line)
    return "\n".join([*lines, audit.sentence])


@declare("rounds {suite}")
def rounds(workspace: Workspace, *, suite: str = ANNOTATED) -> Result:
    """Show how far each round of judging is, and how many hours are left."""
    from sts.annotations.findings.round_progress import load_rounds

    found = load_rounds(workspace, resolve_study(workspace, suite))
    every = found.rounds
    value = found._asdict() | {"rounds": [one._asdict() for one in every]}
    if not every:
        return Result(value, f"nothing of {suite} is queued for annotators")
    header = ("round", "continuations", "reached", "clips", "judged", "skipped", "hours")
    counts = [(*one[1:5], one.skipped) for one in every]
    total = [sum(column) for column in zip(*counts, strict=True)]
    left = None if None in (h := [one.hours_left for one in every]) else sum(x or 0.0 for x in h)
    rows: list[tuple[object, ...]] = [
        (one.round, *numbers, _format_hours(one.hours), _format_hours(one.hours_left))
        for one, numbers in zip(every, counts, strict=True)
    ]
    hours = sum(one.hours for one in every)
    rows.append(("in all", *total, _format_hours(hours), _format_hours(left)))
    current = next((one for one in every if one.clips > one.judged + one.skipped), None)
    text = "everything that is needed is judged"
    if current is not None:
        text = (
            f"round {current.round} of {every[-1].round}: rates rest on "
            f"{total[1]:,} of {total[0]:,} continuations"
        )
    lines = [format_table((*header, "hours left"), rows), "", text, *_describe_race(found, suite)]
    return Result(value, "\n".join(lines))


def _describe_race(found: RoundProgress, suite: str) -> list[str]:
    from sts.annotations.races import AIMS

    if found.goal == "all":
        return ["everything that is queued will be judged, as annotation.goal is all"]
    lines = [f"{AIMS[found.goal]}: {found.resolved} of {count_noun(found.pairs, 'pair')} resolved"]
    names = [isolate(name) + " (kept by a lead)" * (name in found.kept) for name in found.agents_in]
    lines.append(f"in the race: {', '.join(names) or 'none'}")
    if found.prediction_powered:
        lines.append(
            "looks use the automatic labels of what is not judged yet"
            if found.labelled
            else f"nothing is labelled, so looks rest on people alone: run sts label {suite}"
        )
    out = [f"{isolate(name)} after round {point:g}" for name, point in found.agents_out.items()]
    lines += [f"left: {', '.join(out)}"] if out else []
    if found.waits:
        lines.append(
            "a decision waits for a lead: sts race shows it, --confirm lets it take effect"
        )
    if found.expected_end is not None and found.agents_in:
        when = format_time(found.expected_end)
        lines.append(f"expected end, if no other agent leaves: {when} UTC")
    return lines


def _format_hours(hours: float | None) -> str:
    return "-" if hours is None else f"{hours:.1f}"


@declare("reviews {suite}")
def reviews(workspace: Workspace, *, suite: str = ANNOTATED) -> Result:
    """Count the error types that reviewers gave, and the automatic labels they corrected."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.annotations.findings.differences import list_disagreements, load_label_verdicts
    from sts.annotations.findings.error_analysis import count_errors
    from sts.annotations.findings.review_queues import load_reviews
    from sts.annotations.study import base_suite

    suite = resolve_study(workspace, suite)
    with AnnotationStore.open(workspace) as store, store.read() as connection:
        judged, study = load_reviews(connection, suite), store.study
    errors = count_errors(judged.clips, judged.reviews, study.review_sample, study.seed)
    rules = load_label_verdicts(
        workspace.store, base_suite(suite), [clip.continuation for clip in judged.clips]
    )
    against = list_disagreements(judged.clips, rules, judged.decided, judged.notes)
    value = {
        "errors": [row._asdict() for row in errors.rows],
        "over": {players: counts._asdict() for players, counts in errors.samples.items()},
        "rules": [disagreement._asdict() for disagreement in against],
    }
    lines = [_format_errors(errors), ""]
    if against:
        header = ("scenario", "people differ", "against the rule", "for the rule", "remarks")
        lines.append(
            format_table(
                header,
                [(*disagreement[:4], "; ".join(disagreement.remarks)) for disagreement in against],
            )
        )
    else:
        lines.append("people and rules say the same of every clip that both have judged")
    return Result(value, "\n".join(lines))


@declare("close {suite} --reason 'the funding ends'")
def close(
    workspace: Workspace,
    *,
    suite: str = ANNOTATED,
    reason: str = REASON,
    author: str | None = LEAD,
    reopen: bool = switch("reopen a closed study (default: close it)"),
) -> Result:
    """Close a study before all planned clips are judged; every report gives the reason."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.annotations.findings import plan as plans
    from sts.annotations.study import base_suite

    reason = plans.validate_reason(reason)
    store = AnnotationStore.find(workspace)
    if store is None:
        raise ArgumentError(f"no study has started in {workspace.root}; there is nothing to close")
    suite = base_suite(resolve_study(workspace, suite))
    hashes = plans.load_scenario_hashes(workspace, suite)
    with store, store.write(exclusive=True) as connection:
        lead = get_lead(connection, author)
        plan = plans.close_suite(
            connection, suite, hashes, lead, reason, reopen=reopen, now=store.now()
        )
    judged, planned = plan.judged_clips, plan.planned_clips
    value = {"suite": suite, "closed": not reopen, "by": lead.name, "reason": reason}
    value |= {"planned_clips": planned, "judged_clips": judged, "plan": plan.number}
    state = "reopened" if reopen else "closed"
    rest = "are queued again" if reopen else "are no longer assigned"
    text = (
        f"{suite} is {state} by {lead.name}: {judged} of {planned} planned clips are judged; "
        f"unjudged clips {rest}"
    )
    return Result(value, text)


def _format_errors(errors: ErrorAnalysis) -> str:
    header = ("source", "error", "people", "agents", "meaning")
    lines = [format_table(header, errors.rows)]
    for players, over in errors.samples.items():
        lines.append(
            f"{players}: {over.reviewed} reviewed of {over.sample}, drawn at random from "
            f"{over.failures} episodes annotated as failures"
            + (f"; {over.outside} reviewed outside the sample" if over.outside else "")
        )
    return "\n".join(lines)


ANNOTATIONS = group(
    "annotations export {suite}",
    import_,
    export,
    rejected,
    verify,
    balance,
    rounds,
    quality,
    close,
    reviews,
)
