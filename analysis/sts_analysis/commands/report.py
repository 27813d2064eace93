"""`sts report`: one HTML page, its JSON and its tables, from a workspace or from a bare table."""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sts.cli.arguments import show_progress, warn
from sts.errors import ArgumentError
from sts.names import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sts_analysis.report.schema import Report

ALL, NONE, APP = "all", "none", "app"
USUAL = 3000
"""Clips that are taken along unless it is said how many."""


def report(args: argparse.Namespace) -> int:
    """Rank the agents."""
    with _uncollected():
        return _report(args)


@contextmanager
def _uncollected() -> Iterator[None]:
    """A report is millions of objects that live to its end: none is garbage, however often seen."""
    usual = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if usual:
            gc.enable()


def _report(args: argparse.Namespace) -> int:
    # Products of matrices are small here: more threads would only wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _check(args)
    taken = _taken(args)

    from sts.ratings import REQUIRED_COLUMNS
    from sts.storage.csv_tables import read_header, require_columns

    if args.table is not None and (header := read_header(Path(args.table))) is not None:
        require_columns(Path(args.table).name, header, REQUIRED_COLUMNS)

    from sts_analysis.api import build_report
    from sts_analysis.evidence.bundle import bundle, check_bundle
    from sts_analysis.report.json_form import to_json
    from sts_analysis.report.page import NO_CLIPS
    from sts_analysis.report.terminal import table
    from sts_analysis.report.write import check_folder, write

    if args.table is not None:
        from sts_analysis.inputs.gather import gather_table

        gathered = gather_table(Path(args.table))
    else:  # only a suite needs a workspace, its annotations, and worlds to check it by
        from sts.storage.workspace import Workspace
        from sts_analysis.inputs.workspace import gather

        workspace = Workspace.open(args.workspace)
        gathered = gather(workspace, args.suite, args.compare_to)
    folder = Path(args.out) if args.out else gathered.folder
    check_folder(folder)
    if args.zip:
        check_bundle(Path(args.zip))
    margin = args.non_inferiority_margin
    report = build_report(
        gathered,
        args.scores,
        target=args.target,
        seed=args.seed,
        contrasts=[(a, b) for a, b in args.contrast],
        guessing_baseline=args.guessing_baseline,
        non_inferiority_margin=None if margin is None else margin / 100,
        reference_agent=args.reference_agent,
        real_names=args.real_names,
        workspace=args.workspace,
    )
    paper = _paper(report, args)
    said = NO_CLIPS
    if taken == 0:
        with _steps("writing", 3) as step:
            page = write(folder, report, paper=paper, step=step)
    else:
        from sts_analysis.evidence.gather import evidence

        most = taken if isinstance(taken, int) else None
        with evidence(
            *(workspace, args.suite, gathered, report, folder),
            most=most,
            linked=taken == APP,
            show=show_progress,
        ) as own:
            with _steps("writing", 3) as step:
                page = write(folder, report, own, paper, step=step)
            said = own.link.says
    if args.real_names:
        warn(f"{folder} shows real names: share it only with people who may know them")
    if args.json:
        json.dump(to_json(report), sys.stdout, ensure_ascii=False, allow_nan=False)
        print()
    else:
        print(f"{table(report)}\n{said}\nreport: {page}")
    if args.zip:
        size = bundle(folder, Path(args.zip))
        if not args.json:
            print(f"bundle: {args.zip} ({size / 1e6:.1f} MB)")
    if args.wandb is not None:
        from sts_analysis.report.tracking import log_report

        log_report(report, args.wandb)
    return 0


@contextmanager
def _steps(label: str, parts: int) -> Iterator[Callable[[], None]]:
    """Yields what is to be called after each of so many parts, and draws how many are over."""
    over = itertools.count(1)
    with show_progress(label, "parts") as show:
        show(0, parts)
        yield lambda: show(next(over), parts)


def _check(args: argparse.Namespace) -> None:
    """Refuses flags that do not go together, before anything is read."""
    if (args.suite is None) == (args.table is None):
        raise ArgumentError("give either a suite, NAME@VERSION, or --table FILE")
    if args.table is not None and args.compare_to is not None:
        raise ArgumentError("--compare-to cannot be combined with --table")
    if args.table is not None and args.real_names:
        raise ArgumentError("--real-names cannot be combined with --table")
    margin = args.non_inferiority_margin
    if margin is not None and not 0 < margin < 100:
        raise ArgumentError(
            f"--non-inferiority-margin: expected points between 0 and 100, found {margin:g}"
        )
    if args.reference_agent is not None and margin is None:
        raise ArgumentError("--reference-agent needs --non-inferiority-margin")
    if args.title and not args.paper:
        raise ArgumentError("--title is for the figures of --paper")
    if args.wandb is not None:
        from sts_analysis.report.tracking import check_project

        check_project(args.wandb)


def _paper(report: Report, args: argparse.Namespace) -> dict[str, bytes]:
    """What is written for a paper, by path; nothing unless it is asked for."""
    if not args.paper:
        return {}
    from sts_analysis.report.paper.files import files

    return files(report, title=args.title)


def _taken(args: argparse.Namespace) -> int | str:
    """How many clips are taken along: a number, `ALL` or `APP`.

    Raises:
      ArgumentError: it is none of these, or asked of a table, which has no clips.
    """
    asked = args.clips
    if asked is None:
        return USUAL if args.suite is not None else 0
    taken = 0 if asked == NONE else asked
    if isinstance(taken, str) and taken.isascii() and taken.isdecimal() and len(taken) < 10:
        taken = int(taken)
    if isinstance(taken, str) and taken not in (ALL, APP):
        raise ArgumentError(
            f"--clips: expected a number of clips, {ALL}, {NONE} or {APP}, found {quote(taken)}"
        )
    if args.table is not None and taken != 0:
        raise ArgumentError("--clips is for a suite, NAME@VERSION; a table has no clips")
    return taken
