"""Early closing of a suite's study: an event of a study lead, which a later one withdraws."""

from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from sts.annotations.database.schema import annotators, events
from sts.annotations.log.events import CLOSING
from sts.annotations.study import base_suite


class ClosingEvent(NamedTuple):
    """A closing of a suite, or its withdrawal."""

    kind: str  # closing or reopening
    reason: str
    by: str  # pseudonym of the lead
    received: float  # UTC seconds


_EVENTS = (
    select(events.c.kind, events.c.reason, annotators.c.pseudonym, events.c.received)
    .join(annotators, annotators.c.id == events.c.annotator)
    .where(events.c.suite == bindparam("suite"))
    .order_by(events.c.id)
)


def load_closing_events(connection: Connection, suite: str) -> list[ClosingEvent]:
    """Load all closings and reopenings of a suite, in order; the last one counts."""
    return [ClosingEvent(*row) for row in connection.execute(_EVENTS, {"suite": suite})]


def find_closing(connection: Connection, suite: str) -> ClosingEvent | None:
    """Return the closing in force of a suite, or of the suite that a part belongs to."""
    decisions = load_closing_events(connection, base_suite(suite))
    return decisions[-1] if decisions and decisions[-1].kind == CLOSING else None
