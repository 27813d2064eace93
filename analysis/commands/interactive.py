"""`sts interactive import`: takes other metrics of the agents into the workspace."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sts.cli.command import Result, action, argument, group

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace


def import_(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Take a scores table in."""
    from analysis.inputs.scores import import_scores, read_scores

    scores = read_scores(Path(args.file))
    path = import_scores(workspace, scores)
    metrics = sorted(set(scores["metric"]))
    value = {"path": str(path), "rows": len(scores), "metrics": metrics}
    return Result(value, f"{len(scores)} scores ({', '.join(metrics)}) in {path}")


COMMAND = group(
    "import other metrics of agents, to correlate with their pass rates",
    "sts interactive import scores.csv",
    __name__,
    action(
        "import scores.csv",
        "take a scores table (agent, metric, value) in",
        argument("file", "FILE", "a scores table, .csv or .parquet"),
    ),
)
