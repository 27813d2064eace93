"""What the pages share: one store per process, and who is looking."""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any, cast

import streamlit as st

from sts import registry
from sts.annotations import consent, people, views
from sts.annotations.consent import Consent
from sts.annotations.differences import rules_verdicts
from sts.annotations.reviewed import Queues
from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.annotations.verdicts import Verdict
from sts.continuations.index import Index
from sts.continuations.store import find, opened
from sts.domains import domain
from sts.domains.drawing import drawing
from sts.errors import StoreError, StsError
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.types import Scenario, Suite
from sts.viewer.criteria import criterion
from sts.viewer.payload import shown
from sts.viewer.scripts import Component
from sts_annotator_app import components, scripts
from sts_annotator_app.auth import cookie_name
from sts_annotator_app.curation.drafts import Drafts
from sts_annotator_app.curation.exchange import preload
from sts_annotator_app.curation.ghosts import PreviewWorker
from sts_annotator_app.events import Broken
from sts_annotator_app.play import PlaySessions
from sts_annotator_app.remaining import RemainingWork
from sts_annotator_app.reporting import ReportBuilder
from sts_annotator_app.settings import Settings, current_settings

broken: Broken = {}
"""What this process has found that cannot be shown."""
unplayable: set[str] = set()
"""Content hashes of scenarios that it has found cannot be shown to who plays."""
plays = PlaySessions()
"""What people are playing, held open between their turns."""
remaining = RemainingWork()
"""How much of what is judged people were told is left."""
_MAX_HISTORY = 1_000_000
_LOG = logging.getLogger(__name__)
_PERSON, _AGREED = "sts_person", "sts_agreed"


@st.cache_resource(show_spinner=False)
def workspace() -> Workspace:
    """The workspace that is annotated."""
    return Workspace.open(current_settings().workspace)


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The process's store; opening one for each page would cost hundreds of saves."""
    return Store.open(workspace())


@st.cache_resource(show_spinner=False)
def suite() -> Suite:
    """The suite that is judged."""
    return suites.load(workspace(), settings().suite)


@st.cache_resource(show_spinner=False)
def scenarios() -> dict[str, Scenario]:
    """The scenarios of that suite by their content hashes."""
    return {one.hash: one for one in suite().scenarios}


@st.cache_resource(show_spinner=False)
def drafts() -> Drafts:
    """The drafts of the workspace, as far as this process has read them."""
    return Drafts(workspace())


@st.cache_resource(show_spinner=False)
def previews() -> PreviewWorker:
    """How built-in agents go on from the candidates of drafts."""
    return PreviewWorker(workspace())


@st.cache_resource(show_spinner=False)
def builder() -> ReportBuilder:
    """What builds the report of the suite that is judged."""
    return ReportBuilder(workspace(), settings().suite)


def domains() -> set[str]:
    """The domains of the suite that is judged; none where only drafts are decided."""
    scenarios = suite().scenarios if settings().suite else ()
    return {one.recording.domain for one in scenarios}


@st.cache_resource(show_spinner=False)
def continuations() -> Index:
    """Where the workspace's continuations stand, as it was at start-up."""
    return opened(workspace())


@st.cache_resource(show_spinner=False)
def mount_component(name: str) -> Callable[..., Any]:
    """What mounts the component `name`."""
    texts = _build_component(name)
    script = scripts.build_loader(texts.js, name, settings().base)
    return st.components.v2.component(f"sts_{name}", **texts._replace(js=script)._asdict())


def component_script(name: str) -> str | None:
    """The script of the component `name`; None where there is none."""
    return _build_component(name).js if name in components.MODULES else None


@st.cache_resource(show_spinner=False)
def _build_component(name: str) -> Component:
    """The texts of a component, with the drawings of the suite's worlds.

    A draft may be of any world that is installed.
    """
    return components.load_component(name, load_drawings(every=name == "curate"))


@st.cache_resource(show_spinner=False)
def load_drawings(*, every: bool = False) -> dict[str, str]:
    """What the worlds of the suite are drawn by, or every installed one, by their domains.

    One that cannot be read is left out, with a line in the log: its episodes cannot be shown.
    """
    found = {}
    for name in sorted(domains() | {*(registry.named("sts.domains") if every else ())}):
        try:
            found[name] = drawing(domain(name))
        except StsError as error:
            _LOG.error("%s", error)
    return {name: text for name, text in found.items() if text}


@lru_cache(maxsize=1024)
def load_episode(continuation: str) -> dict[str, Any]:
    """A continuation as the player is sent it; an error if its world cannot be drawn here."""
    there = len(continuations().beginning(continuation)) == 1
    one = find(workspace(), continuation, continuations() if there else None)
    data = shown(workspace(), one)
    name = data["drawing"]
    if name is not None and name not in load_drawings():
        raise StsError(f"there is no drawing of domain {name!r} here")
    scenario = scenarios().get(one.identity.scenario)
    return data | {"criterion": criterion(scenario) if scenario else None}


def rule_verdicts(continuations: Collection[str]) -> Mapping[str, Verdict]:
    """What the rules say of continuations of the suite that is judged, where it is labelled."""
    return rules_verdicts(workspace().store, settings().suite, continuations)


@st.cache_resource(show_spinner=False)
def queues() -> Queues:
    """What waits for reviewers of the suite that is judged."""
    return Queues(store(), settings().part or settings().suite, rule_verdicts)


def warm_up() -> None:
    """Load what every page needs, so that nobody waits for it."""
    for name in (
        "sts_annotator_app.pages.team",
        "pandas",
    ):  # Streamlit sends nothing without pandas
        importlib.import_module(name)
    store()
    continuations()
    for name in drafts().list_names():
        load_drawings(every=True)
        with contextlib.suppress(StsError):  # whoever opens it will be told
            preload(drafts().open_draft(name, store()), previews())
    # What is loaded by now stays: collecting it after each run of a page would cost most of it.
    gc.collect()
    gc.freeze()


def current_person() -> Annotator | None:
    """Whose page this is; None when their link has ended since they opened it.

    While the store fails it is who it was: a page that is open stays so, and says what is wrong.

    Raises:
      StoreError: the store fails, and this page has only just been opened.
    """
    try:
        found = people.find_by_session(store(), _token())
    except StoreError:
        if _PERSON not in st.session_state:
            raise
        return cast(Annotator | None, st.session_state[_PERSON])
    st.session_state[_PERSON] = found
    return found


def pending_consent(person: Annotator) -> Consent | None:
    """The text that a person has yet to agree to; None where there is none.

    It is read anew each time, so that one that was changed is asked for before more work.
    """
    file = store().study.consent
    if not file:
        return None
    text = consent.text(workspace(), file)
    if st.session_state.get(_AGREED) != (person.id, text.version):
        with store().read() as connection:
            agreed = consent.has_agreed(connection, person.id, text.version)
        if not agreed:
            return text
        st.session_state[_AGREED] = person.id, text.version
    return None


def settings() -> Settings:
    """What `sts annotate` was started with."""
    return current_settings()


def judged_scenarios(person: Annotator) -> set[str]:
    """Content hashes of the scenarios of which the person has judged a continuation."""
    with store().read() as connection:
        judged = views.history(connection, person.id, limit=_MAX_HISTORY)
    index = continuations()
    rows = [index.beginning(one.continuation) for one in judged]
    return {one.scenario_hash for own in rows for one in index.entries(own)}


def workspace_path() -> str:
    """What names this workspace in a browser's storage; a hash of it is what is sent."""
    return str(workspace().root.resolve())


def component_state(key: str) -> Any:
    """The `sync` value of the component under `key`; None on a page just opened."""
    return (st.session_state.get(key) or {}).get("sync")


def _token() -> str:
    return st.context.cookies.get(cookie_name(workspace_path()), "")
