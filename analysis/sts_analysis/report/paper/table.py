"""A table as a paper prints it, with a caption."""

from sts_analysis.report.paper import latex, markdown
from sts_analysis.report.paper.cells import Cells


class Table(Cells):
    """A table that shows itself."""

    __slots__ = ()

    def latex(self) -> str:
        """The table as LaTeX, by booktabs."""
        return latex.table(self)

    def markdown(self) -> str:
        """The table as Markdown."""
        return markdown.table(self)

    def __repr__(self) -> str:
        """One line."""
        return f"<table {self.name}: {self.caption}>"

    def _repr_markdown_(self) -> str:
        return self.markdown()
