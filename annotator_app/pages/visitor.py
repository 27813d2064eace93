"""Who is at a page, and what it says where that cannot be known."""

from __future__ import annotations

import streamlit as st

from annotator_app import state
from annotator_app.auth import AWAY, RETRY
from sts.annotations.types import Annotator
from sts.errors import StoreError


def visitor() -> Annotator | None:
    """Whose page this is; None where it has said why it shows nothing.

    Where the store cannot be reached the page says so, and runs anew once it can.
    """
    try:
        person = state.person()
    except StoreError:
        _until_it_is_back()
        return None
    if person is None:
        st.error("Your link has ended. Ask for a new one; unsent answers stay in this browser.")
    return person


@st.fragment(run_every=float(RETRY))
def _until_it_is_back() -> None:
    try:
        state.person()
    except StoreError:
        st.error(AWAY)
    else:
        st.rerun()
