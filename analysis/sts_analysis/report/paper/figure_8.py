"""Figure 8: how soon agents succeed."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from sts import plotting
from sts_analysis.report.paper import rates
from sts_analysis.report.paper.picture import Chart, Picture, drawn
from sts_analysis.report.paper.words import labelled, sentences
from sts_analysis.report.schema import Agent, Report

NAME = "figure_8"
PAPER, WHOLE = "Of its successes", "Of all its continuations"
MOST = plotting.MAX_OVERLAID


def figure_8(
    report: Report,
    *,
    columns: int = 2,
    agents: Sequence[str] | None = None,
    title: str = "",
) -> Picture | str:
    """The share of each agent's successes that had come by each step after takeover.

    That is the paper's figure, and says nothing of how many successes there are: who passes only
    what is easy looks fast. So the share of all its continuations stands beside it; it ends at the
    pass rate. Neither has error bars, as in the paper.

    Args:
      report: whose agents.
      columns: of a journal's page that it fills, 1 or 2.
      agents: which, at most 7; None for the first 7 whose times are known.
      title: above it.

    Returns:
      The figure, or the reason why there is none.

    Source: Abramson et al. 2022, figure 8, section 5.2 and appendix A.4.
    """
    timed = [entry for entry in rates.chosen(report, agents, len(report.agents)) if _curve(entry)]
    if not timed:
        reasons = [entry.time_to_success.reason for entry in report.agents]
        return next(filter(None, reasons), "no agent has a success")
    if agents is not None and len(timed) > MOST:
        return f"it can tell {MOST} agents apart, and {len(timed)} are asked for"
    entries = timed[:MOST]
    data = pd.DataFrame(
        [
            {"panel": panel, "agent": entry.agent, "step": step, "share": share}
            for entry in entries
            for panel, curve in (
                (PAPER, entry.time_to_success.successes_curve),
                (WHOLE, entry.time_to_success.reached),
            )
            for step, share in curve or ()
        ]
    )
    names = rates.labels(entries)
    data["label"] = data["agent"].map({e.agent: n for e, n in zip(entries, names, strict=True)})

    def draw(width: float) -> Chart:
        panels = [
            _panel(data[data["panel"] == p], p, names, width, columns) for p in (PAPER, WHOLE)
        ]
        whole = alt.concat(*panels, columns=columns, spacing=14)
        return whole.properties(title=title) if title else whole

    never = [entry.agent for entry in entries if entry.time_to_success.successes_curve is None]
    caption = sentences(
        "Time to success: the share that had succeeded by each step after takeover, of the "
        "agent's successes (the distribution function of the time to success) and of all its "
        "judged continuations, which ends at the pass rate.",
        f"Never successful, so without a curve of successes: {', '.join(never)}." if never else "",
        rates.agent_words(report, entries),
        labelled(report),
    )
    svg = drawn(draw, columns=columns, across=columns)
    return Picture(NAME, caption, svg, data)


def _curve(entry: Agent) -> bool:
    return entry.time_to_success.reached is not None


def _panel(
    data: pd.DataFrame, panel: str, names: Sequence[str], width: float, columns: int
) -> alt.Chart:
    legend = alt.Legend(
        title=None,
        orient="bottom",
        columns=2 * columns,
        labelLimit=0,
        symbolSize=150,
        symbolStrokeWidth=1.4,
    )

    def channel(kind: Any, looks: Sequence[Any]) -> Any:
        scale = alt.Scale(domain=list(names), range=[*looks[: len(names)]])
        return kind("label:N", sort=list(names), scale=scale, legend=legend)

    chart: alt.Chart = (
        alt.Chart(data)
        .mark_line(interpolate="step-after", strokeWidth=1.2)
        .encode(
            x=alt.X(
                "step:Q",
                scale=alt.Scale(nice=False),
                axis=alt.Axis(title="steps after takeover", tickMinStep=1, tickCount=6),
            ),
            y=alt.Y(
                "share:Q", scale=plotting.unit_scale(), axis=plotting.share_axis("succeeded so far")
            ),
            color=channel(alt.Color, plotting.COLOURS),
            strokeDash=channel(alt.StrokeDash, plotting.DASHES),
        )
        .properties(width=width, height=110, title=rates.heading(panel, width))
    )
    return chart
