"""`sts measure`: measures agents otherwise, to correlate with their pass rates."""

import argparse
import inspect
from contextlib import ExitStack
from typing import Any

from sts.cli.arguments import format_table, show_progress, to_records
from sts.cli.command import Result
from sts.cli.files import resolve_target, write
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts_analysis.commands.table import MEASURE_SETTINGS
from sts_analysis.inputs.scores import empty_scores
from sts_analysis.metrics.measure import compute, find, keep, to_table

_INTERRUPTED = 130
"""Exit code of a command that was interrupted."""


def measure(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Measure agents and keep their scores, even if the figure cannot be written afterwards."""
    _, metric = find(args.metric)
    if args.figure is not None and not getattr(inspect.getmodule(metric), "HAS_FIGURE", False):
        raise ArgumentError(f"metric {args.metric!r} draws no figure: leave out --figure")
    image = resolve_target("--figure", args.figure, ".svg")
    suite = None if args.suite is None else store.load(workspace, args.suite)
    given = {name: getattr(args, name) for name in MEASURE_SETTINGS}
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with ExitStack() as stack:
        if "progress" in inspect.signature(metric).parameters:
            settings["progress"] = stack.enter_context(show_progress("measuring", "parts"))
        found = compute(
            args.metric, args.agent, suite=suite, workspace=workspace, seed=args.seed, **settings
        )
    is_check = bool(found.tables) and not found.rows
    scores = empty_scores() if is_check else to_table(args.metric, args.agent, found)
    path = None if is_check else str(keep(args.metric, scores, workspace))
    shown = ["agent", "metric", "value", "standard_error", "n", "sees"]
    known = scores[shown].astype(object).where(scores[shown].notna(), None)
    rows = known.sort_values("value", ascending=False, kind="stable").to_dict("records")
    cells = [["none" if cell is None else cell for cell in row.values()] for row in rows]
    blocks = [format_table(shown, cells)] if not found.tables else []
    blocks += [f"{one.heading}\n{format_table(one.columns, one.rows)}" for one in found.tables]
    blocks += found.notes
    files = [path] if path else []
    if image is not None and found.draw is not None:
        from sts import plotting

        svg = plotting.to_svg(found.draw())
        write(image, plotting.to_svg_file(svg, args.metric).encode())
        files.append(str(image))
    tables = {one.heading: to_records(one.columns, one.rows) for one in found.tables}
    value = {"scores": rows, "tables": tables, "notes": [*found.notes], "path": path}
    blocks += ["\n".join(f"-> {file}" for file in files)] if files else []
    code = _INTERRUPTED if found.interrupted else int(found.failed)
    return Result(value, "\n\n".join(blocks), code)
