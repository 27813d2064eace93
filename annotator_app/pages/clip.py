"""The page of one clip, at an address of its own: for those who may see it, with its marks."""

from __future__ import annotations

import logging
from typing import Any

import streamlit as st

from annotator_app import state
from annotator_app.pages.visitor import visitor
from sts.annotations.clips import clip
from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.errors import ArgumentError, StsError

_LOG = logging.getLogger(__name__)
NOT_SHOWN = "This clip cannot be shown here. Whoever runs this study finds the reason in its log."


def page() -> None:
    """Mounts the viewer on the clip that the address names, or says in a sentence why not."""
    person = visitor("annotator", "reviewer", "lead")
    if person is None:
        return
    data = view(state.store(), person, st.query_params.get("c"))
    if isinstance(data, str):
        st.error(data)
    else:
        state.component("clip")(key="clip", data=data)


def view(store: Store, person: Annotator, item: object) -> dict[str, Any] | str:
    """Returns what the component is sent of a clip, or why a person sees nothing."""
    try:
        found = clip(store, person, item)
        episode = state.episode(found.continuation) | {"id": found.item}
    except ArgumentError as error:
        return str(error)
    except StsError as error:
        _LOG.error("clip %s: %s", item, error)
        return NOT_SHOWN
    return {"episode": episode, "marks": [one._asdict() for one in found.marks]}
