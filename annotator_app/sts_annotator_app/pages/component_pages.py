"""Pages with a single component each: annotate, review and curate."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from sts.annotations.records import Annotator
from sts_annotator_app import annotating, state
from sts_annotator_app.curation import sync as curation
from sts_annotator_app.pages.access import require_person
from sts_annotator_app.pages.message_route import MESSAGES, ConnectedPage
from sts_annotator_app.reviewing import sync as reviewing
from sts_annotator_app.settings import get_settings


def _sync_annotate(person: Annotator, sent: object, query: Mapping[str, str]) -> dict[str, Any]:
    return annotating.sync_page(
        state.get_store(),
        person,
        sent,
        suite=get_settings().queue,
        workspace_path=state.workspace_path(),
        load_episode=state.load_episode,
        broken=state.broken,
        count_remaining=partial(state.count_remaining, person),
        is_lead="lead" in person.roles,
    )


def _sync_review(person: Annotator, sent: object, query: Mapping[str, str]) -> dict[str, Any]:
    return reviewing.sync_page(
        state.get_store(),
        person,
        sent,
        queues=state.get_review_queues(),
        workspace_path=state.workspace_path(),
        load_episode=state.load_episode,
        broken=state.broken,
    )


def _sync_curate(person: Annotator, sent: object, query: Mapping[str, str]) -> dict[str, Any]:
    return curation.sync_page(
        state.get_drafts(),
        state.get_store(),
        person,
        sent,
        workspace_path=state.workspace_path(),
        previews=state.get_previews(),
        query=query,
    )


PAGES = {
    "player": ConnectedPage(("annotator",), _sync_annotate),
    "review": ConnectedPage(("reviewer",), _sync_review),
    "curate": ConnectedPage(("curator", "lead"), _sync_curate),
}
"""The pages, by the name of their component."""


@st.fragment  # a page whose message is refused reruns only this fragment
def _show(name: str) -> None:
    """Mount a component, which requests its data, or show why it cannot be used."""
    person = require_person(*PAGES[name].roles)
    if person is not None:
        author = annotating.storage_namespace(state.workspace_path(), person.id)
        data = {"author": author, "address": f"{get_settings().base_path}{MESSAGES}{name}"}
        state.mount_component(name)(key=name, data=data, on_refused_change=lambda: None)


show_annotate = partial(_show, "player")
show_review = partial(_show, "review")
show_curate = partial(_show, "curate")
