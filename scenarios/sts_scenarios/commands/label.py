"""`sts label`: automatic labels for the continuations of a suite."""

from __future__ import annotations

import argparse
import math

from sts.cli.arguments import table
from sts.cli.command import Result
from sts.storage.workspace import Workspace
from sts.suites import selections, store
from sts_scenarios import api


def label(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Label every continuation of the suite, and show what passes."""
    suite = selections.load(workspace, args.suite, store.load)
    labelled = api.label(suite, categories=args.category, workspace=workspace)
    without = labelled.attrs["without_label"]
    agents = [
        row | ({"pass_rate": None} if math.isnan(row["pass_rate"]) else {})
        for row in labelled.to_dict("records")
    ]
    rows = [["-" if value is None else value for value in row.values()] for row in agents]
    text = "\n".join(
        (
            "automatic labels, not judged by anyone",
            "",
            table([str(name) for name in labelled.columns], rows),
            "",
            *(f"no automatic label for {name}: for people to judge" for name in without),
            f"-> {labelled.attrs['file']}",
        )
    )
    value = {
        "suite": suite.label,
        "labels": "automatic",
        "file": labelled.attrs["file"],
        "agents": agents,
        "without_label": without,
    }
    return Result(value, text)
