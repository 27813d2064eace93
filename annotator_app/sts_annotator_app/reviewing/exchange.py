"""Synchronisation with the review page: save its decisions, return its next clips."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Any

from sts.annotations import opinions
from sts.annotations.events import ADJUDICATION, REVIEW, REVIEWERS
from sts.annotations.remarks import Remark
from sts.annotations.reviewed import DISPUTED, FAILED, QUEUES, Queue, Queues
from sts.annotations.store import Store
from sts.annotations.types import Ack, Annotator
from sts.errors import StsError
from sts_annotator_app.events import (
    UNSAVED,
    Broken,
    LoadEpisode,
    read_message,
    read_outbox,
    storage_namespace,
    submit,
    try_episode,
)
from sts_annotator_app.reviewing import views

AHEAD = 3
"""Clips of the selected queue that a page is sent."""
_MAX_ITEM_CHARS = 64
"""Limit of an item's length."""
_LOG = logging.getLogger(__name__)


def sync_page(
    store: Store,
    person: Annotator,
    sent: object,
    *,
    queues: Queues,
    place: str,
    shown: LoadEpisode,
    broken: Broken,
) -> dict[str, Any]:
    """Save the decisions in `sent`, as `events.sync_page` does; return the next data.

    The result contains no names of annotators or agents.
    """
    author = storage_namespace(place, person.id)
    message = read_message(sent, author)
    data: dict[str, Any] = {
        "author": author,
        "acks": [],
        "news": [],
        "cases": None,  # the page keeps its cases
        "queue": _parse_queue(message),
        "queues": None,
        "errors": views.list_errors(),
        "empty": {},
        "meanwhile": None,
        "trouble": "",
    }
    try:
        if unsent := read_outbox(message):
            acks = submit(store, person, unsent)
            data["acks"] = [ack._asdict() for ack in acks]
            data["news"] = _find_conflicts(store, person, unsent, acks)
        by_name = queues.of(person.id, again=message.get("again") is True)
        data["cases"] = _load_cases(store, by_name[data["queue"]], shown, broken)
        data["queues"] = {name: views.count_progress(queue) for name, queue in by_name.items()}
        data["empty"] = views.empty_notice(data["queue"], by_name[data["queue"]])
        data["meanwhile"] = _find_concurrent(store, person, data["queue"], message.get("at"))
    except StsError as error:
        _LOG.error("annotation store: %s", error)
        data |= {"trouble": UNSAVED, "cases": None}
    return data


def _parse_queue(message: Mapping[str, Any]) -> str:
    name = message.get("queue")
    return name if name in QUEUES else DISPUTED


def _load_cases(
    store: Store, queue: Queue, shown: LoadEpisode, broken: Broken
) -> list[dict[str, Any]]:
    """Return the first clips of a queue that can be displayed."""
    out: list[dict[str, Any]] = []
    for case in queue.cases:
        if len(out) == AHEAD:
            break
        clip = case.clip
        if clip.continuation not in broken:
            episodes = try_episode(shown, clip.item, clip.continuation, broken)
            out += [views.describe_case(case, episode, store.study.seed) for episode in episodes]
    return out


def _find_conflicts(
    store: Store, person: Annotator, unsent: list[Any], acks: list[Ack]
) -> list[dict[str, str]]:
    """Return notices about clips that other reviewers have decided as well."""
    saved = {ack.uuid for ack in acks if ack.status == "saved"}
    out = []
    for kind in REVIEWERS:
        items = {
            event["item"]
            for event in unsent
            if _has_kind(event, kind) and event.get("uuid") in saved
        }
        found = _find_other_decisions(store, person, kind, items) if items else {}
        out += [
            {"item": item, "text": views.describe_conflict(kind, remark)}
            for item, remark in found.items()
        ]
    return out


def _find_other_decisions(
    store: Store, person: Annotator, kind: str, about: Collection[str]
) -> dict[str, Remark]:
    with store.read() as connection:
        return opinions.of_others(connection, person.id, kind, about)


def _has_kind(event: object, kind: str) -> bool:
    return isinstance(event, Mapping) and event.get("kind") == kind


def _find_concurrent(
    store: Store, person: Annotator, queue: str, item: object
) -> dict[str, str] | None:
    """Return a notice if another reviewer has decided the clip in view."""
    if not isinstance(item, str) or len(item) > _MAX_ITEM_CHARS:
        return None
    found = _find_other_decisions(
        store, person, REVIEW if queue == FAILED else ADJUDICATION, [item]
    )
    return {"item": item, "text": views.describe_concurrent(found[item])} if item in found else None
