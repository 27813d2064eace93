"""`sts label`: automatic labels for the continuations of a suite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sts.cli.arguments import format_table
from sts.cli.command import Result, argument, declare, repeatable

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace


@declare("label {suite}")
def label(
    workspace: Workspace,
    *,
    suite: str = argument(
        "NAME@VERSION", "or NAME@VERSION+tag:T, to print the pass rates of a part"
    ),
    category: list[str] = repeatable("module:NAME", "your own category; repeatable"),
) -> Result:
    """Label continuations with their categories' rules, without annotators."""
    from sts.suites import selections
    from sts.suites import suite_store as store
    from sts_scenarios import api

    selection = selections.load_selection(workspace, suite, store.load)
    labelled = api.label(selection, categories=category, workspace=workspace)
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
            f"no rule for {without[0]}{more}: for people to judge with "
            f"sts annotate {selection.label}"
        )
    value = {"suite": selection.label, "labels": "automatic", "file": file, "agents": agents}
    return Result(value | {"without_rule": without}, "\n".join((*lines, f"-> {file}")))
