"""Figures for a paper: pass rates, pass rates by category, and time to success.

Source: Abramson et al. 2022, figures 3, 7 and 8.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from sts import plotting
from sts_analysis.report.core import Report
from sts_analysis.report.paper.picture import Chart, Picture, draw_to_width
from sts_analysis.report.paper.tables import describe_scope

MAX_AGENTS = 24
MAX_CURVES = plotting.MAX_OVERLAID
_ROW = 10
"""Height of an agent's row, in points."""
_UNKNOWN = (None, None)
_COLOURS = {"ranked": plotting.SKY, "left out": "#bbbbbb", "baseline": plotting.ORANGE}


def draw_figures(report: Report, *, columns: int, title: str) -> list[Picture]:
    """Draw the figures for which there are data, as wide as 1 or 2 columns of a journal's page."""
    figures = [
        draw(report, columns, title) for draw in (_draw_rates, _draw_categories, _draw_times)
    ]
    return [figure for figure in figures if figure is not None]


def _draw_rates(report: Report, columns: int, title: str) -> Picture | None:
    rows = [row for row in report.ranking.rows if row.pass_rate is not None][:MAX_AGENTS]
    if not rows:
        return None
    data = [
        ("", row.agent, row.standing, row.pass_rate, *(row.interval or _UNKNOWN)) for row in rows
    ]
    caption = f"Pass rate of each agent, by falling rate. {describe_scope(report)}"
    return _draw_bars("pass_rates", caption, data, columns, 1, title)


def _draw_categories(report: Report, columns: int, title: str) -> Picture | None:
    found = report.categories
    if found is None:
        return None
    standing = {row.agent: row.standing for row in report.ranking.rows}
    data = [
        (row.category, agent, standing[agent], rate, *(ends or _UNKNOWN))
        for row in found.rows
        for agent, rate, ends in list(
            zip(found.agents, row.pass_rates, row.intervals, strict=True)
        )[:MAX_AGENTS]
    ]
    caption = f"Pass rate of each agent by category of scenarios. {describe_scope(report)}"
    across = min({1: 2, 2: 4}[columns], len(found.rows))
    return _draw_bars("categories", caption, data, columns, across, title)


def _draw_bars(
    name: str,
    caption: str,
    rows: Sequence[tuple[Any, ...]],
    columns: int,
    across: int,
    title: str,
) -> Picture:
    """Draw a panel for each value of `panel`: agents from top to bottom, rates from 0 to 100%.

    Each row has a panel, an agent, its standing, its rate, and both ends of the interval.
    """
    data = pd.DataFrame(rows, columns=["panel", "agent", "standing", "rate", "low", "high"])
    agents = list(dict.fromkeys(data["agent"]))
    labels = dict(zip(agents, map(plotting.shorten, agents), strict=True))
    data = data.assign(label=[f"{agents.index(a) + 1}. {labels[a]}" for a in data["agent"]])
    names = list(dict.fromkeys(data["label"]))
    panels = list(dict.fromkeys(data["panel"]))

    def draw(width: float) -> Chart:
        charts = []
        for place, panel in enumerate(panels):
            axis = plotting.name_axis() if place % across == 0 else None
            last = place >= len(panels) - across
            share = plotting.share_axis("pass rate" if last else None)
            scale = alt.Scale(domain=names)
            base = alt.Chart(data[data["panel"] == panel]).encode(
                y=alt.Y("label:N", title=None, axis=axis, scale=scale)
            )
            bar = base.mark_bar(height=_ROW * 0.7).encode(
                x=alt.X("rate:Q", scale=plotting.unit_scale(), axis=share),
                color=plotting.fixed_hue("standing:N", _COLOURS),
            )
            line = base.mark_rule(strokeWidth=0.9).encode(
                x=alt.X("low:Q", scale=plotting.unit_scale(), axis=share), x2="high:Q"
            )
            chart = alt.layer(bar, line).properties(width=width, height=_ROW * len(names))
            charts.append(chart.properties(title=panel) if panel else chart)
        whole = alt.concat(*charts, columns=across, spacing=12)
        return whole.properties(title=title) if title else whole

    return Picture(name, caption, draw_to_width(draw, columns=columns, across=across))


def _draw_times(report: Report, columns: int, title: str) -> Picture | None:
    found = report.time_to_success
    if found is None:
        return None
    shown = [row.agent for row in found.rows if not row.reason][:MAX_CURVES]
    data = pd.DataFrame(
        [
            {"agent": point.agent, "step": point.step, "share": point.reached}
            for point in found.points
            if point.agent in shown
        ]
    )
    if data.empty:
        return None
    names = list(dict.fromkeys(data["agent"]))

    def draw(width: float) -> Chart:
        legend = alt.Legend(title=None, orient="bottom", columns=2 * columns, labelLimit=0)

        def encode(channel: Any, looks: Sequence[Any]) -> Any:
            scale = alt.Scale(domain=names, range=[*looks[: len(names)]])
            return channel("agent:N", sort=names, scale=scale, legend=legend)

        axis = alt.Axis(title="steps after takeover", tickMinStep=1, tickCount=6)
        share = plotting.share_axis("succeeded so far")
        chart = (
            alt.Chart(data)
            .mark_line(interpolate="step-after", strokeWidth=1.2)
            .encode(
                x=alt.X("step:Q", scale=alt.Scale(nice=False), axis=axis),
                y=alt.Y("share:Q", scale=plotting.unit_scale(), axis=share),
                color=encode(alt.Color, plotting.COLOURS),
                strokeDash=encode(alt.StrokeDash, plotting.DASHES),
            )
            .properties(width=width, height=110)
        )
        titled: Chart = chart.properties(title=title) if title else chart
        return titled

    caption = (
        "Share of judged continuations that have succeeded by each step after the takeover, "
        "weighted like the pass rate, which each curve reaches."
    )
    return Picture("time_to_success", caption, draw_to_width(draw, columns=columns, across=1))
