"""Figure of the intelligence test: one panel per factor, one line per agent."""

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import pandas as pd

from sts.plugin import plotting
from sts_lambda_star.intelligence.factors import FACTORS
from sts_lambda_star.intelligence.score import LevelScore

_TITLES = {
    "complexity": "K, complexity of Good's and Evil's paths",
    "uncertainty": "H, uncertainty in bits, by size",
    "team": "players in the team (log scale)",
    "steps": "steps of interaction (log scale)",
    "sight": "sight k, in cells around the agent",
}
_LOG_FACTORS = ("team", "steps")
_MEAN = "mean reward ± standard error"
_SEES = {"observation": "", "world": " (sees the world)", "rehearsal": " (rehearses)"}
_SHAPES = (*plotting.SHAPES[:-1], "triangle-left")
_WIDTH, _HEIGHT = 320, 280
_AGENT_OFFSET = 0.012
"""Offset between agents at one level, in widths of the panel, so that error bars stay legible."""
_GRID = 0.3
"""Opacity of the grid lines."""
_SPREAD = 0.6
"""Maximum total offset of the agents, as a fraction of the distance between levels."""


def draw_figure(scores: Sequence[LevelScore]) -> str:
    """Draw the breakdown as SVG text, with agents in its order and bars of one standard error."""
    frame = pd.DataFrame([score._asdict() for score in scores])
    frame["agent"] += frame["sees"].map(_SEES)
    frame["low"] = frame["mean"] - frame["standard_error"]
    frame["high"] = frame["mean"] + frame["standard_error"]
    names = list(dict.fromkeys(frame["agent"]))
    looks = _agent_encodings(names)
    ends = frame[["mean", "low", "high"]].to_numpy().ravel()
    ends = ends[ends == ends]
    y = alt.Scale(domain=[min(0.0, ends.min()), ends.max()], nice=True)
    panels = [
        _draw_panel(frame[frame["factor"] == factor], factor, names, looks, y)
        for factor in FACTORS
        if (frame["factor"] == factor).any()
    ]
    chart = alt.concat(*panels, columns=2, spacing=30)
    return plotting.to_svg_file(plotting.to_svg(chart), "Mean reward of each agent by factor")


def _agent_encodings(names: Sequence[str]) -> dict[str, Any]:
    """Return the encodings of agents by stroke, fill, shape and dash, distinct even in grey."""
    colour_count, indices = len(plotting.COLOURS), range(len(names))
    colours = [plotting.COLOURS[i % colour_count] for i in indices]
    shapes = [_SHAPES[(i + i // colour_count) % colour_count] for i in indices]
    second = [i // colour_count % 2 == 1 for i in indices]
    fills = ["transparent" if s else c for s, c in zip(second, colours, strict=True)]
    dashes = [plotting.DASHES[2] if s else plotting.DASHES[0] for s in second]
    return {
        "stroke": plotting.agent_channel(alt.Stroke, names, colours),
        "fill": plotting.agent_channel(alt.Fill, names, fills),
        "shape": plotting.agent_channel(alt.Shape, names, shapes),
        "strokeDash": plotting.agent_channel(alt.StrokeDash, names, dashes),
    }


def _draw_panel(
    rows: pd.DataFrame, factor: str, names: Sequence[str], looks: dict[str, Any], y: alt.Scale
) -> alt.LayerChart | alt.FacetChart:
    """Draw the panel of one factor."""
    position = rows["value"].map(math.log2 if factor in _LOG_FACTORS else float)
    places = sorted(set(position))
    span = places[-1] - places[0] or 1.0
    gap = min((b - a for a, b in pairwise(places)), default=span)
    offset = min(_AGENT_OFFSET * span, _SPREAD * gap / len(names))
    rank = rows["agent"].map({name: i - (len(names) - 1) / 2 for i, name in enumerate(names)})
    margin = 0.03 * span + offset * len(names) / 2
    levels = zip(rows["value"], rows["label"], strict=True)
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[places[0] - margin, places[-1] + margin], nice=False, zero=False),
        axis=_level_axis(dict(zip(position, levels, strict=True)), factor),
    )
    base = alt.Chart(rows.assign(x=position + rank * offset)).encode(x=x)
    mean = alt.Y("mean:Q", scale=y, axis=alt.Axis(title=_MEAN, gridOpacity=_GRID))
    line = base.mark_line(strokeWidth=1.5, opacity=0.8).encode(
        y=mean, stroke=looks["stroke"], strokeDash=looks["strokeDash"]
    )
    bar = base.mark_rule(strokeWidth=1.2).encode(
        y=alt.Y("low:Q", scale=y), y2="high:Q", stroke=looks["stroke"]
    )
    dots = {name: looks[name] for name in ("stroke", "fill", "shape")}
    dot = base.mark_point(size=32, opacity=1, strokeWidth=1.3).encode(y=mean, **dots)
    zero_line = (
        alt.Chart(pd.DataFrame({"mean": [0.0]}))
        .mark_rule(color=plotting.INK, opacity=0.5)
        .encode(y=mean)
    )
    return alt.layer(zero_line, line, bar, dot).properties(width=_WIDTH, height=_HEIGHT)


def _level_axis(levels: dict[float, tuple[float, str]], factor: str) -> alt.Axis:
    """Return an axis with a label at each level."""
    labels: list[Any] = [label for _, label in levels.values()]
    if factor == "uncertainty":
        labels = [[f"{bits:.1f}", size] for bits, size in levels.values()]
    places = list(levels)
    return alt.Axis(
        title=_TITLES[factor],
        values=places,
        labelExpr=f"{json.dumps(labels)}[indexof({json.dumps(places)}, datum.value)]",
        labelOverlap="greedy",
        grid=False,
    )
