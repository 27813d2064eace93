"""What every figure shares: colours, axes, legends, and how it becomes SVG.

Text and axes are drawn in `currentColor`, so that a page's light and dark mode both suit them.
Colours are Okabe and Ito's; what a colour says, a shape, a dash or a sign says too.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import altair as alt
import pandas as pd
import vl_convert

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, GREY = "#56B4E9", "#CC79A7", "#888888"
COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, GREY, SKY)
PAGE_COLOURS = {BLUE: "blue", GREEN: "green", VERMILION: "vermilion", SKY: "sky"}
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [14, 3], [5, 1])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke")
MAX_TICKS = 16
OVERLAID = len(COLOURS)
INK = "currentColor"
MID_GREY = "#777"
# Long names lose their middle: what tells versions of one agent apart stands at the end.
SHORT_NAME = (
    "length(datum.label) > 60 ? slice(datum.label, 0, 30) + '\u2026' + slice(datum.label, -29)"
    " : datum.label"
)
WIDTH = 560
NARROW_WIDTH = 190
"""Pixels of a panel, where a page is wide and where it is as narrow as a phone."""

Chart = alt.TopLevelMixin


class FigureStyle(NamedTuple):
    """How text, axes and ground of a figure are drawn.

    Attributes:
      ink: colour of text and axes.
      ground: colour behind all; None for whatever a page has there.
      font: names of families, the first that is installed counts. "Liberation Sans" is always:
        the library brings it, and its letters are as wide as Arial's.
      text: size of labels, px.
      title: size of titles, px.
    """

    ink: str
    ground: str | None
    font: str
    text: float
    title: float


PAGE_STYLE = FigureStyle(INK, None, "sans-serif", 11, 12)
PAPER = FigureStyle("#000000", "#ffffff", "Liberation Sans, Arial, Helvetica, sans-serif", 7, 8)
"""Black on white, in the 7 points that journals ask for; one px is one point."""
PRINTED = PAPER._replace(text=PAGE_STYLE.text, title=PAGE_STYLE.title)
"""The same, as large as on a page."""


def lines(
    agents: Sequence[str],
    data: pd.DataFrame,
    fields: tuple[str, str],
    titles: tuple[str, str],
    *,
    step: bool,
) -> Chart:
    """One line per agent: together while colours last, else a small panel each.

    `data` has the columns agent and `fields`, x and a share y; a `step` function has no points.
    """
    present = set(data["agent"])
    names = [name for name in agents if name in present]
    curve: Any = "step-after" if step else "linear"
    crowded = len(names) > OVERLAID
    whole = sorted(set(data[fields[0]].astype(int)))
    ticks = {"values": whole} if len(whole) <= MAX_TICKS else {"tickMinStep": 1}
    x = alt.X(
        f"{fields[0]}:Q",
        scale=alt.Scale(nice=False),
        axis=alt.Axis(title=titles[0], format="d", **cast(Any, ticks)),
    )
    # Beside a small panel there is no room for what the caption says.
    y = alt.Y(f"{fields[1]}:Q", scale=unit_scale(), axis=share_axis(None if crowded else titles[1]))
    if crowded:
        panel_titles = {name: f"{place}. {shortened(name)}" for place, name in enumerate(names, 1)}
        header = alt.Header(labelLimit=0, labelFontSize=9, labelColor=INK, labelAnchor="start")
        panels: Chart = (
            alt.Chart(data.assign(agent=data["agent"].map(panel_titles)))
            .mark_line(interpolate=curve, color=BLUE, strokeWidth=2)
            .encode(
                x=x,
                y=y,
                facet=alt.Facet(
                    "agent:N",
                    sort=list(panel_titles.values()),
                    title=None,
                    header=header,
                    columns=4,
                ),
            )
            .properties(width=150, height=80)
        )
        return panels
    base = alt.Chart(data).encode(x=x, y=y)
    looks = identity(names)
    line = base.mark_line(interpolate=curve, strokeWidth=2).encode(
        color=looks["color"], strokeDash=by_agent(alt.StrokeDash, names, DASHES)
    )
    dots = base.mark_point(size=45, filled=True, opacity=1).encode(**looks)
    drawn = [line] if step else [line, dots]
    chart: Chart = alt.layer(*drawn).properties(width=WIDTH - 60, height=280)
    return chart


def shortened(name: str) -> str:
    """A name that fits a small panel's title; its place in the ranking tells twins apart."""
    return name if len(name) <= 28 else f"{name[:14]}\u2026{name[-13:]}"


def identity(names: Sequence[str]) -> dict[str, Any]:
    """Colour and shape channels of a few agents."""
    return {
        "color": by_agent(alt.Color, names, COLOURS),
        "shape": by_agent(alt.Shape, names, SHAPES),
    }


def by_agent(channel: Any, names: Sequence[str], looks: Sequence[Any]) -> Any:
    """A legend channel that gives each agent one of `looks`."""
    legend = alt.Legend(
        title=None, orient="right", labelExpr=SHORT_NAME, labelLimit=0, symbolSize=150
    )
    scale = alt.Scale(domain=list(names), range=[*looks[: len(names)]])
    return channel("agent:N", sort=list(names), scale=scale, legend=legend)


def name_axis(*, angle: int = 0, orient: Any = alt.Undefined) -> alt.Axis:
    """An axis of names, no longer than they need be."""
    return alt.Axis(
        labelExpr=SHORT_NAME,
        labelLimit=0,
        labelAngle=angle,
        orient=orient,
        ticks=False,
        domain=False,
        labelPadding=6,
    )


def share_axis(title: str | None) -> alt.Axis:
    """An axis from 0 to 100%."""
    ticks = [0, 0.2, 0.4, 0.6, 0.8, 1]
    return alt.Axis(format=".0%", title=title, values=ticks, grid=True, labelOverlap=False)


def unit_scale() -> alt.Scale:
    """The scale of a share."""
    return alt.Scale(domain=[0, 1])


def fixed_hue(field: str, colours: Mapping[str, str]) -> alt.Color:
    """A colour channel with named colours and no legend."""
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color(field, scale=scale, legend=None)


def ends(name: str, interval: Sequence[float] | None) -> dict[str, float | None]:
    """An interval as two columns."""
    low, high = interval or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def specification(chart: Chart) -> dict[str, Any]:
    """A chart as the library's JSON, from which it is drawn."""
    # The library refuses more than 5,000 rows unless told; many agents with long curves have more.
    with alt.data_transformers.enable("default", max_rows=None):
        content: dict[str, Any] = chart.to_dict(validate=False)  # ours are valid; a third is spared
    return content


def to_svg(
    chart: Chart | dict[str, Any], look: FigureStyle = PAGE_STYLE, *, narrow: bool = False
) -> str:
    """Draws a chart, or its specification, as SVG text, for a narrow page where asked."""
    text = {"labelFontSize": look.text, "titleFontSize": look.text}
    ink = {"labelColor": INK, "titleColor": INK}
    lines = {"gridColor": INK, "gridOpacity": 0.12, "domainColor": INK, "tickColor": INK}
    content = chart if isinstance(chart, dict) else specification(chart)
    content = narrow_specification(content) if narrow else content
    plain = {"fontWeight": "normal", "fontSize": look.title}
    spec = content | {
        "background": look.ground,
        "config": {
            "font": look.font,
            "view": {"stroke": None},
            "axis": ink | text | lines | {"titleFontWeight": "normal", "domainOpacity": 0.4},
            "legend": ink | {"symbolStrokeColor": INK, "labelFontSize": min(10, look.text)},
            "title": {"color": INK, "anchor": "start", **plain},
            "header": {"labelFontSize": min(10, look.text)},
        },
    }
    if look.ink != INK:
        spec = json.loads(json.dumps(spec).replace(f'"{INK}"', f'"{look.ink}"'))
    drawn: str = vl_convert.vegalite_to_svg(spec)
    return drawn


def narrow_specification(spec: Any) -> Any:
    """A chart's specification for a page as wide as a phone.

    Panels stand below each other, legends below them, and what is written beside a panel follows
    its edge.
    """
    if isinstance(spec, list):
        return [narrow_specification(one) for one in spec]
    if not isinstance(spec, dict):
        return spec
    made = {
        {"hconcat": "vconcat"}.get(key, key): narrow_specification(value)
        for key, value in spec.items()
    }
    if isinstance(width := made.get("width"), int | float):
        made["width"] = min(width, NARROW_WIDTH)
    if made.get("orient") == "right" and "symbolSize" in made:
        made |= {"orient": "bottom", "columns": 2, "columnPadding": 28}
    if made.get("labelOverlap") is False:
        made["labelOverlap"] = True
    if made.get("columns") == 4:
        made["columns"] = 2
    if isinstance(x := made.get("x"), dict) and x.get("value", 0) > WIDTH:
        made["x"] = {"value": x["value"] - WIDTH + NARROW_WIDTH}
    return made


def inline(svg: str, label: str) -> str:
    """The same figure, ready to stand inside a page and to be read aloud by its label.

    Colours too dark for a dark page become the page's own variables.
    """
    root, body = svg.split(">", 1)
    root = re.sub(r'\s(xmlns(:\w+)?|version)="[^"]*"', "", root)
    for colour, name in PAGE_COLOURS.items():
        body = re.sub(rf'="{colour}"', f'="var(--{name})"', body, flags=re.IGNORECASE)
    return f'{root} role="img" aria-label="{html.escape(label)}">{body}'


def alone(svg: str, label: str) -> str:
    """The same figure as a file of its own: its grey reads on white and on dark.

    A picture inside a page cannot know how light that page is, so nothing changes with the reader's
    mode but the ground that a browser puts under the file when it is opened alone.
    """
    root, body = svg.split(">", 1)
    style = f":root{{color:{MID_GREY};color-scheme:light dark}}"
    title = f"<title>{html.escape(label)}</title>"
    return f'{root} role="img">{title}<style>{style}</style>{body}'
