"""`sts report`: two pages, JSON and tables, from a workspace or from a bare table."""

import argparse
import gc
import os
import sys
from pathlib import Path

from sts.cli.arguments import warn
from sts.errors import ArgumentError, DamagedData
from sts.names import quote

ALL, NONE, APP = "all", "none", "app"
USUAL_CLIPS = 3000
"""Supporting clips in a report unless another number is given."""


def report(args: argparse.Namespace) -> int:
    """Rank the agents."""
    gc.disable()  # a report is millions of objects that live to its end
    try:
        return _report(args)
    finally:
        gc.enable()


def _report(args: argparse.Namespace) -> int:
    # Products of matrices are small here: more threads would only wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _check_options(args)
    clips = _count_clips(args)

    from sts.ratings import TYPES
    from sts.storage.csv_tables import read_header
    from sts.storage.workspace import Workspace
    from sts_analysis.inputs.mapping import find_columns, parse_mapping, require_columns

    mapping = parse_mapping(args)
    if args.table is not None and (header := read_header(Path(args.table))) is not None:
        table = Path(args.table).name
        require_columns(table, header, find_columns(table, header, TYPES, mapping), mapping)

    from sts_analysis.api import build_report
    from sts_analysis.commands.source import gather_source
    from sts_analysis.evidence.bundle import bundle, check_bundle
    from sts_analysis.evidence.gather import CLIP_PAGE, open_evidence
    from sts_analysis.inputs.gather import add_scores
    from sts_analysis.report.write import PARTS, check_folder, write_report

    gathered = gather_source(args, args.compare_to)
    if args.scores is not None:
        gathered = add_scores(gathered, Path(args.scores))
    if gathered.reading is not None and not gathered.reading.is_usual:
        warn(f"{gathered.reading.name} was read as {gathered.reading.form}")
    folder = Path(args.out) if args.out else gathered.folder
    check_folder(folder)
    if args.zip:
        check_bundle(Path(args.zip))
    margin, versions = args.non_inferiority_margin, gathered.versions
    if versions:  # else the names of a table are all there is
        from sts.continuations.versions import find_shown_name

        args.contrast = [
            [find_shown_name(name, versions) for name in pair] for pair in args.contrast
        ]
        if args.reference_agent:
            args.reference_agent = find_shown_name(args.reference_agent, versions)
    built = build_report(
        gathered,
        target=args.target,
        unit=args.unit,
        closed=args.closed,
        goal=args.goal,
        planned=args.planned,
        seed=args.seed,
        contrasts=[(a, b) for a, b in args.contrast],
        prediction_powered=args.prediction_powered,
        guessing_baseline=args.guessing_baseline,
        non_inferiority_margin=None if margin is None else margin / 100,
        reference_agent=args.reference_agent,
        real_names=args.real_names,
        clip_page=CLIP_PAGE if clips else "",
        workspace=args.workspace,
    )
    summary = ""
    if clips:
        assert built.study is not None
        with open_evidence(
            Workspace.open(args.workspace),
            gathered,
            built.study,
            folder,
            most=clips if isinstance(clips, int) else None,
            linked=clips == APP,
        ) as (evidence, summary):
            page = write_report(
                folder,
                built.results,
                built.study,
                paper=args.paper,
                title=args.title,
                evidence=evidence,
            )
    else:
        page = built.save(folder, paper=args.paper, title=args.title)
    if args.real_names:
        warn(f"{folder} shows real names: share it only with people who may know them")
    if args.json:
        sys.stdout.write(built.to_json().decode())
    else:
        print(built)
        if summary:
            print(summary)
        print(f"report: {page}")
    if args.zip:
        size = bundle(folder, Path(args.zip), PARTS)
        if not args.json:
            print(f"zip: {args.zip} ({size / 1e6:.1f} MB)")
    if gathered.refused:  # its scores are left out; the ranking does not depend on them
        raise DamagedData(gathered.refused)
    return 0


def _check_options(args: argparse.Namespace) -> None:
    """Refuse options that do not go together, before anything is read."""
    if (args.suite is None) == (args.table is None):
        raise ArgumentError("give either a suite, NAME@VERSION, or --table FILE")
    if args.table is not None:
        if args.compare_to:
            raise ArgumentError("--compare-to cannot be combined with --table")
        if args.unit == "people":
            raise ArgumentError("--unit people needs a suite: a table does not say who recorded")
    elif args.planned:
        raise ArgumentError("--planned needs --table; what a suite was last run for is stored")
    elif args.goal:
        raise ArgumentError("--goal is for --table; a suite has annotation.goal in workspace.toml")
    elif args.closed:
        raise ArgumentError(
            "--closed is for --table; close the study of a suite with "
            f"sts annotations close {args.suite} --reason TEXT"
        )
    margin = args.non_inferiority_margin
    if margin is not None and not 0 < margin < 100:
        raise ArgumentError(
            f"--non-inferiority-margin: expected points between 0 and 100, found {margin:g}"
        )
    if args.reference_agent is not None and margin is None:
        raise ArgumentError("--reference-agent needs --non-inferiority-margin")
    if args.title and not args.paper:
        raise ArgumentError("--title is for the figures of --paper")


def _count_clips(args: argparse.Namespace) -> int | str:
    """Return how many supporting clips the report gets: a number, `ALL` or `APP`.

    Raises:
      ArgumentError: it is none of these, or asked of a table, which has no clips.
    """
    asked = args.clips
    if asked is None:
        return USUAL_CLIPS if args.suite is not None else 0
    if args.table is not None and asked != NONE:
        raise ArgumentError("--clips is for a suite, NAME@VERSION; a table has its column media")
    if asked == NONE:
        return 0
    if asked in (ALL, APP):
        return str(asked)
    if asked.isascii() and asked.isdecimal() and len(asked) < 10:
        return int(asked)
    raise ArgumentError(
        f"--clips: expected a number of clips, {ALL}, {NONE} or {APP}, found {quote(asked)}"
    )
