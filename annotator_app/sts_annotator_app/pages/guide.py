"""Guide page: how to judge an episode."""

import contextlib
from collections.abc import Collection
from pathlib import Path

import streamlit as st

from sts.domains import load_domain
from sts.errors import StsError
from sts_annotator_app import state
from sts_annotator_app.pages.access import WIDTH_PX

GUIDE = Path(__file__).parents[1] / "guide.md"
PLACEHOLDER = "<!-- what is to be seen in the world of the suite -->"


def show_page() -> None:
    """Show the guide, with sections on the environments of the suite."""
    st.markdown(build_guide(state.list_domains()), width=WIDTH_PX)


def build_guide(domains: Collection[str]) -> str:
    """Return the guide with the sections of these domains; missing domains are left out."""
    sections = []
    for name in sorted(domains):
        with contextlib.suppress(StsError):
            sections.append(load_domain(name).guide)
    return GUIDE.read_text(encoding="utf-8").replace(PLACEHOLDER, "\n\n".join(sections))
