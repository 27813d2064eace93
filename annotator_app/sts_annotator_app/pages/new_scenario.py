"""Page on which a curator makes a candidate of any moment, in their own words."""

import logging

import streamlit as st

from sts.annotations.types import Annotator
from sts.domains import load_domain
from sts.errors import ArgumentError, StsError
from sts.suites import drafts
from sts.suites.folders import NAME
from sts.suites.lint import MAX_INSTRUCTION_CHARS
from sts.suites.types import DIFFICULTIES, KINDS
from sts.trajectories.store import find_trajectory
from sts.trajectories.types import Trajectory
from sts_annotator_app import state
from sts_annotator_app.pages.access import WIDTH_PX, require_person
from sts_scenarios.category import CONTEXT
from sts_scenarios.curation import add_candidate
from sts_scenarios.editing import FREE_HORIZON
from sts_scenarios.fields import validate_changes

_NEW = "a new draft"
_NO_RECORDINGS = (
    "There are no recordings of the test split. Record some with `sts record`, in a live session, "
    "or import them with `sts trajectories import`."
)
_LOG = logging.getLogger(__name__)


def show_page() -> None:
    """Show the form, and what became of it."""
    person = require_person("curator", "lead")
    if person is None:
        return
    with st.container(width=WIDTH_PX):
        st.header("New scenario")
        recorded = state.list_recordings()
        if not recorded:
            st.info(_NO_RECORDINGS)
            return
        st.write(
            "Choose a recording and a moment, and write what the player is asked to do. You can "
            "move the moment afterwards: under *Curate*, press E."
        )
        drafts_there = state.get_drafts().list_names()
        draft = st.selectbox("Draft", [*drafts_there, _NEW])
        name = st.text_input("Name of the new draft", "mine") if draft == _NEW else draft
        id = st.selectbox("Recording", recorded, format_func=recorded.__getitem__)
        try:
            trajectory = find_trajectory(state.get_workspace(), id)
            _show_fields(person, name, trajectory)
        except StsError as error:
            _LOG.error("trajectory %s: %s", id, error)
            st.error("This recording cannot be read. Choose another one.")


def _show_fields(person: Annotator, name: str, trajectory: Trajectory) -> None:
    """Show the fields of a candidate, and add it when they are submitted."""
    steps = trajectory.episode.steps
    layout = load_domain(trajectory.episode.domain).scene_layout(trajectory.episode.state)
    names = [layout.names[index] for index in layout.players]
    most = max(1, steps - 1)
    with st.form("new", border=False):
        moment = st.slider("Takeover: the step of the instruction", 0, most, most // 2)
        player = st.selectbox("Evaluated player", range(len(names)), format_func=names.__getitem__)
        texts = {
            "instruction": st.text_input("Instruction", max_chars=MAX_INSTRUCTION_CHARS),
            "criterion": st.text_input(
                "Success criterion, for annotators", max_chars=MAX_INSTRUCTION_CHARS
            ),
            "edge_cases": st.text_input(
                "Edge cases, for annotators", max_chars=MAX_INSTRUCTION_CHARS
            ),
            "category": st.text_input(
                "Category: a tag of your choice, such as good-manners", "own", max_chars=48
            ),
            "kind": st.radio("Kind", KINDS, horizontal=True),
            "difficulty": st.radio("Difficulty", DIFFICULTIES, index=1, horizontal=True),
        }
        if not st.form_submit_button("Add to the draft"):
            return
    chosen = texts | {
        "takeover": moment,
        "player": player,
        "context": min(CONTEXT, moment),
        "horizon": min(FREE_HORIZON, steps - moment),
    }
    try:
        if not NAME.fullmatch(name):
            raise ArgumentError("A draft's name has lower-case letters, digits and dashes.")
        validate_changes(chosen)  # before a new draft is created
        workspace = state.get_workspace()
        draft = drafts.find_draft(workspace, name) or drafts.create_draft(workspace, name, [])
        edit = add_candidate(draft, trajectory, chosen, person)
    except StsError as error:
        st.error(str(error))
        return
    id = edit.scenario.id
    st.success(f"{id} is added to the draft {name}. [Open it](curate?draft={name}&at={id})")
