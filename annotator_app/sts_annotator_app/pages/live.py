"""Page of live sessions: those that a person can enter or start, then the session itself."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

import msgspec
import streamlit as st

from sts.annotations.records import Annotator
from sts.errors import ArgumentError, StsError
from sts.live.openings import open_recording
from sts.live.plans import list_studies, load_plan
from sts.live.prompts import Prompt, load_prompts
from sts.live.types import Participant
from sts.live.worlds import ANY, load_recording_split
from sts_annotator_app import annotating, state
from sts_annotator_app.live.hall import Place
from sts_annotator_app.live.rooms import Refused
from sts_annotator_app.pages.access import WIDTH_PX, may_join_live, require_person
from sts_annotator_app.settings import get_settings

NOT_STARTED = "The session cannot be started. Please tell the study lead."
_ENTERED, _SESSION = "sts_live_entered", "session"
_DOES = {"setter": "set tasks", "solver": "carry out tasks", "player": "play freely"}
_BECOMES = {
    "test": "Recordings are of test worlds: scenarios can be made from them.",
    "train": "Recordings are of training worlds: agents can learn from them, and no scenarios can "
    "be made from them.",
    ANY: "Scenarios can be made from one recording in five, and agents can learn from the others.",
}
_ANOTHER, _NOBODY = "another person", "no one"
_LOG = logging.getLogger(__name__)


def show_page() -> None:
    """Show the session that the person has entered, or what they can enter."""
    person = require_person("annotator", "curator", "lead")
    if person is None or not may_join_live():
        return
    entered = st.session_state.get(_ENTERED)
    sent = (st.session_state.get("live") or {}).get("sync")
    if entered and isinstance(sent, dict) and sent.get("done") == entered["session"]:
        st.session_state[_ENTERED] = None
        st.query_params.clear()
        if sent.get("another") is True and _may_play(person):
            _attempt(partial(_start_scenario, person))
        entered = st.session_state[_ENTERED]
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
        if _may_play(person):
            _show_scenarios(person)
        _show_recording(person)


def _return(person: Annotator, session: str | None) -> dict[str, Any] | None:
    """Enter the session in the page's address, if it is theirs and is not stored."""
    for place in state.get_hall().list_places(person.pseudonym):
        if place.is_own and place.opening.id == session:
            _enter_place(place)
    entered: dict[str, Any] | None = st.session_state.get(_ENTERED)
    return entered


@st.fragment(run_every=3.0)  # a partner may have opened a session
def _show_places(person: Annotator) -> None:
    listed = state.get_hall().list_places(person.pseudonym)
    places = [place for place in listed if not place.has_ended]
    for place in places:
        verb = "Return to" if place.is_own else "Join"
        label = f"{verb} a session in {place.opening.domain}: {_DOES[place.role]}"
        _offer(label, partial(_enter_place, place), key=f"enter {place.opening.id}")
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
        if plan.split != ANY:
            st.caption(_BECOMES[plan.split])
        if plan.rehearsal:
            st.info("Rehearsal: what you do here counts as a script's.")

        def start(name: str = name) -> None:
            plan = load_plan(state.get_workspace(), name)
            session = state.get_hall().start_evaluation(plan, person.pseudonym)
            _enter(session, plan.prompts, plan.wordings)

        _offer("Start the next session", start, key=f"study {name}")


def _show_scenarios(person: Annotator) -> None:
    """Show a button for the person's next scenario; none that they have judged."""
    st.subheader("Play scenarios")
    st.write(
        "Watch the beginning of an episode, then take over and do what the instruction says, as an "
        "agent would. Others judge what you do, and are not told that it was you."
    )
    _offer("Play the next scenario", partial(_start_scenario, person))


def _may_play(person: Annotator) -> bool:
    return "annotator" in person.roles and bool(get_settings().suite)


def _start_scenario(person: Annotator) -> None:
    judged = state.judged_scenarios(person)
    scenarios = (s for s in state.get_suite().scenarios if s.hash not in judged)
    _enter(state.get_hall().start_scenario(scenarios, person.pseudonym))


def _show_recording(person: Annotator) -> None:
    """Show how to record with another person or an agent, or alone."""
    domains = state.list_recordable()
    if not domains:
        return
    st.subheader("Record together")
    st.write(
        "One person sets tasks in their own words, and another person or an agent carries them out."
    )
    split = load_recording_split(state.get_workspace())
    st.caption(_BECOMES[split])
    domain = st.selectbox("World", domains) if len(domains) > 1 else domains[0]
    role = st.radio("You", _DOES, format_func=_DOES.get, horizontal=True)
    agents = {} if role == "solver" else state.list_agents(domain)
    others = [*([_NOBODY] if role == "player" else []), _ANOTHER, *agents]
    other = st.selectbox("Together with", others) if len(others) > 1 else _ANOTHER

    def start() -> None:
        participants = [Participant("human", person.pseudonym, role, None)]
        theirs = {"setter": "solver", "solver": "setter", "player": "player"}[role]
        if other == _ANOTHER:
            participants.append(Participant("human", "", theirs, None))
        elif other != _NOBODY:
            participants.append(Participant("agent", other, theirs, None))
        try:
            opening = open_recording(domain, participants, split=split)
        except ArgumentError as error:
            raise Refused(str(error)) from None
        state.get_hall().create(opening)
        _enter(opening.id, load_prompts(domain), agents.get(other, ()))

    _offer("Open a session", start)


def _enter_place(place: Place) -> None:
    """Enter a session, with the prompts and wordings that fit it."""
    opening = place.opening
    if opening.study:
        plan = load_plan(state.get_workspace(), opening.study)
        _enter(opening.id, plan.prompts, plan.wordings)
    elif opening.activity == "scenario":
        _enter(opening.id)
    else:
        agents = state.list_agents(opening.domain)
        wordings = (agents.get(p.name, ()) for p in opening.participants if p.kind == "agent")
        _enter(opening.id, load_prompts(opening.domain), [*chain(*wordings)])


def _enter(session: str, prompts: Sequence[Prompt] = (), wordings: Sequence[str] = ()) -> None:
    shown = msgspec.to_builtins(list(prompts))
    entered = {"session": session, "prompts": shown, "completions": list(wordings)}
    st.session_state[_ENTERED] = entered
    st.query_params[_SESSION] = session


def _offer(label: str, start: Callable[[], None], key: str | None = None) -> None:
    """Show a button with which a person starts or enters a session.

    It is no callback of Streamlit's: one would see what was chosen a run before the click.
    """
    if st.button(label, key=key):
        _attempt(start)
        if st.session_state.get(_ENTERED):
            st.rerun()


def _attempt(start: Callable[[], None]) -> None:
    """Start or enter a session, or show why it failed."""
    try:
        start()
    except Refused as error:
        st.toast(str(error), icon=":material/info:")
    except StsError as error:  # which may name files and agents
        _LOG.error("%s", error)
        st.toast(NOT_STARTED, icon=":material/info:")
