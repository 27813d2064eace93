"""`sts run`: agents continue a suite's scenarios."""

from __future__ import annotations

import argparse

from sts.agents.identity import described, stated
from sts.cli.arguments import progress, records, retries, table
from sts.cli.command import Result
from sts.continuations.run import run as run_suite
from sts.storage.workspace import Workspace
from sts.suites import selections, store


def run(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Make what is missing; a killed run continues where it was."""
    chosen = selections.load(workspace, args.suite, store.load)
    with retries() as mention, progress(chosen.label, "continuations") as show:
        done = run_suite(
            workspace,
            chosen.scenarios,
            args.agent,
            count=args.continuations,
            seed=args.seed,
            workers=args.workers,
            progress=show,
            suite=chosen.suite.hash,
            by=args.executor,
            mention=mention,
        )
    header = ("agent", "made", "kept", "fingerprint")
    rows = [(n, done.made[n], done.kept[n], done.fingerprints[n]) for n in args.agent]
    shown = table(header, [(*row[:3], described(row[3])) for row in rows])
    every = [one | {"stated_version": stated(one["fingerprint"])} for one in records(header, rows)]
    next_step = f"next: sts label {chosen.label}, then sts report {chosen.label}"
    return Result(every, f"{shown}\n\n{next_step}")
