"""How to judge, in the annotators' own words."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

GUIDE = Path(__file__).parents[1] / "guide.md"
WIDTH = 820  # pixels: longer lines are hard to read


def page() -> None:
    """Shows the guide."""
    st.markdown(GUIDE.read_text(encoding="utf-8"), width=WIDTH)
