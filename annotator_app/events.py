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
PATIENCE = 12
"""Episodes that cannot be shown, met in one exchange, after which the next one looks on."""
REMEMBERED = 3
"""Earlier judgements that a page opened anew can still go back to."""
AT_ONCE = 1000
"""Submissions read from one message; a page sends the rest when these are acknowledged."""

UNSAVED = "The server cannot save at the moment; what you have done waits here."
_LOG = logging.getLogger(__name__)

Shown = Callable[[str], dict[str, Any]]
"""A continuation's identity -> the episode for the player."""
Broken = dict[str, str]
"""The identity of each continuation that cannot be shown -> why."""


def exchange(
    store: Store,
    person: Annotator,
    sent: object,
    *,
    suite: str,
    place: str,
    shown: Shown,
    broken: Broken,
    runs: bool = False,
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
      broken: what was found by now that cannot be shown; what is found here is added.
      runs: whether it is this person who runs the study, and is told the reason.
    """
    author = namespace(place, person.id)
    data: dict[str, Any] = {
        "author": author,
        "acks": [],
        "queue": None,  # keep what you have
        "previous": [],
        "counts": None,
        "empty": _empty(None, 0, broken, runs),
        "trouble": "",
    }
    try:
        outbox = _outbox(own(sent, author))
        if outbox:
            data["acks"] = [ack._asdict() for ack in store.submit(person.id, outbox)]
        queue = _queue(store, person, suite, shown, broken)
        progress = store.progress(suite)
        if sent is None:
            data["previous"] = _previous(store.history(person.id, REMEMBERED), shown)
    except StsError as error:
        _LOG.error("annotation store: %s", error)
        data["trouble"] = UNSAVED
        return data
    done = progress.by_annotator.get(person.name, 0)
    data["queue"] = queue
    data["counts"] = {"done": done, "broken": len(broken)}
    data["empty"] = _empty(progress, done, broken, runs)
    return data


def namespace(place: str, person: int) -> str:
    """What the browser keeps this person's unsent work under."""
    return f"{hashlib.sha256(place.encode()).hexdigest()[:12]}:{person}"


def own(sent: object, author: str) -> Mapping[str, Any]:
    """What a page sent in the name of `author`; nothing, and a line in the log, where it did not.

    Two people's links may have been opened in one browser: the page of the first is then connected
    as the second, and still sends what the first has done.
    """
    if sent is None:
        return {}
    if not isinstance(sent, Mapping):
        _LOG.warning("a page sent what is no message; it is ignored")
    elif sent.get("author") != author:
        _LOG.warning("a page sent what another author did; it stays in their browser")
    else:
        return sent
    return {}


def _outbox(message: Mapping[str, Any]) -> list[object]:
    outbox = message.get("outbox")
    return outbox[:AT_ONCE] if isinstance(outbox, list) else []


def _queue(
    store: Store, person: Annotator, suite: str, shown: Shown, broken: Broken
) -> list[dict[str, Any]]:
    """The person's next episodes: PREFETCH of them, where as many can be shown.

    What cannot be shown is given back, so that it is free for anybody once it is mended.
    """
    most = len(broken) + PATIENCE
    while True:
        claims = store.claim(person.id, suite=suite, count=PREFETCH, without=tuple(broken))
        queue = [
            one
            for claim in claims
            if len(broken) < most
            for one in _episode(shown, claim.item, claim.continuation, broken)
        ]
        if len(queue) == len(claims) or len(broken) >= most:
            return queue


def _episode(shown: Shown, item: str, continuation: str, broken: Broken) -> list[dict[str, Any]]:
    """The one episode, or none where it cannot be shown."""
    try:
        return [{**shown(continuation), "id": item}]
    except StsError as error:
        _LOG.error("continuation %s: %s", continuation, error)
        broken[continuation] = str(error)
        return []


def _previous(history: list[Judgement], shown: Shown) -> list[dict[str, Any]]:
    """The latest judgements, the oldest first, as the player keeps them."""
    return [
        {
            "episode": episode,
            "uuid": one.uuid,
            "mark": {"verdict": one.verdict, "step": one.step, "reason": one.reason or None},
        }
        for one in reversed(history)
        for episode in _episode(shown, one.item, one.continuation, {})
    ]


def _empty(progress: Progress | None, done: int, broken: Broken, runs: bool) -> dict[str, str]:
    """What the page says when it has no episode."""
    if broken:
        told = (
            f"The first: {next(iter(broken.values()))}. The log of “sts annotate” names each; mend "
            "what is wrong and start it again."
        )
        return {
            "title": f"{_episodes(len(broken))} cannot be shown",
            "text": f"Something is wrong on the server, and there is nothing else for you now. You "
            f"have judged {_episodes(done)}. "
            + (told if runs else "Please tell whoever runs this study."),
        }
    if progress is None or progress.items:
        judged = f"You have judged {_episodes(done)}. " if done else ""
        return {
            "title": "All done, thank you" if done else "Nothing is left to judge",
            "text": f"{judged}If more comes, it appears here by itself.",
        }
    return {
        "title": "Nothing to judge yet",
        "text": "No continuations are waiting. Make some with “sts run” and start “sts annotate” "
        "again; this page then fills by itself.",
    }


def _episodes(count: int) -> str:
    return f"{count} episode{'' if count == 1 else 's'}"
