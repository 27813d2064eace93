"""Reports in a notebook: shown as their page, with their numbers as data frames."""

import html
import inspect
from pathlib import Path
from typing import Any

import pandas as pd

from sts import plotting
from sts.errors import ArgumentError, UnknownName
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
from sts_analysis.report.tracking import log_report
from sts_analysis.report.write import check_folder, write

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

    def save(self, folder: str | Path) -> Path:
        """Write the page, its figures and every number as files; return the path of the page.

        Raises:
          ArgumentError: the folder holds other files than a report's.
        """
        check_folder(Path(folder))
        return write(Path(folder), self)

    def log(self, project: str) -> str:
        """Log the report as a run of a Weights & Biases project; return the id of the run.

        Raises:
          MissingExtra: the extra `wandb` is not installed.
        """
        return log_report(self, project)

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
    return Picture(name, caption, plotting.to_svg(chart, plotting.PRINT_STYLE))


def _checked(name: str, options: dict[str, Any], known: list[str]) -> dict[str, Any]:
    for option in options:
        if option not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise ArgumentError(f"{name} has no option {option!r}; {takes}")
    return options
