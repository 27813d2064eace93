"""Synchronisation with the review page: save its decisions, return its next clips."""

import logging
from collections.abc import Collection
from typing import Any

from sts.annotations.answers.current_events import CurrentEvent
from sts.annotations.answers.review_events import ERRORS
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings import judged_clips
from sts.annotations.findings.review_queues import (
    DISPUTED,
    FAILED,
    QUEUES,
    ReviewQueue,
    ReviewQueues,
)
from sts.annotations.log.events import ADJUDICATION, REVIEW, REVIEWERS
from sts.annotations.records import Acknowledgement, Annotator
from sts.errors import StsError
from sts_annotator_app.annotating import (
    UNSAVED,
    Broken,
    LoadEpisode,
    read_list,
    read_message,
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
    store: AnnotationStore,
    person: Annotator,
    sent: object,
    *,
    queues: ReviewQueues,
    workspace_path: str,
    load_episode: LoadEpisode,
    broken: Broken,
) -> dict[str, Any]:
    """Save the decisions in `sent`, as `annotating.sync_page` does; return the next data.

    The result contains no names of annotators or agents.
    """
    author = storage_namespace(workspace_path, person.id)
    message = read_message(sent, author)
    data: dict[str, Any] = {
        "author": author,
        "acks": [],
        "news": [],
        "cases": None,  # the page keeps its cases
        "queue": name if (name := message.get("queue")) in QUEUES else DISPUTED,
        "queues": None,
        "errors": [[error, *about] for error, about in ERRORS.items()],
        "empty": {},
        "meanwhile": None,
        "trouble": "",
    }
    try:
        if unsent := read_list(message):
            acks = submit(store, person, unsent)
            data["acks"] = [ack._asdict() for ack in acks]
            data["news"] = _find_conflicts(store, person, unsent, acks)
        by_name = queues.for_reviewer(person.id, again=message.get("again") is True)
        data["cases"] = _load_cases(store, by_name[data["queue"]], load_episode, broken)
        data["queues"] = {name: views.count_progress(queue) for name, queue in by_name.items()}
        data["empty"] = views.describe_empty_queue(data["queue"], by_name[data["queue"]])
        data["meanwhile"] = _find_concurrent(store, person, data["queue"], message.get("at"))
    except StsError as error:
        _LOG.error("annotation store: %s", error)
        data |= {"trouble": UNSAVED, "cases": None}
    return data


def _load_cases(
    store: AnnotationStore, queue: ReviewQueue, load_episode: LoadEpisode, broken: Broken
) -> list[dict[str, Any]]:
    """Return the first clips of a queue that can be displayed."""
    out: list[dict[str, Any]] = []
    for case in queue.cases:
        if len(out) == AHEAD:
            break
        clip = case.clip
        if clip.continuation not in broken:
            episodes = try_episode(load_episode, clip.item, clip.continuation, broken)
            out += [views.describe_case(case, episode, store.study.seed) for episode in episodes]
    return out


def _find_conflicts(
    store: AnnotationStore, person: Annotator, unsent: list[Any], acks: list[Acknowledgement]
) -> list[dict[str, str]]:
    """Return notices about clips that other reviewers have decided as well."""
    saved = [event for event, ack in zip(unsent, acks, strict=True) if ack.status == "saved"]
    out = []
    for kind in REVIEWERS:
        items = {event["item"] for event in saved if event.get("kind") == kind}
        decisions = _find_other_decisions(store, person, kind, items) if items else {}
        for item, remark in decisions.items():
            out.append({"item": item, "text": views.describe_conflict(kind, remark)})
    return out


def _find_other_decisions(
    store: AnnotationStore, person: Annotator, kind: str, item_ids: Collection[str]
) -> dict[str, CurrentEvent]:
    with store.read() as connection:
        return judged_clips.load_latest_by_others(connection, person.id, kind, item_ids)


def _find_concurrent(
    store: AnnotationStore, person: Annotator, queue: str, item: object
) -> dict[str, str] | None:
    """Return a notice if another reviewer has decided the clip in view."""
    if not isinstance(item, str) or len(item) > _MAX_ITEM_CHARS:
        return None
    kind = REVIEW if queue == FAILED else ADJUDICATION
    other = _find_other_decisions(store, person, kind, [item]).get(item)
    return {"item": item, "text": views.describe_concurrent(other)} if other else None
