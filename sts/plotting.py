"""Common style of figures, and their conversion to SVG.

Text and axes use `currentColor`, which follows a page's light or dark mode. Colours are those of
Okabe and Ito, and always combined with a shape, a dash or a sign.
"""

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
MAX_OVERLAID = len(COLOURS)
INK = "currentColor"
MID_GREY = "#777"
# Long names are cut in the middle, because versions of an agent differ at the end.
SHORT_NAME = (
    "length(datum.label) > 60 ? slice(datum.label, 0, 30) + '\u2026' + slice(datum.label, -29)"
    " : datum.label"
)
WIDTH = 560
NARROW_WIDTH = 190
"""Width of a panel on a wide page and on a phone, px."""

Chart = alt.TopLevelMixin


class FigureStyle(NamedTuple):
    """The style of text, axes and background of a figure.

    Attributes:
      ink: colour of text and axes.
      ground: background colour; None for transparent.
      font: font families, in order of preference. "Liberation Sans" is always available: the
        library includes it, and it has the metrics of Arial.
      text: size of labels, px.
      title: size of titles, px.
    """

    ink: str
    ground: str | None
    font: str
    text: float
    title: float


PAGE_STYLE = FigureStyle(INK, None, "sans-serif", 11, 12)
PAPER_STYLE = FigureStyle(
    "#000000", "#ffffff", "Liberation Sans, Arial, Helvetica, sans-serif", 7, 8
)
"""Style for publications: black on white, in 7 points as journals require; 1 px is 1 point."""
PRINT_STYLE = PAPER_STYLE._replace(text=PAGE_STYLE.text, title=PAGE_STYLE.title)
"""Style for publications, with the text sizes of a page."""


def plot_lines(
    agents: Sequence[str],
    data: pd.DataFrame,
    fields: tuple[str, str],
    titles: tuple[str, str],
    *,
    step: bool,
) -> Chart:
    """Plot one line per agent, in one chart for at most `MAX_OVERLAID` agents, else in panels.

    Args:
      agents: in the order of the legend.
      data: the columns `agent` and `fields`.
      fields: the names of x and of the share y.
      titles: of the axes.
      step: True for a step function, without points.
    """
    present = set(data["agent"])
    names = [name for name in agents if name in present]
    curve: Any = "step-after" if step else "linear"
    crowded = len(names) > MAX_OVERLAID
    integers = sorted(set(data[fields[0]].astype(int)))
    ticks = {"values": integers} if len(integers) <= MAX_TICKS else {"tickMinStep": 1}
    x = alt.X(
        f"{fields[0]}:Q",
        scale=alt.Scale(nice=False),
        axis=alt.Axis(title=titles[0], format="d", **cast(Any, ticks)),
    )
    # Small panels have no room for the axis title, which is in the caption.
    y = alt.Y(f"{fields[1]}:Q", scale=unit_scale(), axis=share_axis(None if crowded else titles[1]))
    if crowded:
        panel_titles = {name: f"{place}. {shorten(name)}" for place, name in enumerate(names, 1)}
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
    looks = identity_channels(names)
    line = base.mark_line(interpolate=curve, strokeWidth=2).encode(
        color=looks["color"], strokeDash=agent_channel(alt.StrokeDash, names, DASHES)
    )
    dots = base.mark_point(size=45, filled=True, opacity=1).encode(**looks)
    layers = [line] if step else [line, dots]
    chart: Chart = alt.layer(*layers).properties(width=WIDTH - 60, height=280)
    return chart


def shorten(name: str) -> str:
    """Shorten a name to 28 characters for the title of a small panel."""
    return name if len(name) <= 28 else f"{name[:14]}\u2026{name[-13:]}"


def identity_channels(names: Sequence[str]) -> dict[str, Any]:
    """Return the colour and shape channels that distinguish a few agents."""
    return {
        "color": agent_channel(alt.Color, names, COLOURS),
        "shape": agent_channel(alt.Shape, names, SHAPES),
    }


def agent_channel(channel: Any, names: Sequence[str], looks: Sequence[Any]) -> Any:
    """Return a channel with legend that maps each agent to one of `looks`."""
    legend = alt.Legend(
        title=None, orient="right", labelExpr=SHORT_NAME, labelLimit=0, symbolSize=150
    )
    scale = alt.Scale(domain=list(names), range=[*looks[: len(names)]])
    return channel("agent:N", sort=list(names), scale=scale, legend=legend)


def name_axis(*, angle: int = 0, orient: Any = alt.Undefined) -> alt.Axis:
    """Return an axis of agent names, shortened if they are long."""
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
    """Return an axis from 0 to 100%."""
    ticks = [0, 0.2, 0.4, 0.6, 0.8, 1]
    return alt.Axis(format=".0%", title=title, values=ticks, grid=True, labelOverlap=False)


def unit_scale() -> alt.Scale:
    """Return the scale of an axis from 0 to 1."""
    return alt.Scale(domain=[0, 1])


def fixed_hue(field: str, colours: Mapping[str, str]) -> alt.Color:
    """Return a colour channel with given colours and no legend."""
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color(field, scale=scale, legend=None)


def interval_columns(name: str, interval: Sequence[float] | None) -> dict[str, float | None]:
    """Return an interval as two columns, NAME_low and NAME_high."""
    low, high = interval or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def to_specification(chart: Chart) -> dict[str, Any]:
    """Convert a chart to its Vega-Lite specification."""
    # By default Altair rejects more than 5,000 rows, which many agents with long curves exceed.
    with alt.data_transformers.enable("default", max_rows=None):
        content: dict[str, Any] = chart.to_dict(validate=False)  # validation is slow
    return content


def to_svg(
    chart: Chart | dict[str, Any], look: FigureStyle = PAGE_STYLE, *, narrow: bool = False
) -> str:
    """Render a chart, or its specification, as SVG; `narrow` fits it to a phone."""
    text = {"labelFontSize": look.text, "titleFontSize": look.text}
    ink = {"labelColor": INK, "titleColor": INK}
    lines = {"gridColor": INK, "gridOpacity": 0.12, "domainColor": INK, "tickColor": INK}
    content = chart if isinstance(chart, dict) else to_specification(chart)
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
    svg: str = vl_convert.vegalite_to_svg(spec)
    return svg


def narrow_specification(spec: Any) -> Any:
    """Adapt a chart's specification to the width of a phone.

    Panels are stacked, with legends below, and labels to the right of a panel move with its edge.
    """
    if isinstance(spec, list):
        return [narrow_specification(part) for part in spec]
    if not isinstance(spec, dict):
        return spec
    narrowed = {
        {"hconcat": "vconcat"}.get(key, key): narrow_specification(value)
        for key, value in spec.items()
    }
    if isinstance(width := narrowed.get("width"), int | float):
        narrowed["width"] = min(width, NARROW_WIDTH)
    if narrowed.get("orient") == "right" and "symbolSize" in narrowed:
        narrowed |= {"orient": "bottom", "columns": 2, "columnPadding": 28}
    if narrowed.get("labelOverlap") is False:
        narrowed["labelOverlap"] = True
    if narrowed.get("columns") == 4:
        narrowed["columns"] = 2
    if isinstance(x := narrowed.get("x"), dict) and x.get("value", 0) > WIDTH:
        narrowed["x"] = {"value": x["value"] - WIDTH + NARROW_WIDTH}
    return narrowed


def to_inline_svg(svg: str, label: str) -> str:
    """Prepare an SVG for inclusion in a page, with a label for screen readers.

    Colours that are too dark for dark mode become CSS variables of the page.
    """
    root, body = svg.split(">", 1)
    root = re.sub(r'\s(xmlns(:\w+)?|version)="[^"]*"', "", root)
    for colour, name in PAGE_COLOURS.items():
        body = re.sub(rf'="{colour}"', f'="var(--{name})"', body, flags=re.IGNORECASE)
    return f'{root} role="img" aria-label="{html.escape(label)}">{body}'


def to_svg_file(svg: str, label: str) -> str:
    """Prepare an SVG as a separate file, in a grey that is legible on light and dark pages.

    An image in a page does not know the page's mode. Only the background of the file opened on its
    own follows the browser's mode.
    """
    root, body = svg.split(">", 1)
    style = f":root{{color:{MID_GREY};color-scheme:light dark}}"
    title = f"<title>{html.escape(label)}</title>"
    return f'{root} role="img">{title}<style>{style}</style>{body}'
