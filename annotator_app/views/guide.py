"""How to judge, in the annotators' own words."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from annotator_app import state
from sts.domains import domain

GUIDE = Path(__file__).parents[1] / "guide.md"
PLACE = "<!-- what is to be seen in the world of the suite -->"
WIDTH = 820  # pixels: longer lines are hard to read


def page() -> None:
    """Shows the guide, with what there is to know about the worlds of the suite."""
    domains = sorted({one.recording.domain for one in state.suite().scenarios})
    worlds = "\n\n".join(domain(name).guide for name in domains)
    st.markdown(GUIDE.read_text(encoding="utf-8").replace(PLACE, worlds), width=WIDTH)
