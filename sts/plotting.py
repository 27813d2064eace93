"""Common style of figures, and their conversion to SVG.

Text and axes use `currentColor`, which follows a page's light or dark mode. Colours are those of
Okabe and Ito, and always combined with a shape, a dash or a sign.
"""

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import vl_convert

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, GREY = "#56B4E9", "#CC79A7", "#888888"
COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, GREY, SKY)
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [14, 3], [5, 1])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke")
MAX_OVERLAID = len(COLOURS)
INK = "currentColor"
MID_GREY = "#777"
# Long names are cut in the middle, because versions of an agent differ at the end.
SHORT_NAME = (
    "length(datum.label) > 60 ? slice(datum.label, 0, 30) + '\u2026' + slice(datum.label, -29)"
    " : datum.label"
)

Chart = alt.TopLevelMixin


class FigureStyle(NamedTuple):
    """The style of text, axes and background of a figure."""

    ink: str  # colour of text and axes
    ground: str | None  # background colour; None for transparent
    font: str  # font families, in order of preference
    text: float  # size of labels, px
    title: float  # size of titles, px


FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first one is in the library that measures texts; the next two are as wide in a browser."""
PAGE_STYLE = FigureStyle(INK, None, FONT, 11, 12)
PAPER_STYLE = FigureStyle("#000000", "#ffffff", FONT, 7, 8)
"""Style for publications: black on white, in 7 points as journals require; 1 px is 1 point."""


def shorten(name: str) -> str:
    """Shorten a name to 28 characters for the title of a small panel."""
    return name if len(name) <= 28 else f"{name[:14]}\u2026{name[-13:]}"


def agent_channel(channel: Any, names: Sequence[str], looks: Sequence[Any]) -> Any:
    """Return a channel with legend that maps each agent to one of `looks`."""
    legend = alt.Legend(
        title=None, orient="right", labelExpr=SHORT_NAME, labelLimit=0, symbolSize=150
    )
    scale = alt.Scale(domain=list(names), range=[*looks[: len(names)]])
    return channel("agent:N", sort=list(names), scale=scale, legend=legend)


def name_axis() -> alt.Axis:
    """Return an axis of agent names, shortened if they are long."""
    return alt.Axis(
        labelExpr=SHORT_NAME, labelLimit=0, labelAngle=0, ticks=False, domain=False, labelPadding=6
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


def to_svg(chart: Chart, look: FigureStyle = PAGE_STYLE) -> str:
    """Render a chart as SVG."""
    text = {"labelFontSize": look.text, "titleFontSize": look.text}
    ink = {"labelColor": INK, "titleColor": INK}
    lines = {"gridColor": INK, "gridOpacity": 0.12, "domainColor": INK, "tickColor": INK}
    # By default Altair rejects more than 5,000 rows, which many agents with long curves exceed.
    with alt.data_transformers.enable("default", max_rows=None):
        content: dict[str, Any] = chart.to_dict(validate=False)  # validation is slow
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


def to_svg_file(svg: str, label: str) -> str:
    """Prepare an SVG as a separate file, in a grey that is legible on light and dark pages.

    An image in a page does not know the page's mode. Only the background of the file opened on its
    own follows the browser's mode.
    """
    root, body = svg.split(">", 1)
    style = f":root{{color:{MID_GREY};color-scheme:light dark}}"
    title = f"<title>{html.escape(label)}</title>"
    return f'{root} role="img">{title}<style>{style}</style>{body}'
