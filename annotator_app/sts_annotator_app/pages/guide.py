"""Guide page: how to judge an episode."""

import contextlib
import re
from collections.abc import Collection
from pathlib import Path

import streamlit as st

from sts.annotations.people import deal
from sts.domains import load_domain
from sts.errors import StoreError, StsError
from sts_annotator_app import state
from sts_annotator_app.pages.access import WIDTH_PX, may_join_live

GUIDE = Path(__file__).parents[1] / "guide.md"
PLACEHOLDER = "<!-- what is to be seen in the world of the suite -->"
_LIVE = "<!-- live -->"
_RUBRIC = re.compile(r"<!-- success criterion -->(.*?)<!-- end -->", re.DOTALL)


def show_page() -> None:
    """Show the guide, with sections on the environments of the suite."""
    text = build_guide(state.list_domains(), rubric=_is_rubric_shown(), live=may_join_live())
    st.markdown(text, width=WIDTH_PX)


def _is_rubric_shown() -> bool:
    """Return True if the current person sees the success criteria of some category."""
    with contextlib.suppress(StoreError):
        person = state.current_person()
        if person is not None:
            with state.get_store().read() as connection:
                return bool(deal.list_seen(connection, person.id))
    return False


def build_guide(domains: Collection[str], *, rubric: bool = True, live: bool = True) -> str:
    """Return the guide with the sections of these domains; missing domains are left out.

    Without `rubric` it does not mention success criteria and edge cases, without `live` no play.
    """
    sections = []
    for name in sorted(domains):
        with contextlib.suppress(StsError):
            sections.append(load_domain(name).guide)
    text = _RUBRIC.sub(r"\1" if rubric else "", GUIDE.read_text(encoding="utf-8"))
    judging, _, playing = text.replace(PLACEHOLDER, "\n\n".join(sections)).partition(_LIVE)
    return judging + (playing if live else "")
