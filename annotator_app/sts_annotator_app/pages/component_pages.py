"""Pages with a single component each: annotate, review and curate."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from sts.annotations.types import Annotator
from sts_annotator_app import annotating, state
from sts_annotator_app.curation import sync as curation
from sts_annotator_app.pages.access import require_person
from sts_annotator_app.reviewing import sync as reviewing
from sts_annotator_app.settings import get_settings


@st.fragment  # a message of the component reruns only this fragment
def _show(name: str, roles: tuple[str, ...], exchange: Callable[[Annotator, Any], Any]) -> None:
    """Mount a component with the data of an exchange, or show why it cannot be used."""
    person = require_person(*roles)
    if person is not None:
        sent = (st.session_state.get(name) or {}).get("sync")  # None on a page just opened
        data = exchange(person, sent)
        state.mount_component(name)(key=name, data=data, on_sync_change=lambda: None)


def _sync_annotate(person: Annotator, sent: object) -> dict[str, Any]:
    return annotating.sync_page(
        state.get_store(),
        person,
        sent,
        suite=get_settings().queue,
        place=state.workspace_path(),
        shown=state.load_episode,
        broken=state.broken,
        count_remaining=state.count_remaining,
        runs="lead" in person.roles,
    )


def _sync_review(person: Annotator, sent: object) -> dict[str, Any]:
    return reviewing.sync_page(
        state.get_store(),
        person,
        sent,
        queues=state.get_review_queues(),
        place=state.workspace_path(),
        shown=state.load_episode,
        broken=state.broken,
    )


def _sync_curate(person: Annotator, sent: object) -> dict[str, Any]:
    place, ghosts = state.workspace_path(), state.get_previews()
    return curation.sync_page(
        state.get_drafts(),
        state.get_store(),
        person,
        sent,
        place=place,
        ghosts=ghosts,
        linked=st.query_params.to_dict(),
    )


show_annotate = partial(_show, "player", ("annotator",), _sync_annotate)
show_review = partial(_show, "review", ("reviewer",), _sync_review)
show_curate = partial(_show, "curate", ("curator", "lead"), _sync_curate)
