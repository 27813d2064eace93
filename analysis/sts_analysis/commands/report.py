"""`sts report`: two pages, JSON and tables, from a workspace or from a bare table."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sts.cli.arguments import warn
from sts.cli.command import argument, declare, option, repeatable, switch
from sts.errors import ArgumentError, DamagedData
from sts.names import quote
from sts_analysis.commands.source import (
    EITHER,
    SEED,
    TABLE_FLAGS,
    TableFlags,
    check_spellings,
    gather_source,
    parse_mapping,
)

ALL, NONE, APP = "all", "none", "app"
USUAL_CLIPS = 3000
"""Supporting clips in a report unless another number is given."""


@contextmanager
def _pause_garbage_collector() -> Iterator[None]:
    gc.disable()  # a report is millions of objects that live to its end
    try:
        yield
    finally:
        gc.enable()


@declare("report {suite} --target sampled")
@_pause_garbage_collector()
def report(
    workspace_path: str | None,
    as_json: bool,
    *,
    suite: str | None = argument("NAME@VERSION", "suite of the workspace", nargs="?"),
    table: str | None = option(
        "FILE", "ratings table instead of a suite: .csv, .tsv, .parquet, .xlsx (default: none)"
    ),
    table_flags: TableFlags = TABLE_FLAGS,
    scores: str | None = option(
        "FILE", "table of other metrics of the agents (default: the workspace's)"
    ),
    compare_to: str | None = option(
        "NAME@VERSION", "version whose pass rates are compared with this one (default: none)"
    ),
    target: str = option(
        ("sampled", "fixed"),
        "target of the intervals: other scenarios like these (default) or only these",
        "sampled",
    ),
    unit: str = option(
        ("trajectory", "people"),
        "what was drawn independently: trajectory (default), or people to join all scenarios "
        "that the same people recorded",
        "trajectory",
    ),
    closed: str = option("REASON", "why the study of --table ended before all was judged", ""),
    goal: str = option(
        "GOAL",
        "repeat the race of agents of --table, judged in rounds: rank, or best (default: none)",
        "",
        choices=("rank", "best"),
    ),
    planned: int | None = option(
        "N",
        "planned continuations of each agent in each scenario of --table (default: the most "
        "that the agent has in one)",
        least=1,
    ),
    contrast: list[list[str]] = repeatable(
        "A B", "two agents whose comparison was planned; repeatable", nargs=2
    ),
    out: str | None = option("DIR", "folder of the report (default: in the workspace)"),
    real_names: bool = switch(
        "show real names of people, for the study lead (default: pseudonyms)"
    ),
    guessing_baseline: str | None = option(
        "AGENT", "agent that guesses; its score becomes 0 (default: none)"
    ),
    non_inferiority_margin: float | None = option(
        "POINTS", "margin of the non-inferiority tests, in points (default: no tests)", type=float
    ),
    reference_agent: str | None = option(
        "AGENT", "agent that --non-inferiority-margin compares the others with (default: the first)"
    ),
    prediction_powered: bool = switch(
        "also estimate rates with labels where people have not judged"
    ),
    paper: bool = switch(
        "also write paper/ for a publication: figures, tables, methods, and how to repeat it"
    ),
    title: str = option("TEXT", "title above the figures of --paper (default: none)", ""),
    clips: str | None = option(
        "CLIPS",
        "supporting clips in the report, the most informative first: a number, all, none, or "
        "app to link to the app (default: 3000; none for a table)",
    ),
    zip: str | None = option("FILE", "also write the report as one .zip file (default: none)"),
    seed: int = SEED,
) -> int:
    """Rank the agents: two pages, report.json, and tables."""
    # Products of matrices are small here: more threads would only wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _check_source(suite, table, compare_to, unit, planned, goal, closed)
    margin = non_inferiority_margin
    if margin is not None and not 0 < margin < 100:
        raise ArgumentError(
            f"--non-inferiority-margin: expected points between 0 and 100, found {margin:g}"
        )
    if reference_agent is not None and margin is None:
        raise ArgumentError("--reference-agent needs --non-inferiority-margin")
    if title and not paper:
        raise ArgumentError("--title is for the figures of --paper")
    n_clips = _count_clips(clips, suite, table)

    from sts.ratings import TYPES
    from sts.storage.csv_tables import read_header
    from sts.storage.workspace import Workspace
    from sts_analysis.inputs.mapping import find_columns, require_columns

    mapping = parse_mapping(table, table_flags)
    if table is not None and (header := read_header(Path(table))) is not None:
        file = Path(table).name
        require_columns(file, header, find_columns(file, header, TYPES, mapping), mapping)

    from sts_analysis.api import build_report
    from sts_analysis.evidence.bundle import bundle, check_bundle
    from sts_analysis.evidence.gather import CLIP_PAGE, open_evidence
    from sts_analysis.inputs.gather import add_scores
    from sts_analysis.report.write import PARTS, check_folder, write_report

    check_spellings(table, table_flags, scores)
    gathered = gather_source(suite, table, table_flags, workspace_path, compare_to)
    if scores is not None:
        gathered = add_scores(gathered, Path(scores))
    if gathered.reading is not None and not gathered.reading.is_usual:
        warn(f"{gathered.reading.name} was read as {gathered.reading.form}")
    folder = Path(out) if out else gathered.folder
    check_folder(folder)
    if zip:
        check_bundle(Path(zip))
    versions = gathered.versions
    if versions:  # else the names of a table are all there is
        from sts.continuations.versions import find_shown_name

        contrast = [[find_shown_name(name, versions) for name in pair] for pair in contrast]
        if reference_agent:
            reference_agent = find_shown_name(reference_agent, versions)
    built = build_report(
        gathered,
        target=target,
        unit=unit,
        closed=closed,
        goal=goal,
        planned=planned,
        seed=seed,
        contrasts=[(a, b) for a, b in contrast],
        prediction_powered=prediction_powered,
        guessing_baseline=guessing_baseline,
        non_inferiority_margin=None if margin is None else margin / 100,
        reference_agent=reference_agent,
        real_names=real_names,
        clip_page=CLIP_PAGE if n_clips else "",
        workspace=workspace_path,
    )
    summary = ""
    if n_clips:
        assert built.study is not None
        with open_evidence(
            Workspace.open(workspace_path),
            gathered,
            built.study,
            folder,
            most=n_clips if isinstance(n_clips, int) else None,
            linked=n_clips == APP,
        ) as (evidence, summary):
            page = write_report(
                folder, built.results, built.study, paper=paper, title=title, evidence=evidence
            )
    else:
        page = built.save(folder, paper=paper, title=title)
    if real_names:
        warn(f"{folder} shows real names: share it only with people who may know them")
    if as_json:
        sys.stdout.write(built.to_json().decode())
    else:
        print(built)
        if summary:
            print(summary)
        print(f"report: {page}")
    if zip:
        size = bundle(folder, Path(zip), PARTS)
        if not as_json:
            print(f"zip: {zip} ({size / 1e6:.1f} MB)")
    if gathered.refused:  # its scores are left out; the ranking does not depend on them
        raise DamagedData(gathered.refused)
    return 0


def _check_source(
    suite: str | None,
    table: str | None,
    compare_to: str | None,
    unit: str,
    planned: int | None,
    goal: str,
    closed: str,
) -> None:
    """Refuse options that do not go together, before anything is read."""
    if (suite is None) == (table is None):
        raise ArgumentError(EITHER)
    if table is not None:
        if compare_to:
            raise ArgumentError("--compare-to cannot be combined with --table")
        if unit == "people":
            raise ArgumentError("--unit people needs a suite: a table does not say who recorded")
    elif planned:
        raise ArgumentError("--planned needs --table; what a suite was last run for is stored")
    elif goal:
        raise ArgumentError("--goal is for --table; a suite has annotation.goal in workspace.toml")
    elif closed:
        raise ArgumentError(
            "--closed is for --table; close the study of a suite with "
            f"sts annotations close {suite} --reason TEXT"
        )


def _count_clips(asked: str | None, suite: str | None, table: str | None) -> int | str:
    """Return how many supporting clips the report gets: a number, `ALL` or `APP`.

    Raises:
      ArgumentError: it is none of these, or asked of a table, which has no clips.
    """
    if asked is None:
        return USUAL_CLIPS if suite is not None else 0
    if table is not None and asked != NONE:
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
