"""The paper's figures by their names."""

from collections.abc import Callable

from sts_analysis.report.paper import figure_3, figure_7, figure_8, figure_9
from sts_analysis.report.paper.picture import Picture

FIGURES: dict[str, Callable[..., Picture | str]] = {
    figure_3.NAME: figure_3.figure_3,
    figure_7.NAME: figure_7.figure_7,
    figure_8.NAME: figure_8.figure_8,
    figure_9.NAME: figure_9.figure_9,
}
"""Each takes a report, and returns the figure or the reason why there is none."""
