"""The current report: built anew where people have judged since, or on demand."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from annotator_app import state
from annotator_app.pages.visitor import visitor
from sts.errors import StsError
from sts.suites import store as suites

HEIGHT = 1400


def page() -> None:
    """Shows the report of the suite that is judged, to who leads the study."""
    if visitor("lead") is None:
        return
    label = state.settings().suite
    folder = state.workspace().path("reports", label.replace("@", "-"))
    wanted = st.button("Build the report now")
    if wanted or not _current(folder, label):
        with st.spinner("Analysing ..."):
            try:
                _build()
            except StsError as error:
                st.error(str(error))
    if (folder / "report.html").exists():
        st.iframe(folder / "report.html", height=HEIGHT)
    else:
        st.info(f"There is no report of {label} yet. Build one with the button above.")


def _current(folder: Path, label: str) -> bool:
    """Whether the report on disk holds every judgement made by now."""
    from analysis.inputs.workspace import annotations_hash
    from analysis.report.json_form import read

    try:
        report = read(folder)
    except (OSError, StsError):
        return False
    return report.provenance.annotations_hash == annotations_hash(state.workspace(), label)


def _build() -> None:
    from analysis.inputs.workspace import gather
    from analysis.report.build import build
    from analysis.report.write import write
    from scenarios.labels import label_suite
    from sts.provenance import provenance

    workspace, suite = state.workspace(), suites.load(state.workspace(), state.settings().suite)
    label_suite(workspace, suite)  # what was played since has none yet
    gathered = gather(workspace, suite.label)
    report = build(gathered.ratings, gathered.scores, suite=gathered.suite, provenance=provenance())
    write(gathered.folder, report)
