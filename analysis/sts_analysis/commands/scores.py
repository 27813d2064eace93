"""`sts scores import`: takes other metrics of the agents into the workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sts.cli.command import Result, argument, declare, group

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace


@declare("import scores.csv")
def import_(
    workspace: Workspace,
    *,
    file: str = argument("FILE", "scores table: .csv, .tsv, .parquet, .xlsx"),
) -> Result:
    """Import a scores table (agent, metric, value)."""
    from sts_analysis.inputs.scores import import_scores, read_scores

    scores = read_scores(Path(file))
    path = import_scores(workspace, scores)
    metrics = sorted(set(scores["metric"]))
    value = {"path": str(path), "rows": len(scores), "metrics": metrics}
    return Result(value, f"{len(scores)} scores ({', '.join(metrics)}) in {path}")


SCORES = group("scores import scores.csv", import_)
