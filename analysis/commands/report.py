"""`sts report`: one HTML page, its JSON and its tables, from a workspace or from a bare table."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sts.cli.command import Command
from sts.errors import ArgumentError


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", nargs="?", metavar="NAME@VERSION", help="a suite of the workspace")
    parser.add_argument(
        "--table", metavar="FILE", help="a ratings table, .csv or .parquet (default: none)"
    )
    parser.add_argument(
        "--scores", metavar="FILE", help="other metrics of the agents (default: the workspace's)"
    )
    parser.add_argument(
        "--target",
        choices=("sampled", "fixed"),
        default="sampled",
        help="what intervals speak of: all scenarios of these kinds (default), or just these",
    )
    parser.add_argument(
        "--contrast",
        nargs=2,
        action="append",
        default=[],
        metavar=("A", "B"),
        help="two agents whose comparison was planned beforehand; may be repeated",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="where to write it (default: the workspace's reports)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of every random draw (default 0)")


def _run(args: argparse.Namespace) -> int:
    if (args.suite is None) == (args.table is None):
        raise ArgumentError("give either a suite, NAME@VERSION, or --table FILE")
    if args.seed < 0:
        raise ArgumentError(f"--seed: expected 0 or more, found {args.seed}")

    from analysis.gather import Gathered, gather
    from analysis.outcomes import Subject
    from analysis.ratings import read_ratings
    from analysis.report import build
    from analysis.scores import empty_scores, override_scores, read_scores
    from analysis.write import check_folder, write
    from sts.provenance import provenance
    from sts.storage.workspace import Workspace

    if args.table is not None:
        table = Path(args.table)
        found = Gathered(
            read_ratings(table),
            empty_scores(),
            Subject(table.name),
            provenance(),
            Path("sts-report"),
        )
    else:
        found = gather(Workspace.open(args.workspace), args.suite)
    folder = Path(args.out) if args.out else found.folder
    check_folder(folder)
    scores = found.scores
    if args.scores is not None:
        scores = override_scores(scores, read_scores(Path(args.scores)))
    report = build(
        found.ratings,
        scores,
        suite=found.suite,
        target=args.target,
        seed=args.seed,
        contrasts=[(a, b) for a, b in args.contrast],
        provenance=found.provenance,
    )
    page = write(folder, report)
    if args.json:
        json.dump(report, sys.stdout, ensure_ascii=False, allow_nan=False)
        print()
    else:
        print(_text(report, page))
    return 0


def _text(report: Mapping[str, Any], page: Path) -> str:
    from analysis.verdict import completeness, percent, remark

    total = report["counts"]["scenarios"]
    several = len(report["rankings"]) > 1
    rows = [("rank", "could be", "pass rate", "95% interval", "scenarios", "judged", "agent")]
    for entry in report["agents"]:
        best, worst = entry["rank_set"] or ("–", "–")
        low, high = entry["interval"] or (None, None)
        place = f"{entry['ranking']}: {entry['rank']}" if several else str(entry["rank"])
        baseline = "baseline" if entry["sees"] != "observation" else ""
        said = "; ".join(filter(None, (baseline, remark(entry, total))))
        rows.append(
            (
                place if entry["rank"] else "–",
                str(best) if best == worst else f"{best}–{worst}",
                percent(entry["pass_rate"]),
                "–" if low is None else f"{percent(low)} to {percent(high)}",
                f"{entry['scenarios_judged']} of {total}",
                f"{entry['judged']} of {entry['continuations']}",
                entry["agent"] + (f" ({said})" if said else ""),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    lines = [
        "  ".join([*(cell.rjust(w) for cell, w in zip(row[:6], widths, strict=True)), row[6]])
        for row in rows
    ]
    if report["labels_used"] != "human":
        lines.insert(0, f"{report['labels_used'].capitalize()} labels, not an STS result.\n")
    if report["metrics_of_unknown_agents"]:
        strangers = ", ".join(report["metrics_of_unknown_agents"])
        lines += ["", f"scores left out, for there is no such agent here: {strangers}"]
    if report["metrics_left_out"]:
        left = (f"{m['agent']} ({m['metric']}): {m['reason']}" for m in report["metrics_left_out"])
        lines += ["", f"left out of correlations: {'; '.join(left)}"]
    target = {"sampled": "scenarios sampled", "fixed": "these scenarios only"}[report["target"]]
    more = f"Intervals: {target}, {report['labels_used']} labels."
    warnings = [f"Warning: {warning}" for warning in report["warnings"]]
    notes = [f"Note: {note}" for note in report["unknown"].values()]
    notes += [f"Note: {note}." for note in report["provenance"].get("notes", ())]
    count = report["counts"]
    if count["judged"] < count["continuations"]:
        notes.insert(0, f"Note: {completeness(count)}.")
    return "\n".join([*lines, "", report["verdict"], *warnings, more, *notes, f"report: {page}"])


COMMAND = Command(
    summary="rank the agents: one page, report.json, tables and figures",
    example="sts report {suite} --target sampled",
    configure=_configure,
    run=_run,
)
