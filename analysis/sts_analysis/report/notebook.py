"""The analysis in a notebook: reports that show themselves, and their numbers as data frames."""

from __future__ import annotations

import html
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from sts import plotting
from sts.errors import ArgumentError, UnknownName
from sts.provenance import provenance
from sts_analysis.inputs.ratings import check_ratings, read_ratings
from sts_analysis.inputs.scores import check_scores, empty_scores, read_scores
from sts_analysis.inputs.subject import Subject
from sts_analysis.inputs.tables import from_frame
from sts_analysis.report import json_form
from sts_analysis.report.build import build
from sts_analysis.report.figures import FIGURES, figures
from sts_analysis.report.page import render
from sts_analysis.report.paper import methods
from sts_analysis.report.paper import tables as paper_tables
from sts_analysis.report.paper.figures import FIGURES as PAPER_FIGURES
from sts_analysis.report.paper.picture import Picture
from sts_analysis.report.paper.table import Table
from sts_analysis.report.schema import Report
from sts_analysis.report.tables import tables
from sts_analysis.report.terminal import table as in_words
from sts_analysis.statistics.pass_rates import TARGETS

Source = str | Path | pd.DataFrame
HEIGHT = 720
"""Of the page in a notebook, in pixels; it scrolls."""


class NotebookReport(Report):
    """A report that shows itself as its page, and gives its numbers as data frames."""

    def frames(self) -> dict[str, pd.DataFrame]:
        """Every table of the report by its name, as `tables/NAME.csv` has it."""
        return {name: pd.DataFrame(rows) for name, rows in tables(self).items()}

    def figures(self) -> dict[str, Picture]:
        """Every figure that there are data for: the page's, then the paper's `figure_3` and so on.

        Drawing all takes some seconds; `figure` draws one.
        """
        drawn = {name: _of_page(self, name) for name in FIGURES}
        drawn |= {name: draw(self) for name, draw in PAPER_FIGURES.items()}
        return {name: one for name, one in drawn.items() if isinstance(one, Picture)}

    def figure(self, name: str, **options: Any) -> Picture:
        """A figure by its name; the last thing in a cell, it shows itself, and `save` writes it.

        Args:
          name: of the page's, such as "ranking", or of the paper's, such as "figure_3".
          options: of the paper's: columns, error, agents, title, and scenario of figure 9.

        Raises:
          ArgumentError: there are no data for it, says which are missing; or it has no such option.
          UnknownName: there is no such figure, agent or scenario.

        Source: analysis/sts_analysis/report/figures.py, analysis/sts_analysis/report/paper.
        """
        if name in PAPER_FIGURES:
            known = inspect.signature(PAPER_FIGURES[name]).parameters
            made = PAPER_FIGURES[name](self, **_checked(name, options, list(known)[1:]))
        elif name in FIGURES:
            _checked(name, options, [])
            made = _of_page(self, name)
        else:
            raise UnknownName("figure", name, [*FIGURES, *PAPER_FIGURES])
        if isinstance(made, str):
            raise ArgumentError(f"{name}: there is none, as {made}")
        return made

    def tables(self) -> dict[str, Table]:
        """Every table of a paper by its name; each has `latex()` and `markdown()`."""
        return paper_tables.tables(self)

    def table(self, name: str) -> Table:
        """One of `tables`.

        Raises:
          UnknownName: there is none of this name; names those that there are.
        """
        return paper_tables.table(self, name)

    def methods(self) -> str:
        """A paragraph on what was done, ready to paste, and the references that it cites."""
        return methods.plain(self)

    def page(self) -> str:
        """The page, as `report.html` has it."""
        return render(self, figures(self))

    def __str__(self) -> str:
        """The ranking as a table, the verdict, and what to beware of."""
        return in_words(self)

    def __repr__(self) -> str:
        """One line, as a Report has thousands of numbers."""
        return f"<report of {self.suite}: {self.verdict}>"

    def _repr_html_(self) -> str:
        # A frame of its own: the page's style stays inside, and it may run nothing.
        return (
            f'<iframe sandbox="" style="width:100%;height:{HEIGHT}px;border:0" '
            f'title="{html.escape(repr(self))}" srcdoc="{html.escape(self.page())}"></iframe>'
        )


def _of_page(report: Report, name: str) -> Picture | str:
    """A figure of the page, as wide as there."""
    chart = FIGURES[name](report)
    if chart is None:
        return "nothing that it would show is known"
    caption = (FIGURES[name].__doc__ or "").partition("\n")[0]
    return Picture(name, caption, plotting.to_svg(chart, plotting.PRINTED))


def _checked(name: str, options: dict[str, Any], known: list[str]) -> dict[str, Any]:
    for option in options:
        if option not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise ArgumentError(f"{name} has no option {option!r}; {takes}")
    return options


def report(
    table: Source,
    scores: Source | None = None,
    *,
    target: str = "sampled",
    seed: int = 0,
    contrasts: Sequence[tuple[str, str]] = (),
) -> NotebookReport:
    """The report of a ratings table; the last thing in a cell, it shows itself.

    Args:
      table: a data frame, or a file, .csv or .parquet; three columns are enough, and
        docs/data_standard.md has all.
      scores: other metrics of the agents, in the same forms: agent, metric, value.
      target: what intervals speak of: "sampled", all scenarios of these kinds, or "fixed", these.
      seed: of every random draw; equal seeds give equal reports.
      contrasts: pairs of agents whose comparison was planned beforehand.

    Raises:
      StsError: a table or an argument is not what it should be; says what, and where.

    Example:
      >>> import sts_analysis
      >>> import pandas as pd
      >>> table = pd.DataFrame({
      ...     "agent": ["first", "first", "second", "second"] * 3,
      ...     "scenario": ["pick-01"] * 4 + ["pick-02"] * 4 + ["open-01"] * 4,
      ...     "verdict": ["success", "success", "failure", "success"]
      ...     + ["success", "failure", "failure", "not_done"] * 2,
      ... })
      >>> report = sts_analysis.report(table)
      >>> [(entry.agent, round(entry.pass_rate, 2), entry.rank_set) for entry in report.agents]
      [('first', 0.67, (1, 2)), ('second', 0.17, (1, 2))]
      >>> report.verdict
      'first and second cannot be told apart: either can be best.'
      >>> report.comparisons[0].difference
      0.5
      >>> sorted(report.frames())[:3]
      ['agents', 'comparisons', 'consistency']
      >>> report.frames()["scenarios"][["scenario", "difficulty"]].round(2).values.tolist()
      [['open-01', 0.75], ['pick-01', 0.25], ['pick-02', 0.75]]
    """
    if target not in TARGETS:
        raise UnknownName("target", target, TARGETS)
    if seed < 0:
        raise ArgumentError(f"seed: expected 0 or more, found {seed}")
    if isinstance(table, pd.DataFrame):
        ratings, name = check_ratings(from_frame("table", table)), "table"
    else:
        ratings, name = read_ratings(Path(table)), Path(table).name
    if isinstance(scores, pd.DataFrame):
        metrics = check_scores(from_frame("scores", scores))
    else:
        metrics = empty_scores() if scores is None else read_scores(Path(scores))
    made = build(
        ratings,
        metrics,
        suite=Subject(name),
        target=target,
        seed=seed,
        contrasts=contrasts,
        provenance=provenance(),
    )
    return NotebookReport(**vars(made))


def load_report(path: str | Path) -> NotebookReport:
    """The report in a file, `report.json`, or in the folder that `sts report` has written.

    Raises:
      ArgumentError: there is none.
      DamagedData: it is no report, or one of an earlier version.
      NewerFormat: it is of a later version.

    Example:
      >>> import sts_analysis
      >>> sts_analysis.load_report("sts-workspace/reports/away")
      Traceback (most recent call last):
      ...
      sts.errors.ArgumentError: no report at sts-workspace/reports/away; check the path
    """
    return NotebookReport(**vars(json_form.read(Path(path))))
