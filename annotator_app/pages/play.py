"""The page on which a person plays a continuation under an agent's observation."""

from __future__ import annotations

import logging

import streamlit as st

from annotator_app import play, state
from annotator_app.events import UNSAVED, namespace
from annotator_app.pages.visitor import visitor
from sts.errors import StsError

_LOG = logging.getLogger(__name__)


@st.fragment  # when the page sends something, only this runs again
def page() -> None:
    """Mounts the page, or says why there is none."""
    person = visitor("annotator")
    if person is None:
        return
    author = namespace(state.place(), person.id)
    try:
        data = play.exchange(
            state.workspace(),
            state.store(),
            state.suite(),
            person,
            state.sent("play"),
            author=author,
            judged=state.judged_scenarios(person),
            plays=state.plays,
            broken=state.unplayable,
        )
    except StsError as error:
        _LOG.error("%s", error)
        data = {"author": author, "trouble": UNSAVED}
    state.component("play")(key="play", data=data, on_sync_change=lambda: None)
