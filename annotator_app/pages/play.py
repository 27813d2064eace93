"""The page on which a person plays a continuation under an agent's observation."""

from __future__ import annotations

import streamlit as st

from annotator_app import play, state
from annotator_app.events import namespace


@st.fragment  # when the page sends something, only this runs again
def page() -> None:
    """Mounts the page, or says why there is none."""
    person = state.person()
    if person is None:
        st.error("Your link has ended. Ask for a new one.")
        return
    data = play.exchange(
        state.workspace(),
        state.store(),
        state.suite(),
        person,
        state.sent("play"),
        author=namespace(state.place(), person.id),
        judged=state.judged_scenarios(person),
        broken=state.unplayable,
    )
    state.component("play")(key="play", data=data, on_sync_change=lambda: None)
