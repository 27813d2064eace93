"""`sts measure`: measures agents otherwise, to correlate with their pass rates."""

import argparse

from sts.cli.arguments import format_table
from sts.cli.command import Result
from sts.storage.workspace import Workspace
from sts.suites import store
from sts_analysis.metrics.measure import find, keep
from sts_analysis.metrics.measure import measure as measured


def measure(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Measure agents and keep their scores."""
    find(args.metric)
    suite = None if args.suite is None else store.load(workspace, args.suite)
    scores = measured(args.metric, args.agent, suite=suite, workspace=workspace, seed=args.seed)
    path = keep(args.metric, scores, workspace)
    shown = ["agent", "metric", "value", "standard_error", "n", "sees"]
    known = scores[shown].astype(object).where(scores[shown].notna(), None)
    rows = known.sort_values("value", ascending=False, kind="stable").to_dict("records")
    cells = [["none" if cell is None else cell for cell in row.values()] for row in rows]
    value = {"scores": rows, "path": str(path)}
    return Result(value, f"{format_table(shown, cells)}\n\n-> {path}")
