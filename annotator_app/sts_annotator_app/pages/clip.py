"""The page of one clip, at an address of its own: for those who may see it, with its marks."""

from __future__ import annotations

import logging
from typing import Any

import streamlit as st

from sts.annotations.clips import clip
from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.errors import ArgumentError, StsError
from sts_annotator_app import state
from sts_annotator_app.pages.visitor import require_person

_LOG = logging.getLogger(__name__)
CLIP_UNAVAILABLE = (
    "This clip cannot be shown here. Whoever runs this study finds the reason in its log."
)


def page() -> None:
    """Mounts the viewer on the clip that the address names, and on one beside it if it names two.

    Where one cannot be seen it says in a sentence why not.
    """
    person = require_person("annotator", "reviewer", "lead")
    if person is None:
        return
    first, second = (st.query_params.get(name) for name in ("c", "beside"))
    if second is None:
        _show("clip", load_view(state.store(), person, first))
        return
    for column, key, item in zip(st.columns(2), ("clip", "beside"), (first, second), strict=True):
        with column:
            _show(key, load_view(state.store(), person, item), beside=True)


def _show(key: str, data: dict[str, Any] | str, *, beside: bool = False) -> None:
    if isinstance(data, str):
        st.error(data)
    else:
        state.mount_component("clip")(key=key, data=data | {"beside": beside})


def load_view(store: Store, person: Annotator, item: object) -> dict[str, Any] | str:
    """Return what the component is sent of a clip, or why a person sees nothing."""
    try:
        with store.read() as connection:
            found = clip(connection, person, item)
        episode = state.load_episode(found.continuation) | {"id": found.item}
    except ArgumentError as error:
        return str(error)
    except StsError as error:
        _LOG.error("clip %s: %s", item, error)
        return CLIP_UNAVAILABLE
    return {"episode": episode, "marks": [one._asdict() for one in found.marks]}
