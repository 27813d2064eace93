"""One exchange with a player: what it sent goes to the store, what it needs comes back."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from sts.annotations import claims, submissions, training, views
from sts.annotations.remarks import Remark
from sts.annotations.store import Store
from sts.annotations.types import Ack, Annotator, Claim, Progress
from sts.errors import StsError
from sts_annotator_app.remaining import RemainingWork

MIN_EPISODES = 3
"""Episodes that one exchange brings at least, where the page lacks as many."""
MAX_CHARS = 200_000
"""Letters of pictures and scenes after which an exchange brings no more episodes."""
MAX_SECONDS = 0.3
"""Seconds after which an exchange looks for no more episodes: pictures may have to be made."""
MAX_BROKEN = 12
"""Episodes that cannot be shown, met in one exchange, after which the next one looks on."""
MAX_PREVIOUS = 3
"""Earlier judgements that a page opened anew can still go back to."""
MAX_SUBMISSIONS = 1000
"""Submissions read from one message; a page sends the rest when these are acknowledged."""
DAY_S = 24 * 60 * 60

UNSAVED = "The server cannot save at the moment; what you have done waits here."
UNTRAINED = {
    "title": "The training is not passed yet",
    "text": "There is nothing left to train on. Whoever leads this study can say how you go on.",
}
_LOG = logging.getLogger(__name__)

LoadEpisode = Callable[[str], dict[str, Any]]
"""A continuation's identity -> the episode for the player."""
Broken = dict[str, str]
"""The identity of each continuation that cannot be shown -> why."""


def sync_page(
    store: Store,
    person: Annotator,
    sent: object,
    *,
    suite: str,
    place: str,
    shown: LoadEpisode,
    broken: Broken,
    remaining: RemainingWork,
    runs: bool = False,
) -> dict[str, Any]:
    """Save the outbox in `sent` and return the component's next data.

    `sent` is the component's state, None on a page that has just been opened. Nothing that it holds
    can raise: the store checks every field and refuses by name. When the store itself fails nothing
    is acknowledged, so the browser keeps its outbox and sends it again.

    `place` names this workspace in the browser's storage. What cannot be shown is added to
    `broken`; only a person who `runs` the study is given the reason.
    """
    author = storage_namespace(place, person.id)
    data: dict[str, Any] = {
        "author": author,
        "acks": [],
        "queue": None,  # keep what you have
        "more": False,
        "previous": [],
        "training": None,
        "counts": None,
        "empty": _empty_notice(None, 0, broken, runs),
        "trouble": "",
    }
    try:
        message = read_message(sent, author)
        if waiting := read_outbox(message):
            data["acks"] = _save_outbox(store, person, waiting)
        has = _parse_texts(message.get("has"))
        with store.read() as connection:
            learnt = training.standing(connection, person.id, study=store.study)
            count = claims.ahead(connection, suite, now=store.now())
        if learnt.needed:
            data["training"] = _describe_training(learnt)
            queue, more = _load_lessons(learnt, shown, broken, has)
        else:
            queue, more = _claim_queue(store, person, suite, count, shown, broken, has)
        with store.read() as connection:
            done = views.count_judged(connection, person.id, suite)
            left = remaining.count(
                suite, lambda: _count_remaining(views.progress(connection, suite))
            )
            # The more is judged, the longer a whole suite takes to count.
            progress = None if queue else views.progress(connection, suite)
            day = views.day(connection, person.id, _parse_midnight(message.get("midnight")))
            judged = views.history(connection, person.id, MAX_PREVIOUS) if sent is None else []
        data["previous"] = _load_previous(judged, shown)
    except StsError as error:
        _LOG.error("annotation store: %s", error)
        data["trouble"] = UNSAVED
        return data
    data["queue"], data["more"] = queue, more
    data["counts"] = {"done": done, "broken": len(broken), "left": left, **day._asdict()}
    data["empty"] = _empty_notice(progress, done, broken, runs)
    if data["training"] and not queue and not broken:
        data["empty"] = dict(UNTRAINED)
    return data


def storage_namespace(place: str, person: int) -> str:
    """What the browser keeps this person's unsent work under."""
    return f"{hashlib.sha256(place.encode()).hexdigest()[:12]}:{person}"


def read_message(sent: object, author: str) -> Mapping[str, Any]:
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


def read_outbox(message: Mapping[str, Any]) -> list[Any]:
    """What a page has sent of its outbox, as far as one message is read."""
    waiting = message.get("outbox")
    return waiting[:MAX_SUBMISSIONS] if isinstance(waiting, list) else []


def _save_outbox(store: Store, person: Annotator, waiting: list[Any]) -> list[dict[str, Any]]:
    """What became of each submission: answers in training are told apart, and are no judgements."""
    acks, judged = [], []
    for one in waiting:
        trains = isinstance(one, Mapping) and one.get("training") is True
        said = _answer_training(store, person, one) if trains else None
        if said is None:
            judged.append(one)
        else:
            acks.append({"status": "training", **said._asdict()})
    return acks + [ack._asdict() for ack in submit(store, person, judged)] if judged else acks


def submit(store: Store, person: Annotator, sent: list[Any]) -> list[Ack]:
    """Submit what a page has sent, in a transaction; see `submissions.submit`."""
    with store.write() as connection:
        return submissions.submit(connection, person.id, sent, study=store.study, now=store.now())


def _answer_training(store: Store, person: Annotator, sent: object) -> training.Feedback | None:
    with store.write() as connection:
        return training.answer(connection, person.id, sent, study=store.study, now=store.now())


def _describe_training(learnt: training.Standing) -> dict[str, Any]:
    """What a page says of somebody's training."""
    return {
        name: getattr(learnt, name) for name in ("size", "answered", "agreed", "share", "rounds")
    }


def _load_lessons(
    learnt: training.Standing, shown: LoadEpisode, broken: Broken, has: Collection[str]
) -> tuple[list[dict[str, Any]], bool]:
    """The episodes of a round of training, each marked as such."""
    held = [Claim(one.item, one.continuation, 0.0) for one in learnt.lessons]
    queue, more = _load_claims(held, shown, broken, has, len(broken) + MAX_BROKEN)
    return [{**one, "training": True} for one in queue], more


def _parse_texts(sent: object) -> frozenset[str]:
    """The texts in a list that a page sent, of the first that it names."""
    named = sent[:MAX_SUBMISSIONS] if isinstance(sent, list) else []
    return frozenset(one for one in named if isinstance(one, str))


def _parse_midnight(sent: object) -> float:
    """When the day of whoever is at the page began, by their clock; by ours where it says none."""
    now = time.time()
    if isinstance(sent, int | float) and now - DAY_S - 1 <= sent <= now:
        return float(sent)
    today = time.localtime(now)
    return time.mktime((*today[:3], 0, 0, 0, *today[6:8], -1))


def _claim_queue(
    store: Store,
    person: Annotator,
    suite: str,
    count: int,
    shown: LoadEpisode,
    broken: Broken,
    has: Collection[str],
) -> tuple[list[dict[str, Any]], bool]:
    """The person's next `count` episodes, and whether the page has yet to be sent more of them.

    Of those in `has` the page is told the `id` alone. What cannot be shown is given back, so that
    it is free for anybody once it is mended.
    """
    most = len(broken) + MAX_BROKEN
    while True:
        with store.write() as connection:
            held = claims.claim(
                connection,
                person.id,
                suite=suite,
                count=count,
                without=tuple(broken),
                study=store.study,
                now=store.now(),
            )
        queue, passed = _load_claims(held, shown, broken, has, most)
        if not any(claim.continuation in broken for claim in held) or len(broken) >= most:
            return queue, passed


def _load_claims(
    held: Collection[Claim], shown: LoadEpisode, broken: Broken, has: Collection[str], most: int
) -> tuple[list[dict[str, Any]], bool]:
    """The episodes of claims, as far as one message has room, and whether some had none."""
    queue: list[dict[str, Any]] = []
    brought, size, began, passed = 0, 0, time.monotonic(), False
    for claim in held:
        if claim.item in has:
            queue.append({"id": claim.item})
        elif brought >= MIN_EPISODES and (
            size > MAX_CHARS or time.monotonic() - began > MAX_SECONDS
        ):
            passed = True
        elif len(broken) < most:
            episodes = try_episode(shown, claim.item, claim.continuation, broken)
            queue += episodes
            brought += len(episodes)
            size += sum(map(_count_chars, episodes))
    return queue, passed


def _count_chars(episode: Mapping[str, Any]) -> int:
    """How many letters the scenes of an episode have, or its pictures."""
    sprites = episode.get("sprites", ())
    return len(episode.get("scene", "")) + sum(len(one["webp"]) for one in sprites)


def try_episode(
    shown: LoadEpisode, item: str, continuation: str, broken: Broken
) -> list[dict[str, Any]]:
    """The one episode, or none where it cannot be shown."""
    try:
        return [{**shown(continuation), "id": item}]
    except StsError as error:
        _LOG.error("continuation %s: %s", continuation, error)
        broken[continuation] = str(error)
        return []


def _load_previous(history: list[Remark], shown: LoadEpisode) -> list[dict[str, Any]]:
    """The latest judgements, the oldest first, as the player keeps them."""
    return [
        {
            "episode": found,
            "uuid": one.uuid,
            "mark": {"verdict": one.verdict, "step": one.step, "reason": one.reason or None},
        }
        for one in reversed(history)
        for found in try_episode(shown, one.item, one.continuation, {})
    ]


def _count_remaining(progress: Progress) -> int:
    return progress.required - progress.judged


def _empty_notice(
    progress: Progress | None, done: int, broken: Broken, runs: bool
) -> dict[str, str]:
    """What the page says when it has no episode."""
    if broken:
        told = (
            f"The first: {next(iter(broken.values()))}. The log of “sts annotate” names each; mend "
            "what is wrong and start it again."
        )
        return {
            "title": f"{_format_episodes(len(broken))} cannot be shown",
            "text": f"Something is wrong on the server, and there is nothing else for you now. You "
            f"have judged {_format_episodes(done)}. "
            + (told if runs else "Please tell whoever runs this study."),
        }
    if progress is None or progress.items:
        judged = f"You have judged {_format_episodes(done)}. " if done else ""
        return {
            "title": "All done, thank you" if done else "Nothing is left to judge",
            "text": f"{judged}If more comes, it appears here by itself.",
        }
    return {
        "title": "Nothing to judge yet",
        "text": "No continuations are waiting. Make some with “sts run” and start “sts annotate” "
        "again; this page then fills by itself.",
    }


def _format_episodes(count: int) -> str:
    return f"{count} episode{'' if count == 1 else 's'}"
