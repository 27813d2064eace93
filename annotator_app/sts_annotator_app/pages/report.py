"""Report page: shows the latest report, rebuilt in the background after new judgements."""

import contextlib

import streamlit as st

from sts.annotations.people.members import last_event_time
from sts.errors import StoreError
from sts.names import format_time
from sts_annotator_app import state
from sts_annotator_app.pages.access import require_person
from sts_annotator_app.pages.tables import escape_markdown
from sts_annotator_app.reporting import ReportBuilder
from sts_annotator_app.results import RESULTS
from sts_annotator_app.settings import get_settings

HEIGHT_PX = 1400
CHECK_S = 10.0
"""Time between two checks for events that the report does not include."""
POLL_S = 1.0
"""Time between two checks of a running build."""


def show_page() -> None:
    """Show the report of the suite to the study lead."""
    if require_person("lead") is None:
        return
    builder = state.get_report_builder()
    buttons = st.container(horizontal=True)
    is_requested = buttons.button("Build the report now", disabled=builder.is_building)
    if is_requested or (not builder.is_building and builder.is_outdated(_last_event())):
        builder.start()
    show_status(builder)
    if builder.built_at is not None:
        address = f"{get_settings().base_path}{RESULTS}report.html"
        buttons.link_button("Open in a new tab", address)
        st.iframe(f"{address}?built={builder.built_at}", height=HEIGHT_PX)


def show_status(builder: ReportBuilder) -> None:
    """Show the state of the report; the page is run again when a build ends."""
    label, built = get_settings().suite, builder.built_at
    last = "" if built is None else f"Below: report of {format_time(built)} UTC."
    if builder.error:
        st.error(escape_markdown(f"The report could not be built: {builder.error}. {last}"))
    elif not builder.is_building:
        st.caption(last or f"No report of {label} yet.")
        _watch_for_events(builder)
    if builder.is_building:
        st.info(f"Building the report of {label}; it appears here when it is finished. {last}")
        _wait_for_build(builder)


@st.fragment(run_every=CHECK_S)
def _watch_for_events(builder: ReportBuilder) -> None:
    with contextlib.suppress(StoreError):
        if builder.is_building:  # another person started it
            st.rerun()
        if builder.is_outdated(_last_event()):
            st.info("New verdicts have arrived. Select “Build the report now” to include them.")


@st.fragment(run_every=POLL_S)
def _wait_for_build(builder: ReportBuilder) -> None:
    if not builder.is_building:
        st.rerun()


def _last_event() -> float | None:
    with state.get_store().read() as connection:
        return last_event_time(connection)
