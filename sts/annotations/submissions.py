"""What a browser sends: checked field by field, then kept exactly once."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, exists, insert, select, update

from sts.annotations import people
from sts.annotations.schema import claims, events, items, reference_episodes, refused, slots
from sts.annotations.types import Ack
from sts.names import printable
from sts.ratings import MARKED, VERDICTS

_UUID = re.compile(r"[0-9a-f]{32}")
_ITEM = re.compile(r"[0-9A-Za-z_-]{22}")
REASON_LIMIT = 500
_RAW_LIMIT = 4096
_SECONDS_LIMIT = 1e9


class Submission(NamedTuple):
    """One checked judgement; the fields are those of `Judgement`, and what the player measured.

    Attributes:
      watched: share of the continuation's frames that were seen, 0 to 1, or None.
      seconds: time spent on the item, or None.
      corrects: the annotator's earlier event that this one replaces, or None.
    """

    uuid: str
    item: str
    verdict: str
    step: int | None
    reason: str
    watched: float | None
    seconds: float | None
    corrects: str | None


class Refusal(Exception):
    """Why a submission cannot be kept as a judgement, in one line."""


def check(sent: object, horizons: Mapping[str, int]) -> Submission:
    """Returns the submission in `sent`, which may be anything that JSON can hold.

    Unknown keys are ignored. Control characters in a reason are replaced.

    Args:
      sent: as the browser sent it.
      horizons: continuation steps of each item that the annotator was given.

    Raises:
      Refusal: a field is missing, of another type, or out of range.
    """
    if not isinstance(sent, Mapping):
        raise Refusal(f"expected an object, found {_shown(sent)}")
    uuid = _text(sent, "uuid", _UUID, "32 hexadecimal digits")
    item = _text(sent, "item", _ITEM, "an item identifier")
    if item not in horizons:
        raise Refusal("item was never given to this annotator")
    verdict = sent.get("verdict")
    if not isinstance(verdict, str) or verdict not in VERDICTS:
        raise Refusal(f"expected a verdict of {', '.join(VERDICTS)}, found {_shown(verdict)}")
    corrects = sent.get("corrects")
    return Submission(
        uuid,
        item,
        verdict,
        _step(sent.get("step"), verdict, horizons[item]),
        _reason(sent.get("reason"), verdict),
        _number(sent.get("watched"), "watched", 1.0),
        _number(sent.get("seconds"), "seconds", _SECONDS_LIMIT),
        None if corrects is None else _text(sent, "corrects", _UUID, "32 hexadecimal digits"),
    )


def submit(connection: Connection, annotator_id: int, sent: object, *, now: float) -> list[Ack]:
    """Keeps each submission once and says what became of it, in the order sent.

    Sending again is harmless: the client's uuid makes the second one a duplicate. A retired
    annotator's last work is kept as well.

    Raises:
      UnknownName: there is no such annotator.
    """
    people.lock(connection, annotator_id)
    each = sent if isinstance(sent, list | tuple) else [sent]
    named = {s["item"] for s in each if isinstance(s, Mapping) and _is_item(s.get("item"))}
    rows = connection.execute(
        select(items.c.id, items.c.horizon)
        .join(claims, claims.c.item == items.c.id)
        .where(claims.c.annotator == annotator_id, items.c.id.in_(named))
    )
    horizons = {row.id: row.horizon for row in rows}
    return [_keep(connection, annotator_id, one, horizons, now) for one in each]


def record(
    connection: Connection, annotator_id: int, submission: Submission, *, source: str, now: float
) -> bool:
    """Appends a checked event and fills its slot; returns whether it is extra.

    The annotator's own slot is filled, else any that is free; with none left the judgement is
    kept as extra. A reference needs no slot, since everybody may judge it.
    """
    extra = not _fill_slot(connection, annotator_id, submission.item, now)
    if extra:
        extra = not connection.execute(
            select(exists().where(reference_episodes.c.item == submission.item))
        ).scalar_one()
    connection.execute(
        insert(events).values(
            annotator=annotator_id,
            extra=int(extra),
            source=source,
            received=now,
            **submission._asdict(),
        )
    )
    return extra


def find_event(
    connection: Connection, annotator_id: int, uuid: str
) -> Row[*tuple[Any, ...]] | None:
    """The annotator's event of that uuid."""
    return connection.execute(
        select(events).where(events.c.annotator == annotator_id, events.c.uuid == uuid)
    ).one_or_none()


def _keep(
    connection: Connection,
    annotator_id: int,
    sent: object,
    horizons: Mapping[str, int],
    now: float,
) -> Ack:
    try:
        submission = check(sent, horizons)
        before = find_event(connection, annotator_id, submission.uuid)
        if before is not None:
            if (before.item, before.verdict, before.step, before.reason) != (
                submission.item,
                submission.verdict,
                submission.step,
                submission.reason,
            ):
                raise Refusal("uuid already belongs to another judgement; send it under a new one")
            return Ack(submission.uuid, "duplicate")
        if submission.corrects is not None:
            corrected = find_event(connection, annotator_id, submission.corrects)
            if corrected is None or corrected.item != submission.item:
                raise Refusal("corrects names no earlier judgement of this item by this annotator")
    except Refusal as refusal:
        _keep_aside(connection, annotator_id, sent, str(refusal), now)
        uuid = sent.get("uuid") if isinstance(sent, Mapping) else None
        return Ack(uuid if isinstance(uuid, str) else "", "refused", str(refusal))
    extra = record(connection, annotator_id, submission, source="browser", now=now)
    return Ack(submission.uuid, "extra" if extra else "saved")


def _fill_slot(connection: Connection, annotator_id: int, item: str, now: float) -> bool:
    found = connection.execute(
        select(slots.c.id).where(slots.c.item == item, slots.c.annotator == annotator_id)
    ).scalar_one_or_none()
    if found is None:
        found = connection.execute(
            select(slots.c.id)
            .where(
                slots.c.item == item,
                slots.c.judged == 0,
                slots.c.annotator.is_(None) | (slots.c.lease_until <= now),
            )
            .order_by(slots.c.slot)
            .limit(1)
            .with_for_update(skip_locked=True)
        ).scalar_one_or_none()
    if found is None:
        return False
    connection.execute(
        update(slots)
        .where(slots.c.id == found)
        .values(annotator=annotator_id, lease_until=None, judged=1)
    )
    return True


def _keep_aside(
    connection: Connection, annotator_id: int, sent: object, message: str, now: float
) -> None:
    raw = json.dumps(sent, default=repr)
    digest = hashlib.sha256(raw.encode()).hexdigest()
    known = connection.execute(
        select(refused.c.id).where(refused.c.annotator == annotator_id, refused.c.digest == digest)
    ).one_or_none()
    if known is None:
        connection.execute(
            insert(refused).values(
                annotator=annotator_id,
                digest=digest,
                raw=raw[:_RAW_LIMIT],
                message=message,
                received=now,
            )
        )


def _is_item(value: object) -> bool:
    return isinstance(value, str) and _ITEM.fullmatch(value) is not None


def _text(sent: Mapping[str, object], key: str, pattern: re.Pattern[str], words: str) -> str:
    value = sent.get(key)
    if not isinstance(value, str) or pattern.fullmatch(value) is None:
        raise Refusal(f"expected {key} of {words}, found {_shown(value)}")
    return value


def _step(value: object, verdict: str, horizon: int) -> int | None:
    if verdict not in MARKED:
        if value is not None:
            raise Refusal(f"expected no step with {verdict}, found {_shown(value)}")
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= horizon:
        raise Refusal(
            f"expected a step of 1 to {horizon}, counted from takeover, found {_shown(value)}"
        )
    return value


def _reason(value: object, verdict: str) -> str:
    if verdict != "cannot_judge":
        return ""
    if not isinstance(value, str) or not value.strip():
        raise Refusal(f"expected a reason with cannot_judge, found {_shown(value)}")
    if len(value) > REASON_LIMIT:
        raise Refusal(f"expected a reason of at most {REASON_LIMIT} characters, found {len(value)}")
    # Neither database keeps every string that JSON can hold: NUL and lone surrogates go.
    return printable(value) or "\ufffd"


def _number(value: object, key: str, limit: float) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= limit:
        return float(value)
    raise Refusal(f"expected {key} between 0 and {limit:g}, found {_shown(value)}")


def _shown(value: object) -> str:
    text = "nothing" if value is None else ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."
