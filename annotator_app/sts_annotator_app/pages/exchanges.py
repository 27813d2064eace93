"""The pages that are one component each: annotating, reviewing, curating and playing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import streamlit as st

from sts.annotations.types import Annotator
from sts.errors import StsError
from sts_annotator_app import events, play, state
from sts_annotator_app.curation import exchange as curation
from sts_annotator_app.pages.visitor import visitor
from sts_annotator_app.reviewing import exchange as reviewing

_LOG = logging.getLogger(__name__)


@st.fragment  # when the component sends something, only this runs again
def _show(name: str, roles: tuple[str, ...], exchange: Callable[[Annotator, Any], Any]) -> None:
    """Mount a component with what an exchange returns, or say why there is none."""
    person = visitor(*roles)
    if person is not None:
        data = exchange(person, state.sent(name))
        state.component(name)(key=name, data=data, on_sync_change=lambda: None)


def annotate() -> None:
    """Show the page on which continuations are judged."""
    _show("player", ("annotator",), _judged)


def review() -> None:
    """Show the page on which judgements are adjudicated and reviewed."""
    _show("review", ("reviewer",), _reviewed)


def curate() -> None:
    """Show the page on which the candidates of a draft are decided."""
    _show("curate", ("curator", "lead"), _curated)


def turn() -> None:
    """Show the page on which a person plays a continuation under an agent's observation."""
    _show("play", ("annotator",), _played)


def _judged(person: Annotator, sent: object) -> dict[str, Any]:
    return events.exchange(
        state.store(),
        person,
        sent,
        suite=state.settings().part or state.settings().suite,
        place=state.place(),
        shown=state.episode,
        broken=state.broken,
        remaining=state.remaining,
        runs="lead" in person.roles,
    )


def _reviewed(person: Annotator, sent: object) -> dict[str, Any]:
    return reviewing.exchange(
        state.store(),
        person,
        sent,
        queues=state.queues(),
        place=state.place(),
        shown=state.episode,
        broken=state.broken,
    )


def _curated(person: Annotator, sent: object) -> dict[str, Any]:
    place, ghosts = state.place(), state.ghosts()
    return curation.exchange(
        state.drafts(), state.store(), person, sent, place=place, ghosts=ghosts
    )


def _played(person: Annotator, sent: object) -> dict[str, Any]:
    author = events.namespace(state.place(), person.id)
    try:
        return play.exchange(
            state.workspace(),
            state.store(),
            state.suite(),
            person,
            sent,
            author=author,
            judged=state.judged_scenarios(person),
            plays=state.plays,
            broken=state.unplayable,
        )
    except StsError as error:
        _LOG.error("%s", error)
        return {"author": author, "trouble": events.UNSAVED}
