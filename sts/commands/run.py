"""`sts run`: agents continue a suite's scenarios."""

from __future__ import annotations

import argparse

from sts.cli.command import Command


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    parser.add_argument("suite", metavar="NAME@VERSION")
    parser.add_argument(
        "--agent", action="append", required=True, metavar="A", help="a name or module:Class"
    )
    parser.add_argument("--continuations", type=int, default=10, metavar="N", help="a scenario")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--workers", type=int, default=1, metavar="W", help="processes")


def run(args: argparse.Namespace) -> int:
    """Makes what is missing; a killed run goes on where it was."""
    from sts.agents.identity import described
    from sts.cli.arguments import progress, say, table
    from sts.continuations.run import run as run_suite
    from sts.storage.workspace import Workspace
    from sts.suites import store

    workspace = Workspace.open(args.workspace)
    suite = store.load(workspace, args.suite)
    with progress(suite.label, "continuations") as show:
        done = run_suite(
            workspace,
            suite.scenarios,
            args.agent,
            count=args.continuations,
            seed=args.seed,
            workers=args.workers,
            progress=show,
        )
    header = ("agent", "fingerprint", "made", "kept")
    marks = {name: described(mark) for name, mark in done.fingerprints.items()}
    rows = [(name, marks[name], done.made[name], done.kept[name]) for name in args.agent]
    text = f"{table(header, rows)}\n\nnext: sts label {suite.label}, then sts report {suite.label}"
    say(args.json, [dict(zip(header, row, strict=True)) for row in rows], text)
    return 0


COMMAND = Command(
    summary="let agents continue a suite's scenarios; resumable",
    example="sts run starter@1 --agent rule --agent random --continuations 10",
    configure=configure,
    run=run,
)
