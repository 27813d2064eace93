"""One exchange with a player: what it sent goes to the store, what it needs comes back."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from typing import Any

from sts.annotations.store import Store
from sts.annotations.types import Annotator, Judgement, Progress
from sts.errors import StsError

PREFETCH = 3
REMEMBERED = 3
"""Earlier judgements that a page opened anew can still go back to."""
AT_ONCE = 1000
"""Submissions read from one message; a page sends the rest when these are acknowledged."""

_LOG = logging.getLogger(__name__)

Shown = Callable[[str], dict[str, Any]]
"""A continuation's identity -> the episode for the player."""


def exchange(
    store: Store, person: Annotator, sent: object, *, suite: str, place: str, shown: Shown
) -> dict[str, Any]:
    """Saves the outbox in `sent` and returns the component's next data.

    Nothing that `sent` holds can raise: the store checks every field and refuses by name. When
    the store itself fails nothing is acknowledged, so the browser keeps its outbox and sends it
    again.

    Args:
      store: where judgements go.
      person: who is at the page.
      sent: the component's state, or None on a page that has just been opened.
      suite: what is judged.
      place: names this workspace in the browser's storage.
      shown: makes the episode of a continuation.
    """
    data: dict[str, Any] = {
        "namespace": namespace(place, person.id),
        "acks": [],
        "queue": None,  # keep what you have
        "previous": [],
        "counts": None,
        "empty": _empty(None, 0),
        "trouble": "",
    }
    try:
        outbox = _outbox(sent)
        if outbox:
            data["acks"] = [ack._asdict() for ack in store.submit(person.id, outbox)]
        claims = store.claim(person.id, suite=suite, count=PREFETCH)
        progress = store.progress(suite)
        if sent is None:
            data["previous"] = _previous(store.history(person.id, REMEMBERED), shown)
    except StsError as error:
        _LOG.error("annotation store: %s", error)
        data["trouble"] = "The server cannot save at the moment; your answers wait here."
        return data
    done = progress.by_annotator.get(person.name, 0)
    queue = [_episode(shown, claim.item, claim.continuation) for claim in claims]
    data["queue"] = [episode for episode in queue if episode]
    data["counts"] = {"done": done}
    data["empty"] = _empty(progress, done)
    if len(data["queue"]) < len(queue):
        data["trouble"] = "An episode is missing on the server; tell whoever runs this study."
    return data


def namespace(place: str, person: int) -> str:
    """What the browser keeps this person's unsent work under."""
    return f"{hashlib.sha256(place.encode()).hexdigest()[:12]}:{person}"


def _outbox(sent: object) -> list[object]:
    outbox = sent.get("outbox") if isinstance(sent, Mapping) else None
    return outbox[:AT_ONCE] if isinstance(outbox, list) else []


def _episode(shown: Shown, item: str, continuation: str) -> dict[str, Any] | None:
    try:
        return {**shown(continuation), "id": item}
    except StsError as error:
        _LOG.error("continuation %s: %s", continuation, error)
        return None


def _previous(history: list[Judgement], shown: Shown) -> list[dict[str, Any]]:
    """The latest judgements, the oldest first, as the player keeps them."""
    found = [(one, _episode(shown, one.item, one.continuation)) for one in reversed(history)]
    return [
        {
            "episode": episode,
            "uuid": one.uuid,
            "mark": {"verdict": one.verdict, "step": one.step, "reason": one.reason or None},
        }
        for one, episode in found
        if episode
    ]


def _empty(progress: Progress | None, done: int) -> dict[str, str]:
    """What the page says when it has no episode."""
    if progress is None or progress.items:
        return {
            "title": "All done, thank you",
            "text": f"You have judged {done} episode{'' if done == 1 else 's'}. Nothing is left "
            "for you now; if more comes, it appears here by itself.",
        }
    return {
        "title": "Nothing to judge yet",
        "text": "No continuations are waiting. Make some with `sts run` and start `sts annotate` "
        "again; this page then fills by itself.",
    }
