"""The page on which judgements are adjudicated and reviewed."""

from __future__ import annotations

import streamlit as st

from annotator_app import state
from annotator_app.pages.visitor import visitor
from annotator_app.reviewing.exchange import exchange


@st.fragment  # when the page sends something, only this runs again
def page() -> None:
    """Mounts the page, or says why there is none."""
    person = visitor("reviewer")
    if person is None:
        return
    data = exchange(
        state.store(),
        person,
        state.sent("review"),
        queues=state.queues(),
        place=state.place(),
        shown=state.episode,
        broken=state.broken,
    )
    state.component("review")(key="review", data=data, on_sync_change=lambda: None)
