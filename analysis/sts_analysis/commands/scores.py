"""`sts scores import`: takes other metrics of the agents into the workspace."""

import argparse
from pathlib import Path

from sts.cli.command import Result
from sts.storage.workspace import Workspace
from sts_analysis.inputs.scores import import_scores, read_scores


def import_(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Take a scores table in."""
    scores = read_scores(Path(args.file))
    path = import_scores(workspace, scores)
    metrics = sorted(set(scores["metric"]))
    value = {"path": str(path), "rows": len(scores), "metrics": metrics}
    return Result(value, f"{len(scores)} scores ({', '.join(metrics)}) in {path}")
