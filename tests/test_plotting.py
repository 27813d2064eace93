"""What every figure shares."""

import re
from xml.etree import ElementTree

import altair as alt
import pandas as pd

from sts import plotting


def luminance(colour):
    """Relative luminance of "#777", as WCAG 2.1 defines it."""
    parts = [int(digit * 2, 16) / 255 for digit in colour[1:]]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_standalone_figure_has_a_title_and_contrast_in_both_themes():
    rows = pd.DataFrame({"x": [1, 2], "y": [0.1, 0.4]})
    chart = alt.Chart(rows).mark_line(color=plotting.BLUE).encode(x="x:Q", y="y:Q")
    root = ElementTree.fromstring(plotting.to_svg_file(plotting.to_svg(chart), "a & b"))
    assert root[0].tag.endswith("title") and root[0].text == "a & b"
    assert root[1].tag.endswith("style") and "color-scheme:light dark" in (root[1].text or "")
    (ink,) = re.findall(r"color:(#\w+)", root[1].text or "")
    for ground in ("#fff", "#111"):
        light, dark = sorted((luminance(ink), luminance(ground)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) > 4
