"""Permalink page of one clip, with the verdicts that a person may see."""

import logging
from typing import Any

import streamlit as st

from sts.annotations.answers.clips import load_clip
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.records import Annotator
from sts.errors import ArgumentError, StsError
from sts_annotator_app import state
from sts_annotator_app.annotating import withhold_rubric
from sts_annotator_app.pages.access import require_person

_LOG = logging.getLogger(__name__)
CLIP_UNAVAILABLE = (
    "This clip cannot be displayed. The server log contains the reason; tell the study lead."
)


def show_page() -> None:
    """Show the clip in the address, or two clips side by side, or why one cannot be shown."""
    person = require_person("annotator", "reviewer", "lead")
    if person is None:
        return
    first, second = (st.query_params.get(name) for name in ("c", "beside"))
    if second is None:
        _show("clip", load_view(state.get_store(), person, first))
        return
    for column, key, item in zip(st.columns(2), ("clip", "beside"), (first, second), strict=True):
        with column:
            _show(key, load_view(state.get_store(), person, item), beside=True)


def _show(key: str, data: dict[str, Any] | str, *, beside: bool = False) -> None:
    if isinstance(data, str):
        st.error(data)
    else:
        state.mount_component("clip")(key=key, data=data | {"beside": beside})


def load_view(store: AnnotationStore, person: Annotator, item: object) -> dict[str, Any] | str:
    """Return the component's data for a clip, or a sentence on why it cannot be shown."""
    try:
        with store.read() as connection:
            record = load_clip(connection, person, item)
        episode = state.load_episode(record.continuation) | {"id": record.item}
        if not record.rubric_shown:
            episode = withhold_rubric(episode)
    except ArgumentError as error:
        return str(error)
    except StsError as error:
        _LOG.error("clip %s: %s", item, error)
        return CLIP_UNAVAILABLE
    return {"episode": episode, "marks": [verdict._asdict() for verdict in record.verdicts]}
