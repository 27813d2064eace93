"""Logs a report to Weights & Biases: its numbers as the summary of a run, its page and tables."""

import re
from typing import Any

import pandas as pd

from sts.errors import ArgumentError, MissingExtra, Unavailable
from sts.names import quote
from sts_analysis.report.figures import figures
from sts_analysis.report.page import render
from sts_analysis.report.schema import Interval, Report
from sts_analysis.report.tables import Rows, tables

_PROJECT = re.compile(r"[^/\\#?%:]{1,128}")


def check_project(project: str) -> None:
    """Refuses a project that nothing could be logged to.

    Raises:
      ArgumentError: it is no name of a project.
      MissingExtra: wandb is not installed.
    """
    if not _PROJECT.fullmatch(project):
        raise ArgumentError(
            f"--wandb: expected a project's name without / \\ # ? % :, found {quote(project)}"
        )
    _library()


def log_report(report: Report, project: str, *, name: str | None = None) -> str:
    """Logs a report as a run of a project, and returns the run's id.

    Where it goes is wandb's to know: its login and its variables (WANDB_MODE=offline keeps all on
    this disk, WANDB_ENTITY, WANDB_DIR).

    Args:
      report: whose numbers (`scalars`), page and tables are logged.
      project: of Weights & Biases.
      name: of the run; None for the suite's.

    Raises:
      ArgumentError: that is no name of a project.
      MissingExtra: wandb is not installed.
      Unavailable: wandb could not log; says why.
    """
    check_project(project)
    wandb = _library()
    made = report.provenance
    config = {
        "suite": report.suite,
        "target": report.target,
        "seed": report.seed,
        "labels": report.labels_used,
        "suite_hash": made.suite_hash,
        "annotations_hash": made.annotations_hash,
        "commit": made.commit,
        **{f"version/{package}": version for package, version in made.versions.items()},
    }
    try:
        with wandb.init(
            project=project, name=name or report.suite, job_type="report", config=config
        ) as run:
            run.summary.update(scalars(report))
            page = wandb.Html(render(report, figures(report)), inject=False)
            frames = {f"table/{key}": _frame(rows) for key, rows in tables(report).items()}
            laid = {key: wandb.Table(dataframe=frame) for key, frame in frames.items()}
            run.log({"report": page} | laid)
            return str(run.id)
    except wandb.errors.Error as error:
        line = " ".join(str(error).split())
        raise Unavailable(f"Weights & Biases could not log the report: {line}") from error


def scalars(report: Report) -> dict[str, float | int | str]:
    """The numbers that runs are compared by; what is not known is left out.

    Agents by pass rate and both ends of its interval, rank, mean area and ICC; correlations with
    the pass rate; accuracy and agreement of annotators; counts; and the verdict.
    """
    pooled = report.annotators_together
    found: dict[str, Any] = {
        "verdict": report.verdict,
        "judged": report.counts.judged,
        "continuations": report.counts.continuations,
        "separated_pairs": sum(pair.separated for pair in report.comparisons),
        "annotators/balanced_accuracy": pooled.balanced_accuracy,
        "annotators/alpha": pooled.alpha.alpha,
    }
    for entry in report.agents:
        found |= {
            f"pass_rate/{entry.agent}": entry.pass_rate,
            **_ends(f"pass_rate/{entry.agent}", entry.interval),
            f"rank/{entry.agent}": entry.rank,
            f"mean_area/{entry.agent}": entry.time_to_success.mean_area,
            f"icc/{entry.agent}": entry.consistency.icc,
        }
    for one in report.correlations:
        found[f"spearman/{one.x}/{one.y}"] = one.spearman
    return {key: value for key, value in found.items() if value is not None}


def _frame(rows: Rows) -> pd.DataFrame:
    """Rows whose columns are numbers, or texts where they hold anything else."""
    frame = pd.DataFrame(rows)
    others = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    words = {str(name): ["" if one is None else str(one) for one in frame[name]] for name in others}
    return frame.assign(**words)


def _ends(name: str, interval: Interval | None) -> dict[str, float | None]:
    low, high = interval or (None, None)
    return {f"{name}/low": low, f"{name}/high": high}


def _library() -> Any:
    try:
        import wandb
    except ImportError:
        raise MissingExtra(
            "logging to Weights & Biases needs the extra wandb: "
            "pip install 'standardised-test-suite[wandb]'"
        ) from None
    return wandb
