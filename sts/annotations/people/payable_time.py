"""Active time of each person, for payment."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select, union_all

from sts.annotations.database.schema import annotators, claims, events, training
from sts.annotations.people import exclusions


class PayableTime(NamedTuple):
    """A person's answers and their active time.

    `seconds` is the sum of the active seconds of their `answers` on pages: verdicts, corrections,
    reviews, decisions, notes and training answers; `untimed` ones have none. Browsers report the
    seconds, so `hours` is at most the time that the server measured from the first clip that it
    assigned, or the first answer, to the last answer.
    """

    annotator: str  # pseudonym
    clips: int
    answers: int
    untimed: int
    seconds: float
    elapsed_hours: float
    hours: float
    excluded: int


def load_payable_time(connection: Connection) -> Sequence[PayableTime]:
    """Return the payable time of everyone who has sent an answer from a page, by pseudonym."""
    columns = ("annotator", "item", "seconds", "received")
    answers = union_all(
        select(*(events.c[name] for name in columns)).where(events.c.source == "browser"),
        select(*(training.c[name] for name in columns)),
    ).subquery()
    first, last = func.min(answers.c.received), func.max(answers.c.received)
    query = (
        select(
            *(answers.c.annotator, annotators.c.pseudonym, func.count(answers.c.item.distinct())),
            *(func.count(), func.count(answers.c.seconds), func.sum(answers.c.seconds)),
            *(first, last),
        )
        .join(annotators, annotators.c.id == answers.c.annotator)
        .group_by(answers.c.annotator, annotators.c.pseudonym)
        .order_by(annotators.c.pseudonym)
    )
    assigned = select(claims.c.annotator, func.min(claims.c.claimed)).group_by(claims.c.annotator)
    started = {number: time for number, time in connection.execute(assigned)}
    excluded = exclusions.load_exclusions(connection)
    people = []
    for number, pseudonym, clips, sent, timed, seconds, begun, ended in connection.execute(query):
        active = float(seconds or 0.0)
        elapsed = max(ended - min(begun, started.get(number, begun)), 0.0)
        hours = min(active, elapsed) / 3600
        row = (pseudonym, clips, sent, sent - timed, active, elapsed / 3600, hours)
        people.append(PayableTime(*row, int(number in excluded)))
    return people
