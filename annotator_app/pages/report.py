"""The current report: built anew where people have judged since, or on demand."""

from __future__ import annotations

import json
from pathlib import Path

import streamlit as st

from annotator_app import state
from sts.errors import StsError
from sts.suites import store as suites

HEIGHT = 1400


def page() -> None:
    """Shows the report of the suite that is judged; only to whom the server belongs."""
    if not state.is_owner():  # the address can be typed by anyone
        st.error("The report is for the person who runs this study.")
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
    from analysis.inputs.gather import annotations_hash

    try:
        found = json.loads((folder / "report.json").read_bytes())["provenance"]
    except (OSError, ValueError, KeyError):
        return False
    return bool(found.get("annotations_hash") == annotations_hash(state.workspace(), label))


def _build() -> None:
    from analysis.inputs.gather import gather
    from analysis.report.build import build
    from analysis.report.write import write
    from scenarios.labels import label_suite, save

    workspace, suite = state.workspace(), suites.load(state.workspace(), state.settings().suite)
    save(workspace, suite, label_suite(workspace, suite))  # what was played since has none yet
    found = gather(workspace, suite.label)
    report = build(found.ratings, found.scores, suite=found.suite, provenance=found.provenance)
    write(found.folder, report)
