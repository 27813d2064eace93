"""`sts interactive import`: takes other metrics of the agents into the workspace."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sts.cli.command import Command


def _configure(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verb = verbs.add_parser(
        "import",
        help="take a scores table (agent, metric, value) in",
        example="sts interactive import scores.csv",
    )
    verb.add_argument("file", metavar="FILE", help="a scores table, .csv or .parquet")


def _run(args: argparse.Namespace) -> int:
    from analysis.inputs.scores import import_scores, read_scores
    from sts.storage.workspace import Workspace

    scores = read_scores(Path(args.file))
    path = import_scores(Workspace.open(args.workspace), scores)
    metrics = sorted(set(scores["metric"]))
    if args.json:
        print(json.dumps({"path": str(path), "rows": len(scores), "metrics": metrics}))
    else:
        print(f"{len(scores)} scores ({', '.join(metrics)}) in {path}")
    return 0


COMMAND = Command(
    summary="import other metrics of agents, to correlate with their pass rates",
    example="sts interactive import scores.csv",
    configure=_configure,
    run=_run,
)
