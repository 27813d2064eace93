"""`sts label`: automatic labels for the continuations of a suite."""

import argparse
import math

from sts.cli.arguments import format_table
from sts.cli.command import Result
from sts.storage.workspace import Workspace
from sts.suites import selections
from sts.suites import suite_store as store
from sts_scenarios import api


def label(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Label every continuation of the suite, and show what passes."""
    suite = selections.load_selection(workspace, args.suite, store.load)
    labelled = api.label(suite, categories=args.category, workspace=workspace)
    without = labelled.attrs["without_rule"]
    agents = [
        row | ({"pass_rate": None} if math.isnan(row["pass_rate"]) else {})
        for row in labelled.to_dict("records")
    ]
    rows = [["-" if value is None else value for value in row.values()] for row in agents]
    header, file = [str(name) for name in labelled.columns], labelled.attrs["file"]
    lines = ["automatic labels, not judged by anyone", "", format_table(header, rows), ""]
    if without:
        more = f" and {len(without) - 1} more" if len(without) > 1 else ""
        lines.append(
            f"no rule for {without[0]}{more}: for people to judge with sts annotate {suite.label}"
        )
    value = {"suite": suite.label, "labels": "automatic", "file": file, "agents": agents}
    return Result(value | {"without_rule": without}, "\n".join((*lines, f"-> {file}")))
