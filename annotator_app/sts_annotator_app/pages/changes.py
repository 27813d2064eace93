"""Changes of the database from a page: each reruns the page, which then shows the outcome."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from sts.errors import StsError
from sts_annotator_app import state
from sts_annotator_app.pages.tables import escape_markdown

_DONE, _LINK = "sts_change_done", "sts_change_link"
_T = TypeVar("_T")


def apply_change(
    message: str | Callable[[_T], str], change: Callable[..., _T], *args: object, **more: object
) -> None:
    """Make a change and rerun the page with `message` about the outcome, or show the error."""
    try:
        with state.get_store().write(exclusive=True) as connection:
            result = change(connection, *args, **more)
        st.session_state[_DONE] = message if isinstance(message, str) else message(result)
    except StsError as error:
        st.error(escape_markdown(str(error)))
        return
    st.rerun()


def show_link(link: str) -> None:
    """Show a link below the outcome of the change that is being made."""
    st.session_state[_LINK] = link


def show_outcome() -> None:
    """Show the outcome of the last change, once."""
    words, link = (st.session_state.pop(key, None) for key in (_DONE, _LINK))
    if words:
        st.success(escape_markdown(words))
    if link:
        st.code(link, language=None, wrap_lines=True)
