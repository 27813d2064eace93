"""A table as a paper prints it: texts, with a caption."""

from typing import NamedTuple

from sts.storage.csv_tables import format_csv
from sts_analysis.report.paper import latex


class Table(NamedTuple):
    """A table.

    Attributes:
      name: of its files, and of its label.
      caption: what it shows, in words.
      header: names of the columns.
      align: a letter for each column: "l" left, "r" right.
      rows: cells.
    """

    name: str
    caption: str
    header: tuple[str, ...]
    align: str
    rows: tuple[tuple[str, ...], ...]

    def latex(self) -> str:
        """Return the table as LaTeX, by booktabs."""
        parts = latex.split_columns(self.header, self.align, self.rows)
        texts = [
            latex.format_table(
                self.name if len(parts) == 1 else f"{self.name}_{part}", self.caption, *columns
            )
            for part, columns in enumerate(parts, 1)
        ]
        return latex.add_preamble("\n".join(texts))

    def csv(self) -> bytes:
        """Return the table as CSV."""
        return format_csv(self.header, self.rows)
