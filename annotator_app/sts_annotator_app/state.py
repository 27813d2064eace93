"""State shared by the pages: the workspace, its store, and the current person."""

import contextlib
import gc
import importlib
import logging
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, cast

import streamlit as st

from sts import registry
from sts.agents import list_installed
from sts.agents.info import require_infos
from sts.annotations.answers import progress
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings.differences import load_label_verdicts
from sts.annotations.findings.review_queues import ReviewQueues
from sts.annotations.people import consent, external_ids, people
from sts.annotations.people.consent import ConsentText
from sts.annotations.records import Annotator
from sts.continuations.continuation import Continuation
from sts.continuations.continuation_store import find_continuation, save
from sts.continuations.index import Index, open_index
from sts.domains import load_domain
from sts.domains.drawing import read_drawing
from sts.errors import ArgumentError, StoreError, StsError
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.suites.suite import Scenario, Suite
from sts.trajectories.batches import describe_rows
from sts.viewer.criteria import find_criterion
from sts.viewer.payload import continuation_payload
from sts_annotator_app import components
from sts_annotator_app.annotating import Broken
from sts_annotator_app.auth.browser_sessions import cookie_name
from sts_annotator_app.curation.drafts import DraftCache
from sts_annotator_app.curation.previews import PreviewWorker
from sts_annotator_app.curation.sync import preload
from sts_annotator_app.live.hall import Hall
from sts_annotator_app.live.rooms import Refused
from sts_annotator_app.queueing import enqueue
from sts_annotator_app.reporting import ReportBuilder
from sts_annotator_app.settings import get_settings

broken: Broken = {}
"""Errors of the continuations that cannot be displayed, by identity."""
_REFRESH_S = 5 * 60.0
"""Time after which remaining judgements are counted again."""
MAX_RECORDINGS = 5000
"""Maximum number of recordings that a page lists."""
_LIST_S = 60.0
"""Time after which recordings are listed again."""
_MAX_HISTORY = 1_000_000
_LOG = logging.getLogger(__name__)
_PERSON, _AGREED = "sts_person", "sts_agreed"


@st.cache_resource(show_spinner=False)
def get_workspace() -> Workspace:
    """Return the workspace that is served."""
    return Workspace.open(get_settings().workspace)


@st.cache_resource(show_spinner=False)
def get_store() -> AnnotationStore:
    """Return the annotation store of this process; opening one per page would be slow."""
    return AnnotationStore.open(get_workspace())


@st.cache_resource(show_spinner=False)
def get_suite() -> Suite:
    """Return the suite that is annotated."""
    return suites.load(get_workspace(), get_settings().suite)


@st.cache_resource(show_spinner=False)
def get_drafts() -> DraftCache:
    """Return the drafts of the workspace."""
    return DraftCache(get_workspace())


@st.cache_data(show_spinner=False, ttl=_LIST_S)
def list_recordings() -> dict[str, str]:
    """Return a line on each recording of the test split, by id, the first if there are many."""
    return describe_rows(get_workspace(), "test", MAX_RECORDINGS)


@st.cache_resource(show_spinner=False)
def get_previews() -> PreviewWorker:
    """Return the worker that computes agent previews for candidates."""
    return PreviewWorker(get_workspace())


@st.cache_resource(show_spinner=False)
def get_report_builder() -> ReportBuilder:
    """Return the builder of the suite's report."""
    return ReportBuilder(get_workspace(), get_settings().suite)


@st.cache_resource(show_spinner=False)
def get_hall() -> Hall:
    """Return the live sessions of the workspace."""

    def find_scenario(hash: str) -> Scenario:
        for scenario in get_suite().scenarios if get_settings().suite else ():
            if scenario.hash == hash:
                return scenario
        raise ArgumentError("This scenario is not in the suite that is served.")

    def add_continuation(continuation: Continuation) -> None:
        (saved,) = save(get_workspace(), [continuation])
        enqueue(get_store(), get_suite(), [saved])

    def check_person(person: Annotator) -> None:
        if needs_consent(person):
            raise Refused("Please agree to the consent text first.")
        if is_from_crowd(person):
            raise Refused("Live sessions are not open to participants of a crowd platform.")

    return Hall(
        get_workspace(),
        find_scenario=find_scenario,
        add_continuation=add_continuation,
        check_person=check_person,
    )


def list_domains() -> set[str]:
    """Return the domains of the annotated suite; none if only drafts are curated."""
    scenarios = get_suite().scenarios if get_settings().suite else ()
    return {scenario.recording.domain for scenario in scenarios}


@st.cache_resource(show_spinner=False)
def list_recordable() -> list[str]:
    """Return the installed domains in which people can record, those of the suite first."""
    names = []
    for name in sorted({*registry.list_entry_points("sts.domains"), *list_domains()}):
        with contextlib.suppress(StsError):  # such as of an extra that is not installed
            if load_domain(name).action_names:
                names.append(name)
    return sorted(names, key=lambda name: name not in list_domains())


@st.cache_resource(show_spinner=False)
def list_agents(domain: str) -> dict[str, tuple[str, ...]]:
    """Return the wordings of the agents that people can record with in a domain, by name.

    Agents with privileged information, and those that cannot be loaded, are left out.
    """
    wordings = {}
    for name in list_installed():
        with contextlib.suppress(StsError):
            info = require_infos([name])[name]
            if info.domain in ("", domain) and info.sees == "observation":
                wordings[name] = info.wordings
    return wordings


@st.cache_resource(show_spinner=False)
def get_continuations() -> Index:
    """Return the index of the workspace's continuations at start-up."""
    return open_index(get_workspace().store)


@st.cache_resource(show_spinner=False)
def mount_component(name: str) -> Callable[..., Any]:
    """Return the Streamlit component `name`; a call mounts it."""
    # Drafts and live sessions may use any installed domain.
    drawings = load_drawings(all_installed=name in ("clip", "curate", "live"))
    texts = components.load_component(name, drawings)
    return st.components.v2.component(f"sts_{name}", **texts._asdict())


@st.cache_resource(show_spinner=False)
def load_drawings(*, all_installed: bool = False) -> dict[str, str]:
    """Return the drawing modules of the suite's domains, or of all installed domains.

    Unreadable modules are logged and left out; their episodes cannot be displayed.
    """
    sources = {}
    names = registry.list_entry_points("sts.domains") if all_installed else list_domains()
    for name in sorted(names):
        try:
            if text := read_drawing(load_domain(name)):
                sources[name] = text
        except StsError as error:
            _LOG.error("%s", error)
    return sources


@lru_cache(maxsize=1024)
def load_episode(continuation: str) -> dict[str, Any]:
    """Return the payload of a continuation; raise StsError if it cannot be found or displayed."""
    is_indexed = len(get_continuations().rows_with_prefix(continuation)) == 1
    record = find_continuation(
        get_workspace(), continuation, get_continuations() if is_indexed else None
    )
    data = continuation_payload(get_workspace(), record)
    name = data["drawing"]
    if name is not None and name not in load_drawings():
        raise StsError(f"domain {name!r} has no usable drawing module on this server")
    hash = record.identity.scenario
    scenario = next((s for s in get_suite().scenarios if s.hash == hash), None)
    return data | {"criterion": find_criterion(scenario) if scenario else None}


@st.cache_resource(show_spinner=False, ttl=_REFRESH_S)
def _count_all_remaining() -> tuple[int, float]:
    store = get_store()
    with store.read() as connection:
        return progress.load_progress(connection, get_settings().queue).remaining, store.now()


def count_remaining(person: Annotator) -> int:
    """Return the number of remaining judgements of the annotated suite.

    It was counted minutes ago, and each answer of the person since then reduces it by one, also of
    a reference. If it were counted after each answer, they could tell which clips are references.
    """
    left, counted = _count_all_remaining()
    with get_store().read() as connection:
        return max(0, left - progress.load_activity(connection, person.id, counted).today)


@st.cache_resource(show_spinner=False)
def get_review_queues() -> ReviewQueues:
    """Return the review queues of the annotated suite."""
    rules = partial(load_label_verdicts, get_workspace().store, get_settings().suite)
    return ReviewQueues(get_store(), get_settings().queue, rules)


def warm_up() -> None:
    """Load what every page needs before the first request."""
    for name in ("sts_annotator_app.pages.team", "pandas"):  # which Streamlit cannot do without
        importlib.import_module(name)
    get_store()
    get_continuations()
    for name in get_drafts().list_names():
        load_drawings(all_installed=True)
        with contextlib.suppress(StsError):  # the page reports the error when it is opened
            preload(get_drafts().open_draft(name, get_store()), get_previews())
    # Freeze what is loaded: traversing it in each collection would dominate the time of a run.
    gc.collect()
    gc.freeze()


def current_person() -> Annotator | None:
    """Return the person signed in on this page; None if their session has ended.

    If the store fails, open pages keep the last known person; new pages raise StoreError.
    """
    try:
        token = st.context.cookies.get(cookie_name(workspace_path()), "")
        person = people.find_by_session(get_store(), token)
    except StoreError:
        if _PERSON not in st.session_state:
            raise
        return cast(Annotator | None, st.session_state[_PERSON])
    st.session_state[_PERSON] = person
    return person


def is_from_crowd(person: Annotator) -> bool:
    """Return True if a person comes from a crowd platform; they only judge clips."""
    with get_store().read() as connection:
        return external_ids.is_from_crowd(connection, person.id)


def pending_consent(person: Annotator) -> ConsentText | None:
    """Return the consent text that a person has yet to agree to, or None.

    The file is read on every call, so that a changed text takes effect at once.
    """
    text = _load_consent_text()
    if text is None or st.session_state.get(_AGREED) == (person.id, text.version):
        return None
    if not _has_agreed(person, text):
        return text
    st.session_state[_AGREED] = person.id, text.version
    return None


def needs_consent(person: Annotator) -> bool:
    """Return True if a person has yet to agree to the consent text."""
    text = _load_consent_text()
    return text is not None and not _has_agreed(person, text)


def _load_consent_text() -> ConsentText | None:
    file = get_store().study.consent
    return consent.load_text(get_workspace(), file) if file else None


def _has_agreed(person: Annotator, text: ConsentText) -> bool:
    with get_store().read() as connection:
        return consent.has_agreed(connection, person.id, text.version)


def judged_scenarios(person: Annotator) -> set[str]:
    """Return the content hashes of the scenarios of which a person has judged a continuation."""
    with get_store().read() as connection:
        judged = progress.load_recent_judgements(connection, person.id, limit=_MAX_HISTORY)
    index = get_continuations()
    rows = [index.rows_with_prefix(judgement.continuation) for judgement in judged]
    return {entry.scenario_hash for indices in rows for entry in index.iter_entries(indices)}


def workspace_path() -> str:
    """Return the path that identifies this workspace; browsers are sent only a hash of it."""
    return str(get_workspace().root.resolve())
