"""The report's figures of the people who judged."""

from collections.abc import Callable
from typing import Any

import altair as alt
import pandas as pd

from sts import plotting
from sts_analysis.report.schema import Report

Chart = alt.TopLevelMixin
_ABREAST, _WIDTH = 3, 160


def annotators(report: Report) -> Chart | None:
    """Balanced accuracy of each annotator on reference episodes."""
    rows: list[dict[str, Any]] = [
        {
            "annotator": entry.annotator,
            "accuracy": entry.balanced_accuracy,
            **plotting.interval_columns("i", entry.interval),
        }
        for entry in report.annotators
        if entry.balanced_accuracy is not None
    ]
    if not rows:
        return None
    axis = plotting.share_axis("balanced accuracy on reference episodes")
    base = alt.Chart(pd.DataFrame(rows)).encode(
        y=alt.Y("annotator:N", sort="-x", title=None, axis=plotting.name_axis())
    )
    bar = base.mark_rule(strokeWidth=2, color=plotting.BLUE).encode(
        x=alt.X("i_low:Q", scale=plotting.unit_scale(), axis=axis), x2="i_high:Q"
    )
    dot = base.mark_point(
        size=65, filled=True, opacity=1, color=plotting.BLUE, stroke=plotting.INK, strokeWidth=0.8
    ).encode(x=alt.X("accuracy:Q", scale=plotting.unit_scale(), axis=axis))
    guess = (
        alt.Chart(pd.DataFrame([{"accuracy": 0.5}]))
        .mark_rule(strokeDash=[3, 3], color=plotting.INK, opacity=0.6)
        .encode(x=alt.X("accuracy:Q", scale=plotting.unit_scale(), axis=axis))
    )
    chart: Chart = alt.layer(guess, bar, dot).properties(width=plotting.WIDTH)
    return chart


def step_offset(report: Report) -> Chart | None:
    """The share of annotators' marks no further from the known step than each tolerance."""
    offset = report.annotators_together.step_offset
    ends = offset.within_intervals or {}
    rows: list[dict[str, Any]] = [
        {"steps": steps, "share": share, **plotting.interval_columns("i", ends.get(steps))}
        for steps, share in offset.within.items()
    ]
    if not rows:
        return None
    axis = plotting.share_axis("marks no further from the known step")
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X(
            "steps:Q",
            scale=alt.Scale(nice=False),
            axis=alt.Axis(title="tolerance, steps", values=list(offset.within)),
        )
    )
    band = base.mark_area(opacity=0.2, color=plotting.BLUE).encode(
        y=alt.Y("i_low:Q", scale=plotting.unit_scale(), axis=axis), y2="i_high:Q"
    )
    curve = base.mark_line(color=plotting.BLUE, strokeWidth=2, point=True).encode(
        y=alt.Y("share:Q", scale=plotting.unit_scale(), axis=axis)
    )
    chart: Chart = alt.layer(band, curve).properties(width=plotting.WIDTH)
    return chart


def accuracy_over_time(report: Report) -> Chart | None:
    """Right answers on references by twenties, in the order of judging, a panel an annotator."""
    rows: list[dict[str, Any]] = [
        {
            "annotator": entry.annotator,
            "block": n,
            "share": block.share,
            **plotting.interval_columns("i", ends),
        }
        for entry in report.annotators
        if len(entry.blocks) > 1
        for n, block in enumerate(entry.blocks, 1)
        for ends in [block.interval]
    ]
    if not rows:
        return None
    names = list(dict.fromkeys(row["annotator"] for row in rows))
    y = alt.Y("share:Q", scale=plotting.unit_scale(), axis=plotting.share_axis("right"))
    x = alt.X("block:O", title="twenty", axis=alt.Axis(labelAngle=0, labelOverlap=True))
    panels = []
    for name in names:
        base = alt.Chart(pd.DataFrame([row for row in rows if row["annotator"] == name]))
        bar = base.mark_rule(strokeWidth=2, color=plotting.BLUE).encode(
            x=x, y=alt.Y("i_low:Q", scale=plotting.unit_scale()), y2="i_high:Q"
        )
        line = base.mark_line(color=plotting.BLUE, opacity=0.5).encode(x=x, y=y)
        dot = base.mark_point(
            size=40,
            filled=True,
            opacity=1,
            color=plotting.BLUE,
            stroke=plotting.INK,
            strokeWidth=0.8,
        ).encode(x=x, y=y)
        title = plotting.shorten(name)
        panels.append(alt.layer(bar, line, dot).properties(width=_WIDTH, height=110, title=title))
    chart: Chart = alt.concat(*panels, columns=_ABREAST, spacing=24)
    return chart


FIGURES: dict[str, Callable[[Report], Chart | None]] = {
    "annotators": annotators,
    "step_offset": step_offset,
    "accuracy_over_time": accuracy_over_time,
}
"""By name."""
