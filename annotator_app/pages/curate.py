"""The page on which the candidates of a draft are decided."""

from __future__ import annotations

import streamlit as st

from annotator_app import state
from annotator_app.curation.exchange import exchange
from annotator_app.pages.visitor import visitor


@st.fragment  # when the page sends something, only this runs again
def page() -> None:
    """Mounts the page, or says why there is none."""
    person = visitor("curator", "lead")
    if person is None:
        return
    data = exchange(
        state.drafts(),
        state.store(),
        person,
        state.sent("curate"),
        place=state.place(),
        ghosts=state.ghosts(),
    )
    state.component("curate")(key="curate", data=data, on_sync_change=lambda: None)
