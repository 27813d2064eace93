"""Append-only, hash-chained events: what people submit about clips, and leads decide about suites.

A judgement is an annotator's verdict, or a correction of their earlier verdict. Reviewers submit
reviews, which name the error that an episode shows, and adjudications, which decide between
annotators. A note is text only.

Of several events by one person about a clip, the last of each kind is current; verdicts and
corrections count as one kind. The last adjudication of a clip, by any reviewer, is final and
overrides the annotators' judgements, but agreement and accuracy are still computed from these.

A study lead's closing or reopening is about a suite instead of a clip; see `closings`.
"""

import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, bindparam, insert, or_, select, update

from sts.annotations.database.schema import annotators, items
from sts.annotations.database.schema import events as table
from sts.storage.chains import Link, next_link
from sts.storage.files import content_hash

VERDICT, CORRECTION, REVIEW, ADJUDICATION, NOTE = KINDS = (
    "verdict",
    "correction",
    "review",
    "adjudication",
    "note",
)
"""The kinds about clips, which people submit."""
SUITE_KINDS = CLOSING, REOPENING = ("closing", "reopening")
"""The kinds about suites, which study leads decide."""
JUDGEMENT_KINDS = (VERDICT, CORRECTION)
"""The kinds that count as judgements, in progress, agreement, accuracy and annotation time."""
VERDICT_KINDS = (*JUDGEMENT_KINDS, ADJUDICATION)
"""The kinds that have a verdict."""
REVIEWERS = (REVIEW, ADJUDICATION)
"""The kinds that only reviewers may submit."""

DIGESTED_COLUMNS = (
    *(
        "annotator",
        "uuid",
        "item",
        "kind",
        "verdict",
        "step",
        "error_type",
        "text_digest",
        "watched",
    ),
    *("seconds", "corrects", "extra", "rubric_shown", "source", "received"),
)
"""The columns that an event's digest covers, in order, followed by its clip's hash or its suite."""


# Built once: building a statement takes longer than running it on SQLite.
_INSERT = insert(table)
_CLIP = select(items.c.clip).where(items.c.id == bindparam("item")).scalar_subquery()
_CHAIN_TIP = select(annotators.c.number, annotators.c.digest, _CLIP).where(
    annotators.c.id == bindparam("annotator")
)
_UPDATE_CHAIN_TIP = update(annotators).where(annotators.c.id == bindparam("person"))


class Event(NamedTuple):
    """One validated event."""

    uuid: str  # assigned by the client, 32 hexadecimal digits
    item: str  # the clip's opaque identifier
    kind: str = VERDICT  # one of `KINDS`
    verdict: str | None = None  # of the kinds in `VERDICT_KINDS`, else None
    step: int | None = None  # 1..horizon from takeover with success and failure, else None
    reason: str = ""  # why the clip cannot be judged, else ""
    error_type: str = ""  # error type of a review, else ""
    text: str = ""  # comment, or ""
    watched: float | None = None  # share of the continuation's frames seen, 0 to 1, or None
    seconds: float | None = None  # time spent on the item, or None
    corrects: str | None = None  # uuid of the author's event that a correction replaces

    @property
    def content(self) -> tuple[object, ...]:
        """The fields that distinguish events; times are excluded."""
        return (
            self.item,
            self.kind,
            self.verdict,
            self.step,
            self.reason,
            self.error_type,
            self.text,
        )


_EVENTS = select(*(table.c[name] for name in Event._fields)).where(
    table.c.annotator == bindparam("annotator")
)
_SELECT_EVENT = _EVENTS.where(table.c.uuid == bindparam("uuid"))


def append_event(
    connection: Connection,
    annotator_id: int,
    event: Event,
    *,
    extra: bool = False,
    rubric_shown: bool = True,
    source: str,
    now: float,
) -> None:
    """Append a validated event about a clip to the chain of its author, whose rows are locked.

    `extra` is True if the item already had all required judgements; `rubric_shown` is False for a
    judgement by the instruction alone; `source` is browser or import.
    """
    shown = int(rubric_shown) if event.kind in JUDGEMENT_KINDS else None
    row = event._asdict() | {"suite": None, "extra": int(extra), "rubric_shown": shown}
    row["source"] = source
    _append_row(connection, annotator_id, row, now)


def append_suite_event(
    connection: Connection, lead_id: int, suite: str, kind: str, reason: str, *, now: float
) -> None:
    """Append a decision of `SUITE_KINDS` about a suite to the chain of a study lead.

    The connection must be the only writer.
    """
    event = Event(secrets.token_hex(16), "", kind, reason=reason)
    row = event._asdict() | {"item": None, "suite": suite, "extra": 0, "source": "command"}
    row["rubric_shown"] = None
    _append_row(connection, lead_id, row, now)


def _append_row(
    connection: Connection, annotator_id: int, columns: Mapping[str, Any], now: float
) -> None:
    """Append an event with these columns to the chain of its author.

    This is the only function that writes events; the person's row holds the last link of the chain.
    """
    row: dict[str, Any] = {
        "annotator": annotator_id,
        "received": float(now),
        "text_digest": hash_texts(columns["uuid"], columns["reason"], columns["text"]),
        **columns,
    }
    parameters = {"annotator": annotator_id, "item": row["item"]}
    number, digest, clip = connection.execute(_CHAIN_TIP, parameters).one()
    values = [row[name] for name in DIGESTED_COLUMNS]
    end = next_link(Link(number, digest), [*values, row["suite"] or clip])._asdict()
    connection.execute(_INSERT, row | end)
    connection.execute(_UPDATE_CHAIN_TIP, {"person": annotator_id} | end)


def hash_texts(uuid: str, reason: str, text: str) -> str:
    """Hash an event's texts, so that its digest survives their erasure; "" if both are empty."""
    if not reason and not text:
        return ""
    return content_hash(uuid.encode(), reason.encode(), text.encode())


def erase_texts(connection: Connection, annotator_id: int) -> None:
    """Erase the texts of a person's events about clips; their digests and verdicts are kept."""
    about_clips = table.c.annotator == annotator_id, table.c.item.is_not(None)
    with_texts = (table.c.reason != "") | (table.c.text != "")
    connection.execute(update(table).where(*about_clips, with_texts).values(reason="", text=""))


def find_event(connection: Connection, annotator_id: int, uuid: str) -> Event | None:
    """Return the person's event with this uuid, or None."""
    row = connection.execute(_SELECT_EVENT, {"annotator": annotator_id, "uuid": uuid}).one_or_none()
    return None if row is None else Event(*row)


def list_judgements(
    connection: Connection, annotator_id: int, item_id: str
) -> list[tuple[Event, str]]:
    """Return the person's judgements of an item with their sources, the current one last."""
    chosen = _EVENTS.add_columns(table.c.source).where(table.c.item == item_id, is_judgement())
    rows = connection.execute(chosen.order_by(table.c.id), {"annotator": annotator_id})
    return [(Event(*fields), source) for *fields, source in rows]


def is_judgement() -> ColumnElement[bool]:
    """Select events that are judgements."""
    return or_(*(table.c.kind == kind for kind in JUDGEMENT_KINDS))  # in_ is expanded at each use
