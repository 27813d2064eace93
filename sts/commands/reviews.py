"""`sts annotations reviews`: Table 1, and the scenarios whose rule people contradict."""

from __future__ import annotations

import argparse

from sts.annotations.breakdown import Breakdown, breakdown
from sts.annotations.differences import contradicted, rules_verdicts
from sts.annotations.reviewed import reviewed
from sts.annotations.store import Store
from sts.cli.arguments import table
from sts.cli.command import Result
from sts.commands.study import check_enqueued
from sts.storage.workspace import Workspace


def reviews(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Show Table 1, and the scenarios whose rule people contradict."""
    suite = args.suite
    check_enqueued(workspace, suite)
    with Store.open(workspace) as store, store.read() as connection:
        found, study = reviewed(connection, suite), store.study
    errors = breakdown(found.clips, found.reviews, study.review_sample, study.seed)
    whole = suite.partition("+")[0]
    rules = rules_verdicts(workspace.store, whole, [one.continuation for one in found.clips])
    against = contradicted(found.clips, rules, found.decided, found.notes)
    value = {
        "errors": [row._asdict() for row in errors.rows],
        "over": {who: counts._asdict() for who, counts in errors.over.items()},
        "rules": [one._asdict() for one in against],
    }
    lines = [_errors(errors), ""]
    if against:
        header = ("scenario", "people differ", "against the rule", "for the rule", "remarks")
        lines.append(table(header, [(*one[:4], "; ".join(one.remarks)) for one in against]))
    else:
        lines.append("people and rules say the same of every clip that both have judged")
    return Result(value, "\n".join(lines))


def _errors(errors: Breakdown) -> str:
    header = ("source", "error", "people", "agents", "meaning")
    lines = [table(header, errors.rows)]
    for who, over in errors.over.items():
        lines.append(
            f"{who}: {over.reviewed} reviewed of {over.sample}, drawn at random from "
            f"{over.failures} episodes annotated as failures"
            + (f"; {over.outside} reviewed outside the sample" if over.outside else "")
        )
    return "\n".join(lines)
