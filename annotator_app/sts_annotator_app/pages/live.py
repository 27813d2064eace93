"""Page of live sessions: those that a person can enter or start, then the session itself."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from sts.annotations.types import Annotator
from sts.errors import StsError
from sts.live.openings import open_recording
from sts.live.plans import list_studies, load_plan
from sts.live.prompts import Prompt, load_prompts
from sts.live.types import Participant
from sts_annotator_app import annotating, state
from sts_annotator_app.live.hall import Place
from sts_annotator_app.live.rooms import Refused
from sts_annotator_app.pages.access import WIDTH_PX, require_person
from sts_annotator_app.settings import get_settings

NOT_STARTED = "The session cannot be started. Please tell the study lead."
_ENTERED, _SESSION = "sts_live_entered", "session"
_ROLES = {"setter": "set tasks", "solver": "carry out tasks", "player": "play"}
_LOG = logging.getLogger(__name__)


def show_page() -> None:
    """Show the session that the person has entered, or what they can enter."""
    person = require_person("annotator", "curator", "lead")
    if person is None:
        return
    entered = st.session_state.get(_ENTERED)
    sent = (st.session_state.get("live") or {}).get("sync")
    if entered and isinstance(sent, dict) and sent.get("done") == entered["session"]:
        entered = st.session_state[_ENTERED] = None
        st.query_params.clear()
    elif not entered:  # a page that was loaded again
        entered = _return(person, st.query_params.get(_SESSION))
    if entered:
        author = annotating.storage_namespace(state.workspace_path(), person.id)
        data = {"author": author, "base": get_settings().base_path, **entered}
        state.mount_component("live")(key="live", data=data, on_sync_change=lambda: None)
        return
    with st.container(width=WIDTH_PX):
        st.header("Live sessions")
        _show_places(person)
        _show_studies(person)
        _show_recording(person)


def _return(person: Annotator, session: str | None) -> dict[str, Any] | None:
    """Enter the session in the page's address, if it is theirs and is not stored."""
    for place in state.get_hall().list_places(person.pseudonym):
        if place.is_own and place.session == session:
            _enter_place(place)
    entered: dict[str, Any] | None = st.session_state.get(_ENTERED)
    return entered


@st.fragment(run_every=3.0)  # a partner may have opened a session
def _show_places(person: Annotator) -> None:
    listed = state.get_hall().list_places(person.pseudonym)
    places = [place for place in listed if not place.has_ended]
    for place in places:
        what = f"{place.domain}: {_ROLES[place.role]}"
        verb = "Return to" if place.is_own else "Join"
        label = f"{verb} a session in {what}"
        if st.button(label, key=f"enter {place.session}"):
            _enter_place(place)
            st.rerun()
    if not places:
        st.caption("No session has a free place. This list is updated every few seconds.")


def _show_studies(person: Annotator) -> None:
    """Show a button for the next session of each study."""
    for name in list_studies(state.get_workspace()):
        try:
            plan = load_plan(state.get_workspace(), name)
        except StsError as error:
            _LOG.error("%s", error)
            continue
        st.subheader(f"Study {name}")
        st.write(
            f"You set tasks for agents, {plan.minutes:g} minutes each, and mark each task as a "
            "success or a failure. The first session is for practice."
        )

        def start(name: str = name) -> None:
            plan = load_plan(state.get_workspace(), name)
            session = state.get_hall().start_evaluation(plan, person.pseudonym)
            _enter(session, plan.prompts)

        st.button("Start the next session", key=f"study {name}", on_click=_report(start))


def _show_recording(person: Annotator) -> None:
    """Show how to record with another person, or alone."""
    domains = sorted(state.list_domains())
    if not domains:
        return
    st.subheader("Record together")
    st.write("One of two people sets tasks in their own words, the other carries them out.")
    domain = st.selectbox("World", domains) if len(domains) > 1 else domains[0]
    role = st.radio("You", ["set tasks", "carry out tasks", "play alone"], horizontal=True)

    def start() -> None:
        me = person.pseudonym
        participants = {
            "set tasks": _pair(Participant("human", me, "setter", None), "solver", 0),
            "carry out tasks": _pair(Participant("human", me, "solver", 0), "setter", None),
            "play alone": (Participant("human", me, "player", 0),),
        }[role]
        opening = open_recording(domain, participants)
        state.get_hall().create(opening)
        _enter(opening.id, load_prompts(domain))

    st.button("Open a session", on_click=_report(start))


def _pair(me: Participant, role: str, player: int | None) -> tuple[Participant, ...]:
    """Return a person and a free place for another."""
    return me, Participant("human", "", role, player)


def _enter_place(place: Place) -> None:
    """Enter a session, with the prompts of its study if it is of one."""
    if place.study:
        _enter(place.session, load_plan(state.get_workspace(), place.study).prompts)
    else:
        _enter(place.session, load_prompts(place.domain))


def _enter(session: str, prompts: Sequence[Prompt]) -> None:
    shown: list[dict[str, Any]] = [
        {"kind": prompt.kind, "difficulty": prompt.difficulty, "text": prompt.text}
        for prompt in prompts
    ]
    st.session_state[_ENTERED] = {"session": session, "prompts": shown, "completions": []}
    st.query_params[_SESSION] = session


def _report(start: Callable[[], None]) -> Callable[[], None]:
    """Return a callback that shows why `start` failed."""

    def run() -> None:
        try:
            start()
        except Refused as error:
            st.toast(str(error), icon=":material/info:")
        except StsError as error:  # which may name files and agents
            _LOG.error("%s", error)
            st.toast(NOT_STARTED, icon=":material/info:")

    return run
