"""Page on which a curator makes a candidate of any moment, in their own words."""

import logging
from typing import Any

import streamlit as st

from sts.annotations.records import Annotator
from sts.domains import load_domain
from sts.episodes import Instruction
from sts.errors import ArgumentError, StsError
from sts.suites import drafts
from sts.suites.folders import NAME
from sts.suites.lint import MAX_INSTRUCTION_CHARS
from sts.suites.suite import DIFFICULTIES, KINDS
from sts.trajectories.trajectory import Trajectory
from sts.trajectories.trajectory_store import find_trajectory
from sts.viewer.payload import episode_payload
from sts_annotator_app import state
from sts_annotator_app.pages.access import WIDTH_PX, require_person
from sts_scenarios.draft.curation import make_candidate
from sts_scenarios.draft.editing import FREE_HORIZON
from sts_scenarios.draft.fields import validate_changes
from sts_scenarios.mining import states_at
from sts_scenarios.rules.category import CONTEXT

_NEW = "a new draft"
_NO_RECORDINGS = (
    "There are no recordings of the test split. Record some with `sts record`, in a live session, "
    "or import them with `sts trajectories import`."
)
_PARTNERS = {"replay": "continue as recorded", "no-op": "stand still"}
_YOURS = "Your instruction, from here on."
_LONGEST = 120
"""Maximum steps of a context or continuation that the page offers."""
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
            "change all of it afterwards: under *Curate*, press E."
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
    """Show the fields of a candidate and its moment, and add it when they are submitted."""
    chosen = _choose_moment(trajectory)
    with st.form("new", border=False):
        chosen |= {
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
            "partner": st.radio(
                "Other players, after the takeover",
                _PARTNERS,
                format_func=_PARTNERS.__getitem__,
                horizontal=True,
            ),
        }
        if not st.form_submit_button("Add to the draft"):
            return
    try:
        if not NAME.fullmatch(name):
            raise ArgumentError("A draft's name has lower-case letters, digits and dashes.")
        validate_changes(chosen)  # before a new draft is created
        workspace = state.get_workspace()
        draft = drafts.find_draft(workspace, name) or drafts.create_draft(workspace, name, [])
        last = drafts.find_last_numbers(workspace, name, draft.load_ids())
        edit = make_candidate(trajectory, chosen, person.pseudonym, last)
        drafts.add_candidates(draft, [edit.scenario])
    except StsError as error:
        st.error(str(error))
        return
    id = edit.scenario.id
    st.success(f"{id} is added to the draft {name}. [Open it](curate?draft={name}&at={id})")


def _choose_moment(trajectory: Trajectory) -> dict[str, Any]:
    """Return the takeover, context, horizon and player that are chosen, and show the recording."""
    episode = trajectory.episode
    layout = load_domain(episode.domain).scene_layout(episode.state)
    names = [layout.names[index] for index in layout.players]
    last = max(1, episode.steps - 1)
    moment = st.slider("Takeover: the step of the instruction", 0, last, last // 2)
    longest = min(_LONGEST, episode.steps)
    before, after = st.columns(2)
    context = min(moment, before.slider("Context: steps before it", 0, longest, CONTEXT))
    horizon = after.slider("Length: steps after it", 1, longest, min(FREE_HORIZON, longest))
    horizon = min(episode.steps - moment, horizon)
    player = st.selectbox("Evaluated player", range(len(names)), format_func=names.__getitem__)
    start, stop = moment - context, moment + horizon
    st.caption(f"Recorded steps {start} to {stop} of {episode.steps}. This is what happened then:")
    shown = episode_payload(
        state.get_workspace(),
        episode.slice_steps(states_at(episode, [start])[0], start, stop),
        takeover=context,
        players=(player,),
        instructions=(Instruction(_YOURS, "", source="curator", given_at=context),),
    )
    id = f"{trajectory.id}-{start}-{moment}-{stop}-{player}"
    shown |= {"id": id, "criterion": None}
    state.mount_component("clip")(
        key="moment", data={"episode": shown, "marks": None, "beside": True}
    )
    return {"takeover": moment, "context": context, "horizon": horizon, "player": player}
