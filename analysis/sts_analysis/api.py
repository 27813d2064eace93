"""The functions about results that `import sts` provides; `sts report` calls the same ones."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from sts.cli.arguments import show_progress
from sts.errors import ArgumentError, UnknownName
from sts.provenance import collect_provenance
from sts.storage.workspace import Workspace
from sts.suites.selections import Selection
from sts_analysis.inputs.gather import Gathered, gather_table
from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.scores import check_scores, empty_scores, override_scores, read_scores
from sts_analysis.inputs.subject import Subject
from sts_analysis.inputs.tables import from_frame
from sts_analysis.report import json_form
from sts_analysis.report.build import build
from sts_analysis.report.notebook import NotebookReport
from sts_analysis.statistics.pass_rates import TARGETS

Source = str | Path | pd.DataFrame | Selection
"""A ratings table, its file (.csv or .parquet), or a suite: NAME@VERSION or what was loaded."""
Scores = str | Path | pd.DataFrame
_FILES = (".csv", ".parquet")
_PARTS = 4


def load_ratings(
    source: Source, *, workspace: Workspace | str | Path | None = None
) -> pd.DataFrame:
    """Load and check a ratings table, one row per verdict.

    Args:
      source: a suite whose continuations were annotated or labelled, or a file or data frame;
        three columns are enough: `agent`, `scenario`, `verdict`.
      workspace: of the suite; None for `STS_WORKSPACE`, else `sts-workspace`.

    Returns:
      The columns of the ratings table (docs/data_standard.md), with defaults for those that were
      missing. People have pseudonyms.

    Raises:
      StsError: a column or value is not as expected, or nothing of the suite is judged.
    """
    return _gather(source, None, workspace).ratings


def build_report(
    source: Source | Gathered,
    scores: Scores | None = None,
    *,
    target: str = "sampled",
    seed: int = 0,
    contrasts: Sequence[tuple[str, str]] = (),
    compare_to: str | None = None,
    guessing_baseline: str | None = None,
    non_inferiority_margin: float | None = None,
    reference_agent: str | None = None,
    real_names: bool = False,
    workspace: Workspace | str | Path | None = None,
) -> NotebookReport:
    """Rank agents from their ratings; a notebook shows the report as its page.

    Args:
      source: what was rated; see `load_ratings`.
      scores: other metrics of the agents: a table of `agent`, `metric`, `value`, or its file.
      target: what intervals are about: "sampled", all scenarios of these kinds, or "fixed", these.
      seed: of every random draw; equal seeds give equal reports.
      contrasts: pairs of agents whose comparison was planned beforehand.
      compare_to: another version of the suite, NAME@VERSION.
      guessing_baseline: the agent whose passes count as guesses.
      non_inferiority_margin: difference in pass rate (0 to 1) that still counts as not worse.
      reference_agent: the agent that others may be not worse than; None for the best.
      real_names: show people's names instead of pseudonyms (suites only).
      workspace: of the suite; None for `STS_WORKSPACE`, else `sts-workspace`.

    Returns:
      The report: numbers as attributes, `frames()`, `figure(name)`, and `save(folder)`.

    Raises:
      StsError: a table or an argument is not as expected.
    """
    if target not in TARGETS:
        raise UnknownName("target", target, TARGETS)
    if seed < 0:
        raise ArgumentError(f"seed: expected 0 or more, found {seed}")
    gathered = source if isinstance(source, Gathered) else _gather(source, compare_to, workspace)
    ratings = gathered.ratings
    if real_names:
        from sts_analysis.inputs.workspace import called_by_name

        ratings = called_by_name(Workspace.open(workspace), ratings)
    done = itertools.count(1)
    with show_progress("analysing", "parts") as show:
        show(0, _PARTS)
        report = build(
            ratings,
            gathered.scores if scores is None else override_scores(gathered.scores, _read(scores)),
            suite=gathered.suite,
            target=target,
            seed=seed,
            contrasts=contrasts,
            provenance=collect_provenance(),
            other=gathered.other,
            blind=guessing_baseline,
            margin=non_inferiority_margin,
            reference=reference_agent,
            step=lambda: show(next(done), _PARTS),
        )
    return NotebookReport(**vars(report))


def load_report(path: str | Path) -> NotebookReport:
    """Load a report from `report.json`, or from the folder that `sts report` has written.

    Raises:
      ArgumentError: there is no such file.
      DamagedData: it is not a report, or is one of an earlier version.
      NewerFormat: it is of a later version.
    """
    return NotebookReport(**vars(json_form.read(Path(path))))


def _gather(
    source: Source, compare_to: str | None, workspace: Workspace | str | Path | None
) -> Gathered:
    """Return the ratings of a source, with what a report needs to know about them."""
    if isinstance(source, Selection):
        source = source.label
    if isinstance(source, str) and "@" in source and Path(source).suffix not in _FILES:
        from sts_analysis.inputs.workspace import gather

        return gather(Workspace.open(workspace), source, compare_to)
    if compare_to is not None:
        raise ArgumentError("compare_to needs a suite, NAME@VERSION; a table has no other version")
    if isinstance(source, pd.DataFrame):
        ratings = check_ratings(from_frame("table", source))
        return Gathered(ratings, empty_scores(), Subject("table"), Path("sts-report"))
    return gather_table(Path(source))


def _read(scores: Scores) -> pd.DataFrame:
    if isinstance(scores, pd.DataFrame):
        return check_scores(from_frame("scores", scores))
    return read_scores(Path(scores))
