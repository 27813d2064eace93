"""Logs a report to Weights & Biases: its numbers as the summary of a run, its page and tables."""

import io
import re
from typing import Any

import pandas as pd

from sts.errors import ArgumentError, MissingExtra, Unavailable
from sts.names import quote
from sts_analysis.report.core import Report
from sts_analysis.report.csv_files import format_tables
from sts_analysis.report.document import render_page
from sts_analysis.report.text import to_plain

_PROJECT = re.compile(r"[^/\\#?%:]{1,128}")


def import_wandb(project: str) -> Any:
    """Import wandb, or refuse a project that nothing could be logged to.

    Raises:
      ArgumentError: it is no name of a project.
      MissingExtra: wandb is not installed.
    """
    if not _PROJECT.fullmatch(project):
        raise ArgumentError(
            f"--wandb: expected a project's name without / \\ # ? % :, found {quote(project)}"
        )
    try:
        import wandb
    except ImportError:
        raise MissingExtra(
            "logging to Weights & Biases needs the extra wandb: "
            "pip install 'standardised-test-suite[wandb]'"
        ) from None
    return wandb


def log_report(report: Report, project: str) -> str:
    """Log a report's numbers, page and tables as a run of a project, and return the run's id.

    Login and destination are wandb's: WANDB_MODE=offline keeps everything on this disk.

    Raises:
      ArgumentError: that is no name of a project.
      MissingExtra: wandb is not installed.
      Unavailable: wandb could not log; says why.
    """
    wandb = import_wandb(project)
    conclusion, made = report.conclusion, report.provenance
    config = {
        "suite": conclusion.suite,
        "target": conclusion.target,
        "labels": conclusion.source,
        "suite_hash": made.suite_hash,
        "annotations_hash": made.annotations_hash,
        **{f"version/{package}": version for package, version in made.versions.items()},
    }
    try:
        with wandb.init(
            project=project, name=conclusion.suite, job_type="report", config=config
        ) as run:
            run.summary.update(list_scalars(report))
            tables = {
                f"table/{key.removesuffix('.csv')}": wandb.Table(
                    dataframe=pd.read_csv(io.BytesIO(content))
                )
                for key, content in format_tables(report).items()
            }
            run.log({"report": wandb.Html(render_page(report), inject=False), **tables})
            return str(run.id)
    except wandb.errors.Error as error:
        line = " ".join(str(error).split())
        raise Unavailable(f"Weights & Biases could not log the report: {line}") from error


def list_scalars(report: Report) -> dict[str, float | int | str]:
    """Return the numbers by which runs are compared; what is unknown is left out."""
    conclusion = report.conclusion
    scalars: dict[str, Any] = {
        "conclusion": to_plain(conclusion.headline),
        "state": conclusion.state,
        "judged_clips": conclusion.judged_clips,
        "planned_clips": conclusion.planned_clips,
        "significant_pairs": conclusion.significant_pairs,
    }
    for row in report.ranking.rows:
        low, high = row.interval or (None, None)
        scalars |= {
            f"pass_rate/{row.agent}": row.pass_rate,
            f"pass_rate/{row.agent}/low": low,
            f"pass_rate/{row.agent}/high": high,
            f"rank/{row.agent}": row.rank,
        }
    return {key: value for key, value in scalars.items() if value is not None}
