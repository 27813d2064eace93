"""What every figure shares."""

import re
from pathlib import Path
from xml.etree import ElementTree

import altair as alt
import pandas as pd

from sts import drawing

PAGE = Path(__file__).resolve().parent.parent / "analysis" / "page.css"


def test_a_figure_of_its_own_follows_light_and_dark_and_is_read_aloud():
    rows = pd.DataFrame({"x": [1, 2], "y": [0.1, 0.4]})
    chart = alt.Chart(rows).mark_line(color=drawing.BLUE).encode(x="x:Q", y="y:Q")
    svg = drawing.alone(drawing.to_svg(chart), "a & b")
    root = ElementTree.fromstring(svg)
    assert root[0].tag.endswith("title") and root[0].text == "a & b"
    assert root[1].tag.endswith("style") and "prefers-color-scheme:dark" in (root[1].text or "")
    assert f'[stroke="{drawing.BLUE}" i]{{stroke:{drawing.ON_DARK[drawing.BLUE]}}}' in svg


def test_dark_figures_and_dark_pages_have_the_same_colours():
    dark = PAGE.read_text().partition("prefers-color-scheme: dark")[2]
    page = dict(re.findall(r"--(\w+): (#\w+);", dark))
    names = drawing.PAGE_COLOURS
    assert {names[c]: lighter for c, lighter in drawing.ON_DARK.items()} == {
        name: page[name] for name in names.values()
    }
