"""Who is at a page, and what it says where that cannot be known."""

from __future__ import annotations

import streamlit as st

from annotator_app import state
from annotator_app.entry import AWAY, RETRY
from sts.annotations.roles import ROLES
from sts.annotations.types import Annotator
from sts.errors import StoreError


def roles() -> tuple[str, ...]:
    """What the person at the page does in the study; where that cannot be said, as a judge.

    The pages of a judge then say why they show nothing.
    """
    try:
        person = state.person()
    except StoreError:
        person = None
    return ROLES[:1] if person is None else person.roles


def visitor(*doing: str) -> Annotator | None:
    """Whose page this is, of those in a role; None where it has said why it shows nothing.

    Where the store cannot be reached the page says so, and runs anew once it can.
    """
    try:
        person = state.person()
    except StoreError:
        _until_it_is_back()
        return None
    if person is None:
        st.error(
            "Your session has ended. Ask for a new invitation and open it in this browser: "
            "unsent answers stay here, and are sent then."
        )
    elif not {*doing} & {*person.roles}:  # it was taken away since, or the address was typed
        st.error(
            f"This page is for the role {doing[0]}, which you do not have in this study. Whoever "
            "leads it can give it to you."
        )
        return None
    return person


@st.fragment(run_every=float(RETRY))
def _until_it_is_back() -> None:
    try:
        state.person()
    except StoreError:
        st.error(AWAY)
    else:
        st.rerun()
