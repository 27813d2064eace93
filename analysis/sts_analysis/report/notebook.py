"""Reports in a notebook: the first screen as a figure, the numbers as attributes and frames."""

import html
import io
from pathlib import Path
from typing import Any

import pandas as pd

from sts_analysis.report import results
from sts_analysis.report.core import Report, Study
from sts_analysis.report.csv_files import format_tables
from sts_analysis.report.document import render_page
from sts_analysis.report.terminal import format_report
from sts_analysis.report.text import to_plain
from sts_analysis.report.write import write_report

HEIGHT = 720
"""Height of the first screen in a notebook, in pixels; it scrolls."""


class NotebookReport:
    """A report that shows itself as its page, and gives its numbers as attributes.

    Every section of `report.json` is an attribute: `report.conclusion.best`,
    `report.ranking.rows[0].pass_rate`.

    Args:
      report: the results.
      study: that they were computed from; None for a report that was loaded.
    """

    def __init__(self, report: Report, study: Study | None = None) -> None:
        self.results, self.study = report, study

    def __getattr__(self, section: str) -> Any:
        """Return the result of a section; None if it has nothing to show."""
        if section.startswith("_") or section in ("results", "study"):
            raise AttributeError(section)
        return getattr(self.results, section)

    @property
    def headline(self) -> str:
        """The one sentence to quote."""
        return to_plain(self.results.conclusion.headline)

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return every table by its name, as `tables/NAME.csv` has it."""
        tables = format_tables(self.results, self.study)
        return {
            name.removesuffix(".csv"): pd.read_csv(io.BytesIO(content))
            for name, content in tables.items()
        }

    def page(self) -> str:
        """Return the main page, as `report.html` has it."""
        return render_page(self.results)

    def to_json(self) -> bytes:
        """Return all results, as `report.json` has them."""
        return results.encode(self.results)

    def save(self, folder: str | Path, *, paper: bool = False, title: str = "") -> Path:
        """Write the pages, the JSON and the tables; return the path of the page.

        Args:
          folder: new, empty, or one that holds a report.
          paper: also write figures, tables and methods for a publication.
          title: above the figures.

        Raises:
          ArgumentError: the folder holds other files than a report's.
        """
        return write_report(Path(folder), self.results, self.study, paper=paper, title=title)

    def __str__(self) -> str:
        """Write the conclusion, the ranking and the warnings."""
        return format_report(self.results)

    def __repr__(self) -> str:
        """Write one line, as a report has thousands of numbers."""
        return f"<report of {self.results.conclusion.suite}: {self.headline}>"

    def _repr_html_(self) -> str:
        # A frame of its own: the page's style stays inside, and it may run nothing.
        return (
            f'<iframe sandbox="" style="width:100%;height:{HEIGHT}px;border:0" '
            f'title="{html.escape(repr(self))}" srcdoc="{html.escape(self.page())}"></iframe>'
        )
