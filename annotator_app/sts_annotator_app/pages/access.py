"""Access of the current person to a page."""

import logging

import streamlit as st

from sts.annotations.people import consent
from sts.annotations.people.roles import ROLES
from sts.annotations.records import Annotator
from sts.errors import StoreError, StsError
from sts_annotator_app import state
from sts_annotator_app.auth.entry_pages import RETRY_S, UNAVAILABLE

WIDTH_PX = 820  # pixels: longer lines are hard to read
_LOG = logging.getLogger(__name__)


def current_roles() -> tuple[str, ...]:
    """Return the roles of the current person.

    Without a session or store it is the role annotator, whose pages then show the reason.
    """
    try:
        person = state.current_person()
    except StoreError:
        person = None
    return ROLES[:1] if person is None else person.roles


def may_join_live() -> bool:
    """Return True if the current person may take part in live sessions.

    Without a session or store it is True, and the page then shows the reason.
    """
    try:
        person = state.current_person()
        return person is None or not state.is_from_crowd(person)
    except StoreError:
        return True


def require_person(*roles: str) -> Annotator | None:
    """Return the current person if they have one of these roles, else show the reason.

    If the store is unavailable, the page says so and retries until it is back.
    """
    try:
        person = state.current_person()
    except StoreError:
        _wait_for_store()
        return None
    if person is None:
        st.error(
            "Your session has ended, or someone else has signed in on this browser. To continue, "
            "open a new invitation here. Unsent answers are kept in this browser and sent then."
        )
    elif not {*roles} & {*person.roles}:  # the role was removed, or the address typed
        st.error(
            f"This page is for the role {roles[0]}, which you do not have in this study. Ask the "
            "study lead to give it to you."
        )
        return None
    elif _ask_consent(person):
        return None
    return person


def _ask_consent(person: Annotator) -> bool:
    """Ask for consent if it is pending; return True if the page must show nothing else."""
    try:
        text = state.pending_consent(person)
        if text is None:
            return False
        with st.container(width=WIDTH_PX):
            st.markdown(text.text)
            st.caption(f"Version {text.version}. Your consent is stored with its date.")
            if st.button("I agree", type="primary"):
                store = state.get_store()
                with store.write(exclusive=True) as connection:
                    consent.record_consent(connection, person.id, text.version, now=store.now())
                st.rerun()
    except StoreError:
        _wait_for_store()
    except StsError as error:
        _LOG.error("%s", error)
        st.error(
            "The consent text of this study cannot be displayed. Please tell the study lead. "
            "Unsent answers are kept in this browser."
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
