"""`sts run`: agents continue a suite's scenarios."""

from __future__ import annotations

import argparse

from sts.cli.command import Command


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    parser.add_argument("suite", metavar="NAME@VERSION", help="or a part: NAME@VERSION+tag:T")
    parser.add_argument(
        "--agent",
        action="append",
        required=True,
        metavar="A",
        help="a name, module:Class or PYTHON:module:Class",
    )
    parser.add_argument("--continuations", type=int, default=10, metavar="N", help="a scenario")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="names the agents' draws")
    parser.add_argument("--workers", type=int, default=1, metavar="W", help="processes")
    parser.add_argument(
        "--executor",
        default="local",
        metavar="NAME",
        help="what has them done: local, or one that another package adds",
    )


def run(args: argparse.Namespace) -> int:
    """Makes what is missing; a killed run goes on where it was."""
    from sts.agents.identity import described, stated
    from sts.cli.arguments import progress, retries, say, table
    from sts.continuations.run import run as run_suite
    from sts.storage.workspace import Workspace
    from sts.suites import selections, store

    workspace = Workspace.open(args.workspace)
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
    every = [dict(zip(header, r, strict=True)) | {"stated_version": stated(r[3])} for r in rows]
    next_step = f"next: sts label {chosen.label}, then sts report {chosen.label}"
    say(args.json, every, f"{shown}\n\n{next_step}")
    return 0


COMMAND = Command(
    summary="let agents continue a suite's scenarios; resumable",
    example="sts run {suite} --agent {agent} --agent {other} --continuations 10",
    configure=configure,
    run=run,
)
