"""A figure that is drawn, with its caption and numbers; as wide as a column of a journal."""

import re
from collections.abc import Callable
from typing import NamedTuple

import altair as alt
import vl_convert

from sts import plotting

Chart = alt.TopLevelMixin
WIDTHS = {1: 252.0, 2: 518.0}
"""Of one and of two columns, in points: 89 and 183 mm, within a point of most journals' columns."""
PPI = 600
"""Of a PNG, dots per inch at its printed size: what journals ask of figures with lines and text."""
NARROWEST = 40.0
"""Of a panel, in points."""
_TRIALS = 4
_SIDES = re.compile(r'\bwidth="([\d.]+)" height="([\d.]+)"')


class Picture(NamedTuple):
    """A figure."""

    name: str  # of its files, without a suffix
    caption: str  # what it shows, in words
    # as wide as printed, in points without a unit, which files that are made of it count by
    # themselves; its text is text, in a font whose widths are Arial's
    svg: str

    def encode(self, suffix: str) -> bytes:
        """Return the content of a file of one of `FORMATS`; a PDF has its font embedded."""
        if suffix == "svg":
            return _SIDES.sub(r'width="\1pt" height="\2pt"', self.svg, count=1).encode()
        if suffix == "pdf":
            return bytes(vl_convert.svg_to_pdf(self.svg))
        return bytes(vl_convert.svg_to_png(self.svg, scale=PPI / 72))


def draw_to_width(draw: Callable[[float], Chart], *, columns: int, across: int) -> str:
    """Draw a chart that fills one or two columns, as SVG.

    What stands beside the panels takes what it needs; it is measured, and they share the rest.

    Args:
      draw: from a panel's width in points to the chart.
      columns: 1 or 2.
      across: panels side by side.
    """
    width, whole = 0.6 * WIDTHS[columns] / across, WIDTHS[columns]
    for _ in range(_TRIALS):
        svg = plotting.to_svg(draw(width), plotting.PAPER_STYLE)
        sides = _SIDES.search(svg)
        assert sides is not None
        rest = whole - float(sides[1])
        if abs(rest) <= 1 or (width == NARROWEST and rest < 0):
            break
        width = max(NARROWEST, width + rest / across)
    return svg
