"""Who is at a page, and what it says where that cannot be known."""

from __future__ import annotations

import logging

import streamlit as st

from sts.annotations import consent
from sts.annotations.roles import ROLES
from sts.annotations.types import Annotator
from sts.errors import StoreError, StsError
from sts_annotator_app import state
from sts_annotator_app.entry import RETRY_S, UNAVAILABLE

WIDTH_PX = 820  # pixels: longer lines are hard to read
_LOG = logging.getLogger(__name__)


def current_roles() -> tuple[str, ...]:
    """What the person at the page does in the study; where that cannot be said, as a judge.

    The pages of a judge then say why they show nothing.
    """
    try:
        person = state.current_person()
    except StoreError:
        person = None
    return ROLES[:1] if person is None else person.roles


def require_person(*doing: str) -> Annotator | None:
    """Whose page this is, of those in a role; None where it has said why it shows nothing.

    Where the store cannot be reached the page says so, and runs anew once it can.
    """
    try:
        person = state.current_person()
    except StoreError:
        _wait_for_store()
        return None
    if person is None:
        st.error(
            "Your session has ended, or someone else has signed in on this browser. To continue, "
            "open a new invitation here: unsent answers stay in this browser, and are sent then."
        )
    elif not {*doing} & {*person.roles}:  # it was taken away since, or the address was typed
        st.error(
            f"This page is for the role {doing[0]}, which you do not have in this study. Whoever "
            "leads it can give it to you."
        )
        return None
    elif _ask_consent(person):
        return None
    return person


def _ask_consent(person: Annotator) -> bool:
    """Whether the person is asked to agree to the study's text, and nothing else, for now."""
    try:
        text = state.pending_consent(person)
        if text is None:
            return False
        with st.container(width=WIDTH_PX):
            st.markdown(text.text)
            st.caption(f"Version {text.version}. That you agree, and when, is kept.")
            if st.button("I agree", type="primary"):
                store = state.store()
                with store.write(alone=True) as connection:
                    consent.agree(connection, person.id, text.version, now=store.now())
                st.rerun()
    except StoreError:
        _wait_for_store()
    except StsError as error:
        _LOG.error("%s", error)
        st.error(
            "The text that this study asks people to agree to cannot be shown. Please tell whoever "
            "leads it; unsent answers stay in this browser."
        )
    return True


@st.fragment(run_every=float(RETRY_S))
def _wait_for_store() -> None:
    try:
        state.current_person()
    except StoreError:
        st.error(UNAVAILABLE)
    else:
        st.rerun()
