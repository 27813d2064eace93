"""`sts label`: automatic labels for what agents did, until somebody judges it."""

from __future__ import annotations

import argparse

from sts.cli.arguments import progress, records, table
from sts.cli.command import Result
from sts.errors import StsError
from sts.ratings import VERDICTS
from sts.storage.workspace import Workspace
from sts.suites import selections, store
from sts_scenarios import categories
from sts_scenarios.labels import label_suite


def label(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Label every continuation of the suite, and show what passes."""
    chosen = selections.load(workspace, args.suite, store.load)
    suite = chosen.suite
    brought = [categories.named(name) for name in args.category]
    unruled = sorted(
        {s.category for s in suite.scenarios} - {*categories.ruling(suite.scenarios, brought)}
    )
    if len(unruled) == len({s.category for s in suite.scenarios}):
        raise StsError(
            f"no automatic label for {', '.join(unruled)}: name a category of your own by "
            "--category module:NAME"
        )
    with progress(suite.label, "continuations") as show:
        part = {one.id for one in chosen.scenarios} if chosen.terms else None
        labelled = label_suite(workspace, suite, brought, part=part, progress=show)
    if not labelled.counts:
        raise StsError(
            f"no continuations of {chosen.label} to label: expected some from "
            f"sts run {chosen.label} --agent NAME"
        )
    verdicts = VERDICTS[:3]
    header = ("agent", "continuations", *verdicts, "unlabelled", "pass_rate")
    rows = []
    for agent, own in labelled.counts.items():
        counts = [own.get(verdict, 0) for verdict in verdicts]
        rate = counts[0] / sum(counts) if sum(counts) else None
        rows.append((agent, sum(own.values()), *counts, own.get("", 0), rate))
    notes = [f"no automatic label for {name}: for people to judge" for name in unruled]
    text = "\n".join(
        (
            "automatic labels, not judged by anyone",
            "",
            table(header, [(*row[:-1], "-" if row[-1] is None else row[-1]) for row in rows]),
            "",
            *notes,
            f"-> {labelled.path}",
        )
    )
    value = {
        "suite": chosen.label,
        "labels": "automatic",
        "file": str(labelled.path),
        "agents": records(header, rows),
        "without_label": unruled,
    }
    return Result(value, text)
