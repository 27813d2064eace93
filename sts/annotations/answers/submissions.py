"""Submissions from browsers: validated field by field, then stored exactly once."""

import hashlib
import json
import re
from collections.abc import Collection, Mapping

from sqlalchemy import Connection, bindparam, exists, func, insert, select, update

from sts.annotations.answers import quality, review_events
from sts.annotations.answers.review_events import ERRORS
from sts.annotations.database.schema import annotators, claims, items, rejected, slots
from sts.annotations.log import events
from sts.annotations.log.events import (
    CORRECTION,
    JUDGEMENT_KINDS,
    KINDS,
    NOTE,
    REVIEW,
    REVIEWERS,
    VERDICT,
    VERDICT_KINDS,
    Event,
)
from sts.annotations.people import deal, people
from sts.annotations.people.exclusions import is_excluded
from sts.annotations.queue import references
from sts.annotations.queue.candidates import lock_free_slot
from sts.annotations.records import Acknowledgement, RejectedSubmission
from sts.annotations.study import StudySettings
from sts.names import replace_unprintable
from sts.ratings import MARKED_VERDICTS, UNABLE, VERDICTS

_UUID = re.compile(r"[0-9a-f]{32}")
_ITEM = re.compile(r"[0-9A-Za-z_-]{22}")
MAX_TEXT_CHARS = 500
"""Maximum number of characters of a reason, note or review."""
MAX_REJECTED = 500
"""Maximum number of rejected submissions stored per person; later ones are only rejected."""
MAX_SUBMISSIONS = 1000
"""Maximum number of submissions in one request; a page sends a handful."""
_MAX_RAW_CHARS = 4096
_MAX_SECONDS = 1e9


# Built once: building a statement takes longer than running it.
_HORIZONS = select(items.c.id, items.c.horizon).where(
    items.c.id.in_(bindparam("items", expanding=True))
)
_OWN_HORIZONS = _HORIZONS.where(
    exists().where(claims.c.item == items.c.id, claims.c.annotator == bindparam("person"))
)
_OWN_SLOT = select(slots.c.id).where(
    slots.c.item == bindparam("item"), slots.c.annotator == bindparam("person")
)
_FILL_SLOT = (
    update(slots)
    .where(slots.c.id == bindparam("number"))
    .values(annotator=bindparam("person"), lease_until=None, judged=1)
)


class Rejection(Exception):
    """Reason why a submission is rejected, in one line."""


def parse_event(
    sent: object,
    assigned: Mapping[str, int],
    *,
    may_review: bool = False,
    reviewable: Mapping[str, int] = {},
) -> Event:
    """Parse an event from `sent`, which may be any JSON value.

    Without a kind it is a verdict, or a correction if it has `corrects`. Unknown keys are ignored.
    Control characters in texts are replaced. `assigned` holds the horizon of each item assigned to
    the annotator. Someone who `may_review` may also send reviews, adjudications and notes about the
    `reviewable` items, which have their horizons, too.

    Raises:
      Rejection: a field is missing, invalid or out of range, or this person may not send it.
    """
    if not isinstance(sent, Mapping):
        raise Rejection(f"expected an object, found {_preview(sent)}")
    uuid = _parse_text(sent, "uuid", _UUID, "32 hexadecimal digits")
    kind = _parse_kind(sent)
    if kind in REVIEWERS and not may_review:
        raise Rejection(f"only reviewers may send {_with_article(kind)}")
    item = _parse_text(sent, "item", _ITEM, "an item identifier")
    horizon = _find_horizon(kind, item, assigned, may_review, reviewable)
    verdict = _parse_choice(sent, "verdict", VERDICTS) if kind in VERDICT_KINDS else None
    corrects = None
    if kind == CORRECTION:
        corrects = _parse_text(sent, "corrects", _UUID, "32 hexadecimal digits")
    return Event(
        uuid,
        item,
        kind,
        verdict,
        _parse_step(sent.get("step"), verdict, horizon) if verdict else None,
        _parse_words(sent, "reason", "with cannot_judge") if verdict == UNABLE else "",
        _parse_choice(sent, "error_type", ERRORS) if kind == REVIEW else "",
        _parse_comment(sent, kind),
        _parse_number(sent.get("watched"), "watched", 1.0),
        _parse_number(sent.get("seconds"), "seconds", _MAX_SECONDS),
        corrects,
    )


def save_submissions(
    connection: Connection, annotator_id: int, sent: object, *, study: StudySettings, now: float
) -> list[Acknowledgement]:
    """Store each submission once, and return the results in the order sent.

    Everything acknowledged is on disk once the transaction has ended. Invalid input never raises:
    it is rejected and kept separately, up to `MAX_REJECTED` submissions per person and 4,096
    characters of each. Sending again is harmless: the same uuid makes it a duplicate. The last
    submissions of a deactivated annotator are stored too. If the study says so, an annotator below
    `min_accuracy` is paused; see `quality.pause_if_inaccurate`.

    `sent` should be a list of objects with uuid, item, kind (one of `events.KINDS`; a verdict by
    default) and the fields of that kind: verdict, step, reason, watched, seconds, corrects,
    error_type and text.

    Raises:
      UnknownName: there is no such annotator.
    """
    person = people.lock_person(connection, annotator_id)
    entries = sent if isinstance(sent, list | tuple) else [sent]
    accepted, rest = entries[:MAX_SUBMISSIONS], entries[MAX_SUBMISSIONS:]
    named = [s.get("item") for s in accepted if isinstance(s, Mapping)]
    ids = {item for item in named if isinstance(item, str) and _ITEM.fullmatch(item)}
    parameters = {"items": [*ids]}
    rows = connection.execute(_OWN_HORIZONS, parameters | {"person": annotator_id})
    assigned = {row.id: row.horizon for row in rows}
    may_review = "reviewer" in person.roles
    item_rows = connection.execute(_HORIZONS, parameters) if may_review else ()
    reviewable = {row.id: row.horizon for row in item_rows}
    acks: list[Acknowledgement] = []
    for entry in accepted:
        try:
            event = parse_event(entry, assigned, may_review=may_review, reviewable=reviewable)
            acks.append(_save_event(connection, annotator_id, event, now))
        except Rejection as refusal:
            _save_rejected(connection, annotator_id, entry, str(refusal), now)
            acks.append(Acknowledgement(_get_uuid(entry), "rejected", str(refusal)))
    quality.pause_if_inaccurate(connection, annotator_id, study, now)
    message = f"expected at most {MAX_SUBMISSIONS} submissions in one request"
    return acks + [Acknowledgement(_get_uuid(entry), "rejected", message) for entry in rest]


def list_rejected(connection: Connection) -> list[RejectedSubmission]:
    """List rejected submissions, by the order in which people were added and sent them."""
    rows = connection.execute(
        select(annotators.c.name, rejected.c.message, rejected.c.raw, rejected.c.received)
        .join(annotators, annotators.c.id == rejected.c.annotator)
        .order_by(rejected.c.annotator, rejected.c.id)
    )
    return [RejectedSubmission(*row) for row in rows]


def record_event(
    connection: Connection,
    annotator_id: int,
    event: Event,
    *,
    rubric_shown: bool,
    source: str,
    now: float,
) -> bool:
    """Append a validated event; return True if it is a judgement beyond the required number.

    `rubric_shown` is False for a judgement by the instruction alone; see `deal.sees_rubric`.

    It fills the annotator's own slot, otherwise, unless they are excluded, any free one; without a
    slot the judgement is extra. References need no slot. A reviewer's slot of the same clip is
    released, so that another annotator judges it.
    """
    if event.kind in REVIEWERS:
        people.release_slots(connection, annotator_id, slots.c.item == event.item)
    is_judgement = event.kind in JUDGEMENT_KINDS
    is_extra = is_judgement and not _fill_slot(connection, annotator_id, event.item, now)
    if is_extra:
        is_extra = references.find_reference(connection, event.item) is None
    events.append_event(
        connection,
        annotator_id,
        event,
        extra=is_extra,
        rubric_shown=rubric_shown,
        source=source,
        now=now,
    )
    return is_extra


def _save_event(
    connection: Connection, annotator_id: int, event: Event, now: float
) -> Acknowledgement:
    """Store an event unless it is stored already; raise Rejection if earlier ones rule it out."""
    stored = events.find_event(connection, annotator_id, event.uuid)
    if stored is not None:
        if stored.content != event.content:
            raise Rejection("uuid already belongs to another event; use a new uuid")
        return Acknowledgement(event.uuid, "duplicate")
    _check_history(connection, annotator_id, event)
    is_extra = record_event(
        connection,
        annotator_id,
        event,
        rubric_shown=deal.sees_rubric(connection, annotator_id, event.item),
        source="browser",
        now=now,
    )
    return Acknowledgement(event.uuid, "extra" if is_extra else "saved")


def _check_history(connection: Connection, annotator_id: int, event: Event) -> None:
    """Raise Rejection if earlier events rule this one out."""
    if event.corrects is not None:
        corrected = events.find_event(connection, annotator_id, event.corrects)
        if not corrected or corrected.item != event.item or corrected.kind not in JUDGEMENT_KINDS:
            raise Rejection("corrects is not an earlier judgement of this item by this annotator")
    if obstacle := review_events.find_obstacle(connection, annotator_id, event):
        raise Rejection(obstacle)


def _fill_slot(connection: Connection, annotator_id: int, item: str, now: float) -> bool:
    parameters = {"item": item, "person": annotator_id}
    slot = connection.execute(_OWN_SLOT, parameters).scalar_one_or_none()
    if slot is None and not is_excluded(connection, annotator_id):
        slot = lock_free_slot(connection, item, now)
    if slot is None:
        return False
    connection.execute(_FILL_SLOT, {"number": slot, "person": annotator_id})
    return True


def _save_rejected(
    connection: Connection, annotator_id: int, sent: object, message: str, now: float
) -> None:
    try:
        raw = json.dumps(sent, default=repr)
    except (RecursionError, ValueError):  # nested too deeply, or too many digits
        raw = "JSON that cannot be kept"
    digest = hashlib.sha256(raw.encode()).hexdigest()
    of_person = rejected.c.annotator == annotator_id
    query = select(exists().where(of_person, rejected.c.digest == digest))
    if connection.execute(query).scalar_one():
        return
    if connection.execute(select(func.count()).where(of_person)).scalar_one() >= MAX_REJECTED:
        return
    row = {"annotator": annotator_id, "digest": digest, "raw": raw[:_MAX_RAW_CHARS]}
    connection.execute(insert(rejected), row | {"message": message, "received": now})


def _get_uuid(sent: object) -> str:
    uuid = sent.get("uuid") if isinstance(sent, Mapping) else None
    return uuid if isinstance(uuid, str) else ""


def _parse_text(
    sent: Mapping[str, object], key: str, pattern: re.Pattern[str], expected: str
) -> str:
    value = sent.get(key)
    if not isinstance(value, str) or pattern.fullmatch(value) is None:
        raise Rejection(f"expected {key} of {expected}, found {_preview(value)}")
    return value


def _parse_choice(sent: Mapping[str, object], key: str, choices: Collection[str]) -> str:
    value = sent.get(key)
    if not isinstance(value, str) or value not in choices:
        raise Rejection(
            f"expected {_with_article(key)} of {', '.join(choices)}, found {_preview(value)}"
        )
    return value


def _with_article(noun: str) -> str:
    article = "an" if noun[0] in "aeiou" else "a"
    return f"{article} {noun.replace('_', ' ')}"


def _parse_kind(sent: Mapping[str, object]) -> str:
    plain = VERDICT if sent.get("corrects") is None else CORRECTION
    kind = plain if sent.get("kind") is None else _parse_choice(sent, "kind", KINDS)
    if kind != CORRECTION and plain == CORRECTION:
        raise Rejection(
            f"expected corrects only with a correction, found it with {_with_article(kind)}"
        )
    return kind


def _find_horizon(
    kind: str,
    item: str,
    assigned: Mapping[str, int],
    may_review: bool,
    reviewable: Mapping[str, int],
) -> int:
    """Return the horizon of an item about which this person may send this kind of event."""
    if item in assigned and kind not in REVIEWERS:
        return assigned[item]
    if kind in JUDGEMENT_KINDS or not may_review:
        raise Rejection("item was never assigned to this annotator")
    if item not in reviewable:
        raise Rejection("item does not exist")
    return reviewable[item]


def _parse_step(value: object, verdict: str, horizon: int) -> int | None:
    if verdict not in MARKED_VERDICTS:
        if value is not None:
            raise Rejection(f"expected no step with {verdict}, found {_preview(value)}")
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= horizon:
        raise Rejection(
            f"expected a step of 1 to {horizon}, counted from takeover, found {_preview(value)}"
        )
    return value


def _parse_comment(sent: Mapping[str, object], kind: str) -> str:
    """Return the comment of an event; it is empty for judgements, and only notes require it."""
    if kind in JUDGEMENT_KINDS or (kind != NOTE and sent.get("text") in (None, "")):
        return ""
    return _parse_words(sent, "text", f"with {_with_article(kind)}")


def _parse_words(sent: Mapping[str, object], key: str, context: str) -> str:
    value = sent.get(key)
    if not isinstance(value, str) or not value.strip():
        raise Rejection(f"expected {_with_article(key)} {context}, found {_preview(value)}")
    if len(value) > MAX_TEXT_CHARS:
        raise Rejection(
            f"expected {_with_article(key)} of at most {MAX_TEXT_CHARS} characters, "
            f"found {len(value)}"
        )
    # Some JSON strings cannot be stored: NUL and lone surrogates are replaced.
    return replace_unprintable(value) or "\ufffd"


def _parse_number(value: object, key: str, limit: float) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= limit:
        return float(value) + 0.0  # no sign of zero, which SQLite loses but digests include
    raise Rejection(f"expected {key} between 0 and {limit:g}, found {_preview(value)}")


def _preview(value: object) -> str:
    try:
        text = "nothing" if value is None else ascii(value)
    except (RecursionError, ValueError):
        text = "a value that is nested too deeply or has too many digits"
    return text if len(text) <= 60 else text[:57] + "..."
