"""The report's figures as SVG text, one function a figure, from the report."""

from collections.abc import Callable
from typing import Any, NamedTuple

import altair as alt
import pandas as pd
from altair.utils.schemapi import debug_mode

from sts import plotting
from sts_analysis.inputs.scores import PASS_RATE
from sts_analysis.report import annotator_figures
from sts_analysis.report.schema import Agent, Report

Chart = alt.TopLevelMixin
FEW = 30
"""Agents of which figures are drawn for narrow pages too."""
MOST = 40
"""Agents in a figure that grows faster than its text: a cell for each pair, a panel for each."""


class Drawn(NamedTuple):
    """Figures as SVG, by name.

    Attributes:
      wide: for a page.
      narrow: for one as wide as a phone; none where agents are many, as they would be most of it.
    """

    wide: dict[str, str]
    narrow: dict[str, str]


def figures(report: Report) -> dict[str, str]:
    """Every figure that the report has data for: name -> SVG."""
    return {name: plotting.to_svg(chart) for name, chart in _charts(report).items()}


def draw(report: Report) -> Drawn:
    """The same for both widths of a page."""
    charts = {name: plotting.to_specification(chart) for name, chart in _charts(report).items()}
    wide = {name: plotting.to_svg(chart) for name, chart in charts.items()}
    if len(report.agents) > FEW:
        return Drawn(wide, {})
    return Drawn(
        wide, {name: plotting.to_svg(chart, narrow=True) for name, chart in charts.items()}
    )


def _charts(report: Report) -> dict[str, Chart]:
    with debug_mode(False):  # else each part of a chart is held against its schema
        made = {name: make(report) for name, make in FIGURES.items()}
    return {name: chart for name, chart in made.items() if chart is not None}


def ranking(report: Report) -> Chart | None:
    """Pass rates with both intervals, rank sets beside them, what is not ranked below."""
    rows: list[dict[str, Any]] = []
    for entry in report.agents:
        if entry.pass_rate is None:
            continue
        role = "ranked" if entry.rank is not None else "unranked"
        role = role if entry.sees == "observation" else "baseline"
        best, worst = entry.rank_set or (None, None)
        place = f"rank {best}" if best == worst else f"rank {best} to {worst}"
        if len(report.rankings) > 1:
            place = f"ranking {entry.ranking}: {place}"
        outside = {"baseline": f"bound ({entry.sees})", "unranked": entry.unranked}
        rows.append(
            {
                "agent": entry.agent,
                "rate": entry.pass_rate,
                "role": role,
                "place": outside.get(role, place),
                **plotting.interval_columns("sampled", entry.intervals["sampled"].interval),
                **plotting.interval_columns("fixed", entry.intervals["fixed"].interval),
            }
        )
    if not rows:
        return None
    data = pd.DataFrame(rows)
    order = [row["agent"] for row in rows]
    y = alt.Y("agent:N", sort=order, title=None, axis=plotting.name_axis())
    base = alt.Chart(data).encode(y=y)
    hues = {"ranked": plotting.BLUE, "baseline": plotting.ORANGE, "unranked": plotting.GREY}
    hue = plotting.fixed_hue("role:N", hues)
    share = plotting.share_axis("pass rate")
    thin = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("sampled_low:Q", scale=plotting.unit_scale(), axis=share),
        x2="sampled_high:Q",
        color=hue,
    )
    thick = base.mark_bar(height=8, opacity=0.55).encode(
        x=alt.X("fixed_low:Q", scale=plotting.unit_scale(), axis=share),
        x2="fixed_high:Q",
        color=hue,
    )
    point = base.mark_point(
        size=75, filled=True, opacity=1, stroke=plotting.INK, strokeWidth=0.8
    ).encode(
        x=alt.X("rate:Q", scale=plotting.unit_scale(), axis=share),
        color=hue,
        shape=alt.Shape(
            "role:N",
            scale=alt.Scale(domain=list(hues), range=["circle", "diamond", "square"]),
            legend=None,
        ),
    )
    bound = (
        alt.Chart(data[data["role"] == "baseline"])
        .mark_rule(strokeDash=[3, 3], color=plotting.ORANGE, opacity=0.8)
        .encode(x=alt.X("rate:Q", scale=plotting.unit_scale(), axis=share))
    )
    rank = base.mark_text(align="left", color=plotting.INK).encode(
        x=alt.value(plotting.WIDTH + 12), text="place:N"
    )
    chart: Chart = alt.layer(bound, thin, thick, point, rank).properties(width=plotting.WIDTH)
    return chart


def kinds(report: Report) -> Chart | None:
    """Instruction following beside question answering, as in the paper's figure 3."""
    rows: list[dict[str, Any]] = [
        {
            "agent": e.agent,
            "kind": kind,
            "rate": c.pass_rate,
            **plotting.interval_columns("i", c.interval),
        }
        for e in report.agents
        for kind, c in e.kinds.items()
        if c.pass_rate is not None
    ]
    present = sorted({row["kind"] for row in rows})
    if len(present) < 2:
        return None
    order = [entry.agent for entry in report.agents]
    data = pd.DataFrame(rows)
    panels = []
    for place, kind in enumerate(present):
        axis = plotting.name_axis() if place == 0 else None
        base = alt.Chart(data[data["kind"] == kind]).encode(
            y=alt.Y("agent:N", sort=order, title=None, axis=axis)
        )
        colour = plotting.COLOURS[place]
        bar = base.mark_rule(strokeWidth=2, color=colour).encode(
            x=alt.X("i_low:Q", scale=plotting.unit_scale(), axis=plotting.share_axis("pass rate")),
            x2="i_high:Q",
        )
        dot = base.mark_point(
            size=65,
            filled=True,
            opacity=1,
            color=colour,
            stroke=plotting.INK,
            strokeWidth=0.8,
            shape=plotting.SHAPES[place],
        ).encode(
            x=alt.X("rate:Q", scale=plotting.unit_scale(), axis=plotting.share_axis("pass rate"))
        )
        panels.append(alt.layer(bar, dot).properties(width=plotting.WIDTH // 2 - 10, title=kind))
    chart: Chart = alt.hconcat(*panels, spacing=20).resolve_scale(y="shared")
    return chart


def comparisons(report: Report) -> Chart | None:
    """Row minus column for every two of the first agents; a sign where they are separated."""
    names = [entry.agent for entry in report.agents if entry.rank is not None][:MOST]
    few = len(names) <= 12
    row = {
        name: name if few else f"{i}. {plotting.shorten(name)}" for i, name in enumerate(names, 1)
    }
    column = {name: name if few else str(i) for i, name in enumerate(names, 1)}
    rows: list[dict[str, Any]] = []
    for pair in report.comparisons:
        if pair.difference is None or pair.a not in row or pair.b not in row:
            continue
        for a, b, sign in ((pair.a, pair.b, 1), (pair.b, pair.a, -1)):
            points = 100 * sign * pair.difference
            mark = ("+" if points > 0 else "\N{MINUS SIGN}") if pair.separated else ""
            number = f"{abs(points):.0f}" if few else ""
            rows.append(
                {
                    "row": row[a],
                    "column": column[b],
                    "points": points,
                    "text": f"{mark}{number}" if pair.separated else (number and f"({number})"),
                    "strength": float(pair.separated),
                }
            )
    if not rows:
        return None
    size = max(14, min(46, plotting.WIDTH // len(names)))
    axis = plotting.name_axis(angle=-40 if few else 0, orient="top")
    x = alt.X("column:N", sort=list(column.values()), title=None, axis=axis)
    limit = max(20.0, *(abs(row["points"]) for row in rows))
    for entry in rows:  # over a light ground and over a dark one the larger difference stands out
        share = abs(entry["points"]) / limit
        entry["strength"] = 0.1 + 0.5 * share if entry["strength"] else 0.05
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=x, y=alt.Y("row:N", sort=list(row.values()), title=None, axis=plotting.name_axis())
    )
    better = alt.condition(
        "datum.points > 0", alt.value(plotting.BLUE), alt.value(plotting.VERMILION)
    )
    cells = base.mark_rect(stroke=plotting.INK, strokeOpacity=0.25).encode(
        fill=better, fillOpacity=alt.FillOpacity("strength:Q", scale=None, legend=None)
    )
    words = base.mark_text(fontSize=11, color=plotting.INK).encode(text="text:N")
    return alt.layer(cells, words).properties(width=alt.Step(size), height=alt.Step(size))


def correlations(report: Report) -> Chart | None:
    """Pass rate against each other metric, one point per agent."""
    rates = {e.agent: e for e in report.agents if e.ranking == 1}
    identity = (
        plotting.identity_channels(list(rates)) if len(rates) <= plotting.MAX_OVERLAID else {}
    )
    panels = []
    for metric in dict.fromkeys(score.metric for score in report.metrics):
        rows: list[dict[str, Any]] = []
        for score in report.metrics:
            if score.metric == metric and score.agent in rates:
                entry = rates[score.agent]
                reach = 1.96 * (score.standard_error or 0.0)
                rows.append(
                    {
                        "agent": score.agent,
                        "value": score.value,
                        "from": score.value - reach,
                        "to": score.value + reach,
                        "rate": entry.pass_rate,
                        **plotting.interval_columns("i", entry.interval),
                    }
                )
        if not rows:
            continue
        correlation = [c for c in report.correlations if (c.x, c.y) == (PASS_RATE, metric)]
        rho = correlation[0].spearman if correlation else None
        base = alt.Chart(pd.DataFrame(rows)).encode(
            x=alt.X("value:Q", title=metric[:40], scale=alt.Scale(zero=False, nice=True)),
            y=alt.Y("rate:Q", scale=plotting.unit_scale(), axis=plotting.share_axis("pass rate")),
        )
        title = "" if rho is None else f"Spearman {rho:.2f}, {len(rows)} agents"
        upright = base.mark_rule(color=plotting.INK, opacity=0.35).encode(
            y=alt.Y("i_low:Q", scale=plotting.unit_scale(), axis=plotting.share_axis("pass rate")),
            y2="i_high:Q",
        )
        level = base.mark_rule(color=plotting.INK, opacity=0.35).encode(
            x=alt.X("from:Q", title=metric[:40]), x2="to:Q"
        )
        dots = base.mark_point(
            size=75, filled=True, opacity=1, stroke=plotting.INK, strokeWidth=0.8
        )
        dots = dots.encode(**identity) if identity else dots.encode(color=alt.value(plotting.BLUE))
        panels.append(
            alt.layer(upright, level, dots).properties(width=200, height=200, title=title)
        )
    return alt.concat(*panels, columns=2, spacing=30) if panels else None


def consistency(report: Report) -> Chart | None:
    """Chance that all of k continuations succeed, against k."""
    rows: list[dict[str, Any]] = [
        {"agent": entry.agent, "k": k, "chance": chance}
        for entry in _drawn(report)
        for k, chance in entry.consistency.pass_hat_k.items()
    ]
    if not rows or max(row["k"] for row in rows) < 2:
        return None
    titles = ("k continuations of one scenario", "chance that all succeed")
    return plotting.plot_lines(
        _names(report), pd.DataFrame(rows), ("k", "chance"), titles, step=False
    )


def difficulty(report: Report) -> Chart | None:
    """Each scenario as a tick at the mean failure of the ranked agents, by category."""
    rows: list[dict[str, Any]] = [
        {"category": entry.category or "all", "difficulty": entry.difficulty}
        for entry in report.scenarios
        if entry.difficulty is not None
    ]
    if not rows:
        return None
    chart: Chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_point(
            shape="stroke", size=220, angle=90, opacity=0.75, color=plotting.BLUE, strokeWidth=2.5
        )
        .encode(
            x=alt.X(
                "difficulty:Q",
                scale=plotting.unit_scale(),
                axis=plotting.share_axis("mean failure of ranked agents"),
            ),
            y=alt.Y("category:N", title=None, axis=plotting.name_axis()),
        )
        .properties(width=plotting.WIDTH)
    )
    return chart


def time_to_success(report: Report) -> Chart | None:
    """The share of continuations that have succeeded by each step after takeover."""
    rows: list[dict[str, Any]] = [
        {"agent": entry.agent, "step": step, "share": height}
        for entry in _drawn(report)
        for step, height in entry.time_to_success.reached or ()
    ]
    if not rows:
        return None
    titles = ("steps after takeover", "succeeded so far")
    return plotting.plot_lines(
        _names(report), pd.DataFrame(rows), ("step", "share"), titles, step=True
    )


def label_sets(report: Report) -> Chart | None:
    """Each agent's pass rate under every set of labels, side by side."""
    if len(report.label_sets) < 2:
        return None
    rows: list[dict[str, Any]] = [
        {
            "agent": entry.agent,
            "labels": source,
            "rate": entry.pass_rate,
            **plotting.interval_columns("i", entry.interval),
        }
        for source, labelled in report.label_sets.items()
        for entry in labelled.agents
        if entry.pass_rate is not None
    ]
    order = [entry.agent for entry in report.agents]
    sources = list(report.label_sets)
    hue = alt.Color(
        "labels:N",
        scale=alt.Scale(domain=sources, range=list(plotting.COLOURS[: len(sources)])),
        legend=alt.Legend(title=None, orient="top"),
    )
    shape = alt.Shape(
        "labels:N", scale=alt.Scale(domain=sources, range=list(plotting.SHAPES[: len(sources)]))
    )
    base = alt.Chart(pd.DataFrame(rows)).encode(
        y=alt.Y("agent:N", sort=order, title=None, axis=plotting.name_axis()),
        yOffset=alt.YOffset("labels:N", sort=sources),
        color=hue,
    )
    bar = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("i_low:Q", scale=plotting.unit_scale(), axis=plotting.share_axis("pass rate")),
        x2="i_high:Q",
    )
    dot = base.mark_point(
        size=60, filled=True, opacity=1, stroke=plotting.INK, strokeWidth=0.8
    ).encode(
        x=alt.X("rate:Q", scale=plotting.unit_scale(), axis=plotting.share_axis("pass rate")),
        shape=shape,
    )
    chart: Chart = alt.layer(bar, dot).properties(width=plotting.WIDTH, height=alt.Step(18))
    return chart


def _drawn(report: Report) -> list[Agent]:
    return [entry for entry in report.agents if entry.pass_rate is not None][:MOST]


def _names(report: Report) -> list[str]:
    return [entry.agent for entry in _drawn(report)]


FIGURES: dict[str, Callable[[Report], Chart | None]] = {
    "ranking": ranking,
    "kinds": kinds,
    "comparisons": comparisons,
    "correlations": correlations,
    "consistency": consistency,
    "difficulty": difficulty,
    "time_to_success": time_to_success,
    **annotator_figures.FIGURES,
    "label_sets": label_sets,
}
"""Every figure that a report can have."""
