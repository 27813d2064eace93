"""Synchronisation with the judging page: store its answers, return its next episodes."""

import hashlib
import logging
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from sts.annotations.answers import progress, submissions, training
from sts.annotations.answers.current_events import CurrentEvent
from sts.annotations.database.annotation_store import AnnotationStore, Connection
from sts.annotations.log.closings import find_closing
from sts.annotations.people import deal
from sts.annotations.queue import balance, claims
from sts.annotations.records import Acknowledgement, Annotator, Claim, DailyActivity, Progress
from sts.annotations.study import StudySettings
from sts.errors import StsError
from sts.names import count_noun

MIN_EPISODES = 1
"""Episodes sent at least in one exchange, if the page lacks as many."""
MAX_CHARS = 200_000
"""Characters of pictures and scenes after which an exchange sends no more episodes."""
MAX_SECONDS = 0.3
"""Time after which an exchange loads no more episodes: frames may have to be rendered."""
MAX_BROKEN = 12
"""Episodes found broken in one exchange, after which the search is left to the next one."""
MAX_PREVIOUS = 3
"""Earlier judgements sent to a reloaded page for corrections."""
DAY_S = 24 * 60 * 60

UNSAVED = "The server cannot save at the moment. Your work is kept in this browser and sent again."
UNTRAINED = {
    "title": "Training not passed",
    "text": "No training episodes are left. Ask the study lead how to continue.",
}
CLOSED = {
    "title": "This study is closed",
    "text": "The study lead has closed it, and no more episodes are assigned. Thank you.",
}
MORE = "New episodes appear here automatically."
COMPLETE = "Judging is complete."
_LOG = logging.getLogger(__name__)

LoadEpisode = Callable[[str], dict[str, Any]]
"""Maps a continuation's identity to the episode's payload."""
Broken = dict[str, str]
"""Errors of continuations that cannot be displayed, by identity."""


def sync_page(
    store: AnnotationStore,
    person: Annotator,
    sent: object,
    *,
    suite: str,
    workspace_path: str,
    load_episode: LoadEpisode,
    broken: Broken,
    count_remaining: Callable[[], int],
    is_lead: bool = False,
) -> dict[str, Any]:
    """Save the outbox in `sent` and return the page's next data.

    `sent` is the page's message, None on a page that has just been opened. Its content cannot
    raise: the store checks every field and rejects invalid submissions one by one. If the store
    itself fails, nothing is acknowledged, and the browser sends its outbox again. Answers are
    acknowledged before new episodes are drawn, which can be slow: while the page has others, it is
    sent new ones in the next exchange.

    `workspace_path` identifies this workspace in the browser's storage. Continuations that cannot
    be displayed are added to `broken`; the reason is shown only to a person who `is_lead`.
    `count_remaining` returns the number of judgements that the suite still needs.
    """
    author = storage_namespace(workspace_path, person.id)
    data: dict[str, Any] = {
        "author": author,
        "acks": [],
        "queue": None,  # the page keeps its queue
        "more": False,
        "previous": [],
        "training": None,
        "counts": None,
        "empty": _empty_notice(None, 0, broken, is_lead),
        "trouble": "",
    }
    try:
        message = read_message(sent, author)
        if unsent := read_list(message):
            data["acks"] = _save_outbox(store, person, unsent)
        has = {id for id in read_list(message, "has") if isinstance(id, str)}
        midnight, limit = _parse_midnight(message.get("midnight")), len(broken) + MAX_BROKEN
        while True:
            with store.write() as connection:
                turn = _assign(connection, store, person, suite, tuple(broken), midnight)
            queue, more = _load_claims(turn, load_episode, broken, has, limit, bool(data["acks"]))
            is_broken = any(claim.continuation in broken for claim in turn.claims)
            if turn.training or not is_broken or len(broken) >= limit:
                break
        counts, finished = None, False
        if not queue:
            with store.read() as connection:  # slow: it counts a whole suite
                counts = progress.load_progress(connection, suite)
                finished = claims.has_finished(
                    connection, person.id, suite, study=store.study, now=store.now()
                )
        if sent is None:
            with store.read() as connection:
                judged = progress.load_recent_judgements(connection, person.id, MAX_PREVIOUS)
                seen = deal.list_seen(connection, person.id)
            data["previous"] = _load_previous(judged, load_episode, seen)
        judgements_left = count_remaining()
    except StsError as error:
        _LOG.error("annotation store: %s", error)
        data["trouble"] = UNSAVED
        return data
    data["queue"], data["more"], data["training"] = queue, more, turn.training
    data["counts"] = {"done": turn.done, "broken": len(broken), "left": judgements_left}
    data["counts"] |= turn.day._asdict()
    data["empty"] = _empty_notice(counts, turn.done, broken, is_lead)
    if turn.closed and not queue:
        data["empty"] = dict(CLOSED)
    if finished and not broken and not data["training"]:
        _add_completion(data["empty"], store.study)
    elif not turn.closed and data["training"] and not queue and not broken:
        data["empty"] = dict(UNTRAINED)
    return data


def storage_namespace(workspace_path: str, person_id: int) -> str:
    """Return the prefix of a person's keys in the browser's storage."""
    return f"{hashlib.sha256(workspace_path.encode()).hexdigest()[:12]}:{person_id}"


def read_message(sent: object, author: str) -> Mapping[str, Any]:
    """Return the message of a page; {} with a log entry if it is invalid or by another author.

    If two people sign in on one browser, the first person's page is connected as the second, and
    still sends the first person's work.
    """
    if sent is None:
        return {}
    if not isinstance(sent, Mapping):
        _LOG.warning("ignored an invalid message of a page")
    elif sent.get("author") != author:
        _LOG.warning("ignored a message by another author; it stays in their browser")
    else:
        return sent
    return {}


def read_list(message: Mapping[str, Any], key: str = "outbox") -> list[Any]:
    """Return the entries of a list in a message, at most as many as one request may submit."""
    sent = message.get(key)
    return sent[: submissions.MAX_SUBMISSIONS] if isinstance(sent, list) else []


def _save_outbox(
    store: AnnotationStore, person: Annotator, unsent: list[Any]
) -> list[dict[str, Any]]:
    """Save submissions and return their acknowledgements; training answers are not judgements."""
    acks, judged = [], []
    for submission in unsent:
        feedback = None
        if isinstance(submission, Mapping) and submission.get("training") is True:
            with store.write() as connection:
                feedback = training.save_answer(
                    connection, person.id, submission, study=store.study, now=store.now()
                )
        if feedback is None:
            judged.append(submission)
        else:
            acks.append({"status": "training", **feedback._asdict()})
    return acks + [ack._asdict() for ack in submit(store, person, judged)] if judged else acks


def submit(store: AnnotationStore, person: Annotator, sent: list[Any]) -> list[Acknowledgement]:
    """Submit judgements in one transaction; see `submissions.save_submissions`."""
    with store.write() as connection:
        return submissions.save_submissions(
            connection, person.id, sent, study=store.study, now=store.now()
        )


def _parse_midnight(sent: object) -> float:
    """Return the last midnight, UTC seconds: as the page reports it, else in the server's zone."""
    now = time.time()
    if isinstance(sent, int | float) and now - DAY_S - 1 <= sent <= now:
        return float(sent)
    today = time.localtime(now)
    return time.mktime((*today[:3], 0, 0, 0, *today[6:8], -1))


class _Turn(NamedTuple):
    """Next episodes of a person, and counts of what they have judged.

    `training` are the numbers of a training round, whose lessons are the claims then; `seen` are
    the categories whose texts may be sent.
    """

    claims: list[Claim]
    seen: set[str]
    training: dict[str, Any] | None
    closed: bool
    done: int
    day: DailyActivity


def _assign(
    connection: Connection,
    store: AnnotationStore,
    person: Annotator,
    suite: str,
    without: tuple[str, ...],
    midnight: float,
) -> _Turn:
    """Claim a person's next episodes, or start a training round if they need one.

    Continuations in `without`, which cannot be displayed, are not claimed. Claims of them are
    released, so that others can annotate them after a repair.
    """
    now, study = store.now(), store.study
    closed = find_closing(connection, suite) is not None
    learnt, round_ = training.load_progress(connection, person.id, study=study), None
    if learnt.needed and not closed:
        learnt = training.start_round(connection, person.id, study=study)
        fields = ("size", "answered", "agreed", "share", "rounds")
        round_ = {name: getattr(learnt, name) for name in fields}
        claimed = [
            Claim(lesson.item, lesson.continuation, lesson.category) for lesson in learnt.items
        ]
        seen = {lesson.category for lesson in learnt.items}
    else:
        count = claims.batch_size(connection, suite, now=now)
        claimed = claims.claim_items(
            connection, person.id, suite=suite, count=count, without=without, study=study, now=now
        )
        seen = deal.list_seen(connection, person.id)
    done = balance.count_judged(connection, person.id, suite)
    day = progress.load_activity(connection, person.id, midnight)
    return _Turn(claimed, seen, round_, closed, done, day)


def _load_claims(
    turn: _Turn,
    load_episode: LoadEpisode,
    broken: Broken,
    has: Collection[str],
    limit: int,
    acknowledges: bool,
) -> tuple[list[dict[str, Any]], bool]:
    """Load the episodes that fit in one message; also return True if some did not.

    Episodes in `has` are sent as their `id` alone. A message that acknowledges answers has none
    that the page lacks, unless it has no other. Success criteria and edge cases are sent only for
    the categories that the person sees; lessons are marked as such.
    """
    mark = {"training": True} if turn.training else {}
    is_full = acknowledges and any(claim.item in has for claim in turn.claims)
    queue: list[dict[str, Any]] = []
    loaded, size, started, more = 0, 0, time.monotonic(), False
    for claim in turn.claims:
        if claim.item in has:
            queue.append({"id": claim.item} | mark)
        elif is_full:
            more = True
        elif loaded >= MIN_EPISODES and (
            size > MAX_CHARS or time.monotonic() - started > MAX_SECONDS
        ):
            is_full = more = True
        elif len(broken) < limit:
            episodes = try_episode(load_episode, claim.item, claim.continuation, broken)
            if claim.category not in turn.seen:
                episodes = [*map(withhold_rubric, episodes)]
            queue += [episode | mark for episode in episodes]
            loaded += len(episodes)
            for episode in episodes:  # the characters of its scenes and pictures
                sprites = episode.get("sprites", ())
                size += len(episode.get("scene", "")) + sum(len(s["webp"]) for s in sprites)
    return queue, more


def try_episode(
    load_episode: LoadEpisode, item_id: str, continuation: str, broken: Broken
) -> list[dict[str, Any]]:
    """Return the episode in a list, which is empty if it cannot be displayed."""
    try:
        return [{**load_episode(continuation), "id": item_id}]
    except StsError as error:
        _LOG.error("continuation %s: %s", continuation, error)
        broken[continuation] = str(error)
        return []


def withhold_rubric(episode: dict[str, Any]) -> dict[str, Any]:
    """Return an episode without success criterion and edge cases; marks on the board stay."""
    criterion = episode.get("criterion")
    if not criterion:
        return episode
    return episode | {"criterion": criterion | {"done": "", "guideline": ""}}


def _load_previous(
    history: list[CurrentEvent], load_episode: LoadEpisode, seen: Collection[str]
) -> list[dict[str, Any]]:
    """Return the latest judgements with their episodes, oldest first."""
    out = []
    for remark in reversed(history):
        mark = {"verdict": remark.verdict, "step": remark.step, "reason": remark.reason or None}
        for loaded in try_episode(load_episode, remark.item, remark.continuation, {}):
            episode = loaded if remark.category in seen else withhold_rubric(loaded)
            out.append({"episode": episode, "uuid": remark.uuid, "mark": mark})
    return out


def _add_completion(notice: dict[str, str], study: StudySettings) -> None:
    """Tell a person who has finished how to complete the study, if its settings say so."""
    if study.clips_per_person or study.completion:
        for words in (MORE, COMPLETE):
            notice["text"] = notice["text"].replace(words, "This is all that you were asked for.")
    if study.completion.startswith("https://"):
        notice |= {"text": f"{notice['text']} One step remains:", "link": study.completion}
    elif study.completion:
        notice["text"] += f" Your completion code is {study.completion} (copy it to the platform)."


def _empty_notice(
    progress: Progress | None, done: int, broken: Broken, is_lead: bool
) -> dict[str, str]:
    """Return the notice for a page without an episode."""
    if broken:
        details = (
            f"First error: {next(iter(broken.values()))}. The log of “sts annotate” lists all; "
            "fix them and restart it."
        )
        return {
            "title": f"{count_noun(len(broken), 'episode')} cannot be displayed",
            "text": f"Something is wrong on the server, and your queue is otherwise empty. You "
            f"have annotated {count_noun(done, 'episode')}. "
            + (details if is_lead else "Please tell the study lead."),
        }
    if progress is None or progress.items:
        done_so_far = f"You have annotated {count_noun(done, 'episode')}. " if done else ""
        is_complete = progress is not None and not progress.remaining
        return {
            "title": "All done, thank you" if done else "Your queue is empty",
            "text": f"{done_so_far}{COMPLETE if is_complete else MORE}",
        }
    return {
        "title": "No episodes yet",
        "text": "No continuations are queued. Generate some with “sts run” and restart "
        "“sts annotate”; they then appear here.",
    }
