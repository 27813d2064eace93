"""`sts measure`: measures agents otherwise, to correlate with their pass rates."""

from __future__ import annotations

import argparse

from sts.cli.command import Command


def _configure(parser: argparse.ArgumentParser) -> None:
    from sts import registry

    installed = ", ".join(registry.named("sts.metrics"))
    parser.add_argument("metric", metavar="METRIC", help=f"{installed}, or your module:function")
    parser.add_argument(
        "--agent", action="append", required=True, metavar="A", help="a name or module:Class"
    )
    parser.add_argument(
        "--suite", metavar="NAME@VERSION", help="for a metric that asks for one (default: none)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of every random draw (default: 0)"
    )


def _run(args: argparse.Namespace) -> int:
    from analysis.metrics.measure import find, keep, measure
    from sts.cli.arguments import at_least, say, table
    from sts.storage.workspace import Workspace
    from sts.suites import store

    at_least(0, "--seed", args.seed)
    find(args.metric)
    workspace = Workspace.open(args.workspace)
    suite = None if args.suite is None else store.load(workspace, args.suite)
    scores = measure(args.metric, args.agent, suite=suite, workspace=workspace, seed=args.seed)
    path = keep(args.metric, scores, workspace)
    shown = ["agent", "metric", "value", "standard_error", "n", "sees"]
    known = scores[shown].astype(object).where(scores[shown].notna(), None)
    rows = known.sort_values("value", ascending=False, kind="stable").to_dict("records")
    cells = [["none" if cell is None else cell for cell in row.values()] for row in rows]
    say(args.json, {"scores": rows, "path": str(path)}, f"{table(shown, cells)}\n\n-> {path}")
    return 0


COMMAND = Command(
    summary="measure agents otherwise, to correlate with their pass rates",
    example="sts measure log_prob --suite {suite} --agent {agent} --agent {other}",
    arguments=(_configure,),
    run=_run,
)
