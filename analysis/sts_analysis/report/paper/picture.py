"""A figure that is drawn, with its caption and numbers; as wide as a column of a journal."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import pandas as pd
import vl_convert

from sts import plotting
from sts.errors import ArgumentError
from sts_analysis.report.paper import FORMATS

Chart = alt.TopLevelMixin
WIDTHS = {1: 252.0, 2: 518.0}
"""Of one and of two columns, in points: 89 and 183 mm, within a point of most journals' columns."""
PPI = 600
"""Of a PNG, dots per inch at its printed size: what journals ask of figures with lines and text."""
NARROWEST = 40.0
"""Of a panel, in points."""
_TRIALS = 4
_SIDES = re.compile(r'\bwidth="([\d.]+)(?:pt)?" height="([\d.]+)(?:pt)?"')


class Picture(NamedTuple):
    """A figure.

    Attributes:
      name: of its files, without a suffix.
      caption: what it shows, in words.
      svg: its text is text, in a font whose widths are Arial's; as wide as printed.
      data: the numbers drawn, a row a mark; without a row for figures of the page.
    """

    name: str
    caption: str
    svg: str
    data: pd.DataFrame = pd.DataFrame()

    def pdf(self) -> bytes:
        """Return the same as PDF; text stays text, its font is embedded."""
        drawn: bytes = vl_convert.svg_to_pdf(_plain(self.svg))
        return drawn

    def png(self, ppi: int = PPI) -> bytes:
        """Return the same as PNG, with so many dots per inch at its printed size."""
        drawn: bytes = vl_convert.svg_to_png(_plain(self.svg), scale=ppi / 72)
        return drawn

    def file(self, suffix: str) -> bytes:
        """Return the content of a file of one of `FORMATS`."""
        return {"svg": self.svg.encode, "pdf": self.pdf, "png": self.png}[suffix]()

    def save(self, path: str | Path) -> Path:
        """Write the figure to a file whose name ends in .svg, .pdf or .png.

        Raises:
          ArgumentError: it ends in something else.
        """
        path = Path(path)
        suffix = path.suffix.removeprefix(".").lower()
        if suffix not in FORMATS:
            raise ArgumentError(
                f"expected a name that ends in .svg, .pdf or .png, found {path.name}"
            )
        path.write_bytes(self.file(suffix))
        return path

    def __repr__(self) -> str:
        """One line, as the drawing has thousands of letters."""
        return f"<figure {self.name}: {self.caption}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}


def draw_to_width(draw: Callable[[float], Chart], *, columns: int, across: int) -> str:
    """Draw a chart that fills one or two columns, as SVG.

    What stands beside the panels takes what it needs; it is measured, and they share the rest.

    Args:
      draw: from a panel's width in points to the chart.
      columns: 1 or 2.
      across: panels side by side.

    Raises:
      ArgumentError: there is no such width.
    """
    if columns not in WIDTHS:
        raise ArgumentError(f"expected a figure of 1 or 2 columns, found {columns}")
    width, whole = 0.6 * WIDTHS[columns] / across, WIDTHS[columns]
    for _ in range(_TRIALS):
        svg = plotting.to_svg(draw(width), plotting.PAPER_STYLE)
        rest = whole - _width(svg)
        if abs(rest) <= 1 or (width == NARROWEST and rest < 0):
            break
        width = max(NARROWEST, width + rest / across)
    return _SIDES.sub(r'width="\1pt" height="\2pt"', svg, count=1)


def _plain(svg: str) -> str:
    """Return the same without a unit, as what makes a PDF counts points by itself."""
    return _SIDES.sub(r'width="\1" height="\2"', svg, count=1)


def _width(svg: str) -> float:
    match = re.search(r'\bwidth="([\d.]+)"', svg)
    assert match is not None
    return float(match[1])
