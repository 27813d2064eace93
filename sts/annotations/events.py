"""What an event is: something that a person said of a clip, kept for ever as it came.

A judgement is an annotator's verdict, or a correction of an earlier one of theirs. A reviewer says
what kind of error an episode shows, or decides between annotators. A note is words alone.

Of several events of one person and kind on a clip the last stands; verdicts and corrections are one
kind in this. Of the adjudications of a clip the last stands, whoever made it, and over all its
annotators' judgements: it is what the clip is worth. These stay what agreement and accuracy are
computed from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, bindparam, insert, select, update

from sts.annotations.schema import annotators, items
from sts.annotations.schema import events as table
from sts.storage.chains import Link, follow
from sts.storage.files import content_hash

VERDICT, CORRECTION, REVIEW, ADJUDICATION, NOTE = KINDS = (
    "verdict",
    "correction",
    "review",
    "adjudication",
    "note",
)
JUDGEMENT_KINDS = (VERDICT, CORRECTION)
"""The kinds that judge: what counts as judged, in agreement, accuracy and hours."""
VERDICT_KINDS = (*JUDGEMENT_KINDS, ADJUDICATION)
"""The kinds that carry a verdict."""
REVIEWERS = (REVIEW, ADJUDICATION)
"""The kinds that only a reviewer may send."""
PLAYER_ERRORS = ("imprecise", "out_of_time", "empty", "control")
ANNOTATOR_ERRORS = ("annotation_mistake", "rigidity", "ambiguity")
FAIR = "fair"
ERROR_TYPES = (*PLAYER_ERRORS, *ANNOTATOR_ERRORS, FAIR)
"""What a review may call a failure (Abramson et al. 2022, section A.3, Table 1).

The last says that the judgement is right and that it is none of these errors: an agent that does
something else than was asked makes none of those that people make.
"""


DIGESTED_COLUMNS = (
    *("annotator", "uuid", "item", "kind", "verdict", "step", "label", "words", "watched"),
    *("seconds", "corrects", "extra", "source", "received"),
)
"""The columns that an event's digest covers, in its order; the hash of its clip follows them."""


# Made once: to put a statement together costs more than SQLite.
_INSERT = insert(table)
_SELECT_EVENT = select(table).where(
    table.c.annotator == bindparam("annotator"), table.c.uuid == bindparam("uuid")
)
_CLIP = select(items.c.clip).where(items.c.id == bindparam("item")).scalar_subquery()
_CHAIN_TIP = select(annotators.c.number, annotators.c.digest, _CLIP).where(
    annotators.c.id == bindparam("annotator")
)
_UPDATE_CHAIN_TIP = update(annotators).where(annotators.c.id == bindparam("person"))


class Event(NamedTuple):
    """One checked event.

    Attributes:
      uuid: the client's, 32 hexadecimal digits.
      item: the clip's opaque identifier.
      kind: one of `KINDS`.
      verdict: of the kinds in `DECIDING`, else None.
      step: 1..horizon from takeover with success and failure, else None.
      reason: why it cannot be judged, else "".
      label: of a review, one of `LABELS`, else "".
      text: what else was said in words, or "".
      watched: share of the continuation's frames that were seen, 0 to 1, or None.
      seconds: time spent on the item, or None.
      corrects: of a correction, the author's earlier event that it replaces, else None.
    """

    uuid: str
    item: str
    kind: str = VERDICT
    verdict: str | None = None
    step: int | None = None
    reason: str = ""
    label: str = ""
    text: str = ""
    watched: float | None = None
    seconds: float | None = None
    corrects: str | None = None

    @property
    def content(self) -> tuple[object, ...]:
        """What makes it another event, whenever and in what time it was sent."""
        return (self.item, self.kind, self.verdict, self.step, self.reason, self.label, self.text)


def append_event(
    connection: Connection,
    annotator_id: int,
    event: Event,
    *,
    extra: bool = False,
    source: str,
    now: float,
) -> None:
    """Append an event of one person, whose rows are locked, to their chain.

    This is the one place where events are written. The person's row holds the end of their chain.

    Args:
      connection: in a transaction that writes.
      annotator_id: its author.
      event: checked.
      extra: whether it judges what had been judged as often as required.
      source: browser or import.
      now: UTC seconds.
    """
    row: dict[str, Any] = {
        "annotator": annotator_id,
        "extra": int(extra),
        "source": source,
        "received": float(now),
        "words": hash_texts(event.uuid, event.reason, event.text),
        **event._asdict(),
    }
    own = {"annotator": annotator_id, "item": event.item}
    number, digest, clip = connection.execute(_CHAIN_TIP, own).one()
    values = [row[name] for name in DIGESTED_COLUMNS]
    end = follow(Link(number, digest), [*values, clip])._asdict()
    connection.execute(_INSERT, row | end)
    connection.execute(_UPDATE_CHAIN_TIP, {"person": annotator_id} | end)


def hash_texts(uuid: str, reason: str, text: str) -> str:
    """Return what an event's digest holds of its words, so that it outlives them; "" of none."""
    if not reason and not text:
        return ""
    return content_hash(uuid.encode(), reason.encode(), text.encode())


def erase_texts(connection: Connection, annotator_id: int) -> None:
    """Empty the words of a person's events; their digests stay, and so does every verdict."""
    own = table.c.annotator == annotator_id, (table.c.reason != "") | (table.c.text != "")
    connection.execute(update(table).where(*own).values(reason="", text=""))


def find_event(connection: Connection, annotator_id: int, uuid: str) -> Event | None:
    """Return the person's event of that uuid."""
    row = connection.execute(_SELECT_EVENT, {"annotator": annotator_id, "uuid": uuid}).one_or_none()
    return None if row is None else event_from_row(row)


def find_judgement(connection: Connection, annotator_id: int, item: str) -> Event | None:
    """Return the person's judgement of an item that stands."""
    own = table.c.annotator == annotator_id, table.c.item == item, is_judgement()
    row = connection.execute(
        select(table).where(*own).order_by(table.c.id.desc()).limit(1)
    ).one_or_none()
    return None if row is None else event_from_row(row)


def event_from_row(row: Row[*tuple[Any, ...]]) -> Event:
    """Return the event in a row of the table."""
    return Event(*(getattr(row, name) for name in Event._fields))


def is_judgement() -> ColumnElement[bool]:
    """Whether an event is a judgement."""
    return table.c.kind.in_(JUDGEMENT_KINDS)
