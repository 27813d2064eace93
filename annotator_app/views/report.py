"""The current report, shown as it is on disk, and built anew on demand."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from annotator_app import state
from sts.errors import StsError

HEIGHT = 1400


def page() -> None:
    """Shows the report of the suite that is judged; only to whom the server belongs."""
    if not state.is_owner():  # the address can be typed by anyone
        st.error("The report is for the person who runs this study.")
        return
    label = state.settings().suite
    folder = state.workspace().path("reports", label.replace("@", "-"))
    found = folder / "report.html"
    if st.button("Build the report now"):
        with st.spinner("Analysing ..."):
            try:
                _build(label, folder)
            except StsError as error:
                st.error(str(error))
    if found.exists():
        st.iframe(found, height=HEIGHT)
    else:
        st.info(f"There is no report of {label} yet. Build one with the button above.")


def _build(label: str, folder: Path) -> None:
    from analysis.gather import suite_ratings, workspace_scores
    from analysis.report import build
    from analysis.write import write
    from sts.provenance import provenance

    workspace = state.workspace()
    report = build(
        suite_ratings(workspace, label),
        workspace_scores(workspace),
        suite=label,
        provenance=provenance(),
    )
    write(folder, report)
