"""The current report: built beside the pages where people have judged since, or on demand."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime

import streamlit as st

from sts.annotations.members import last_event
from sts.errors import StoreError
from sts_annotator_app import state
from sts_annotator_app.pages.visitor import require_person
from sts_annotator_app.reporting import ReportBuilder
from sts_annotator_app.results import RESULTS
from sts_annotator_app.tables import escape_markdown

HEIGHT_PX = 1400
CHECK_S = 10.0
"""Seconds between two looks whether more has come than the report that is shown knows."""
POLL_S = 1.0
"""Seconds between two looks at a build that is under way."""


def page() -> None:
    """Show the report of the suite that is judged, to who leads the study."""
    if require_person("lead") is None:
        return
    builder = state.builder()
    buttons = st.container(horizontal=True)
    wanted = buttons.button("Build the report now", disabled=builder.is_building)
    if wanted or (not builder.is_building and builder.is_outdated(_last_event())):
        builder.start()
    show_status(builder)
    if builder.built_at is not None:
        address = f"{state.settings().base}{RESULTS}report.html"
        buttons.link_button("Open it in a tab of its own", address)
        st.iframe(f"{address}?built={builder.built_at}", height=HEIGHT_PX)


def show_status(builder: ReportBuilder) -> None:
    """Says what report there is, and what is being built; the page runs anew when it is."""
    label = state.settings().suite
    last = (
        ""
        if builder.built_at is None
        else f"Below is the report of {_format_time(builder.built_at)}."
    )
    if builder.error:
        st.error(escape_markdown(f"The report could not be built: {builder.error}. {last}"))
    elif not builder.is_building:
        st.caption(last or f"There is no report of {label} yet.")
        _watch_for_events(builder)
    if builder.is_building:
        st.info(f"A report of {label} is being built; it is shown here when it is done. {last}")
        _wait_for_build(builder)


@st.fragment(run_every=CHECK_S)
def _watch_for_events(builder: ReportBuilder) -> None:
    with contextlib.suppress(StoreError):
        if builder.is_building:  # somebody else began it
            st.rerun()
        if builder.is_outdated(_last_event()):
            st.info("More was said of clips since: the button above builds the report with it.")


@st.fragment(run_every=POLL_S)
def _wait_for_build(builder: ReportBuilder) -> None:
    if not builder.is_building:
        st.rerun()


def _last_event() -> float | None:
    with state.store().read() as connection:
        return last_event(connection)


def _format_time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
