"""A table as a paper prints it: texts, not numbers, with a caption."""

from __future__ import annotations

from typing import NamedTuple


class Table(NamedTuple):
    """A table.

    Attributes:
      name: of its files, and of its label.
      caption: what it shows, in words.
      header: names of the columns.
      align: a letter for each: "l" left, "r" right, "w" a wide one of sentences.
      rows: cells.
    """

    name: str
    caption: str
    header: tuple[str, ...]
    align: str
    rows: tuple[tuple[str, ...], ...]

    def latex(self) -> str:
        """The table as LaTeX, by booktabs."""
        from analysis.report.paper import latex

        return latex.table(self)

    def markdown(self) -> str:
        """The table as Markdown."""
        from analysis.report.paper import markdown

        return markdown.table(self)

    def __repr__(self) -> str:
        """One line."""
        return f"<table {self.name}: {self.caption}>"

    def _repr_markdown_(self) -> str:
        return self.markdown()
