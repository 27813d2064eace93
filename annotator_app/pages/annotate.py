"""The page on which continuations are judged."""

from __future__ import annotations

import streamlit as st

from annotator_app import state
from annotator_app.events import exchange


@st.fragment  # when the player sends something, only this runs again
def page() -> None:
    """Mounts the player, or says that the link has ended."""
    person = state.person()
    if person is None:
        st.error("Your link has ended. Ask for a new one; unsent answers stay in this browser.")
        return
    data = exchange(
        state.store(),
        person,
        state.sent("player"),
        suite=state.settings().suite,
        place=state.place(),
        shown=state.episode,
        broken=state.broken,
        runs=state.is_owner(),
    )
    state.component("player")(key="player", data=data, on_sync_change=lambda: None)
