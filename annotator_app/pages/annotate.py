"""The page on which continuations are judged."""

from __future__ import annotations

import streamlit as st

from annotator_app import state
from annotator_app.events import exchange
from annotator_app.pages.visitor import visitor


@st.fragment  # when the player sends something, only this runs again
def page() -> None:
    """Mounts the player, or says why there is none."""
    person = visitor("annotator")
    if person is None:
        return
    data = exchange(
        state.store(),
        person,
        state.sent("player"),
        suite=state.settings().part or state.settings().suite,
        place=state.place(),
        shown=state.episode,
        broken=state.broken,
        remaining=state.remaining,
        runs="lead" in person.roles,
    )
    state.component("player")(key="player", data=data, on_sync_change=lambda: None)
