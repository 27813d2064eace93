"""Share of their clips that annotators watch, to find those who judge without watching."""

from statistics import median
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from sts.annotations.database.schema import annotators, events, items
from sts.annotations.log.events import VERDICT
from sts.annotations.study import StudySettings
from sts.ratings import MARKED_VERDICTS

LATEST = 20
"""Number of latest judgements that are measured."""
MIN_MEASURED = 5
"""Number of measured judgements below which no annotator is flagged."""
STEPS_PER_S = 8
"""Steps a second at which pages play a clip unless the annotator changes it."""


class Attention(NamedTuple):
    """Share of their latest clips that a person watched; see `measure_attention`.

    `watched` is the median of the `measured` judgements, 0 to 1, or None without any.
    """

    annotator: str
    measured: int
    watched: float | None
    flagged: bool


def list_attention(connection: Connection, study: StudySettings) -> list[Attention]:
    """List how much everyone who has judged clips on a page watches, by name."""
    rows = connection.execute(select(annotators.c.id, annotators.c.name).order_by("name")).all()
    measured = [measure_attention(connection, study, row.id, row.name) for row in rows]
    return [attention for attention in measured if attention.measured]


def measure_attention(
    connection: Connection, study: StudySettings, annotator_id: int, name: str = ""
) -> Attention:
    """Measure how much a person watched before their latest judgements.

    A judgement requires the steps up to its marker, or the whole continuation if it has none. Its
    share is the number of steps shown, or the steps that the active time allows at normal speed if
    these are fewer, relative to the required ones, at most 1. Corrections and judgements made
    elsewhere are left out. A person is flagged if the median is below the study's `min_watched`.
    """
    shares = []
    for row in connection.execute(_LATEST, {"person": annotator_id}):
        required = row.step if row.verdict in MARKED_VERDICTS else row.horizon
        steps = min(row.watched * row.horizon, row.seconds * STEPS_PER_S)
        shares.append(min(steps / required, 1.0))
    watched = median(shares) if shares else None
    flagged = watched is not None and len(shares) >= MIN_MEASURED and watched < study.min_watched
    return Attention(name, len(shares), watched, flagged)


_LATEST = (
    select(
        *(events.c.verdict, events.c.step, events.c.watched, events.c.seconds, items.c.horizon),
    )
    .join(items, items.c.id == events.c.item)
    .where(
        events.c.annotator == bindparam("person"),
        events.c.kind == VERDICT,
        events.c.watched.is_not(None),
        events.c.seconds.is_not(None),
    )
    .order_by(events.c.id.desc())
    .limit(LATEST)
)
