"""The lead's overview of people: activity, access, open clips and assigned agents."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from sts.annotations.database.schema import controls, copies, events, item_suites, slots
from sts.annotations.log import looks
from sts.annotations.log.changes import EXCLUDE
from sts.annotations.log.events import is_judgement
from sts.annotations.people import people, sessions
from sts.annotations.records import Annotator

DAY_S = 86400.0


class Member(NamedTuple):
    """A person's activity: clips judged today, since midnight UTC, and in total.

    `last_seen` is the last time that they used a session or submitted anything, and `next_expiry`
    the earliest end of a lease among their `open_clips`, both in UTC seconds. `seconds` is measured
    active time. `access` is "deactivated", "signed in" (an open session), "invited" (an unused
    invitation) or "outside".
    """

    person: Annotator
    last_seen: float | None
    today: int
    total: int
    seconds: float
    open_clips: int
    next_expiry: float | None
    access: str


class _Activity(NamedTuple):
    """A person's judged clips, active seconds and time of the latest event in a period."""

    judged: int = 0
    seconds: float = 0.0
    last_event: float | None = None


class DailyWork(NamedTuple):
    """Clips that a person judged on a day, in days since 1970 (UTC), and their active seconds."""

    annotator: int
    day: int
    judged: int
    seconds: float


def list_members(connection: Connection, *, now: float) -> list[Member]:
    """List everyone who was ever added, in that order."""
    last_uses = sessions.last_use_by_person(connection)
    signed_in = {session.name for session in sessions.list_open_sessions(connection, now=now)}
    invited = sessions.people_with_invitation(connection, now=now)
    today = _activity_since(connection, since=now - now % DAY_S)
    ever = _activity_since(connection, since=0.0)
    open_slots = {
        annotator: (held, until)
        for annotator, held, until in connection.execute(
            select(slots.c.annotator, func.count(), func.min(slots.c.lease_until))
            .where(slots.c.judged == 0, slots.c.lease_until > now)
            .group_by(slots.c.annotator)
        )
    }
    result = []
    for person in people.list_people(connection):
        activity = ever.get(person.id, _Activity())
        times = last_uses.get(person.id), activity.last_event
        result.append(
            Member(
                person,
                max((time for time in times if time is not None), default=None),
                today.get(person.id, _Activity()).judged,
                activity.judged,
                activity.seconds,
                *open_slots.get(person.id, (0, None)),
                _access_status(person, signed_in, invited),
            )
        )
    return result


def _access_status(person: Annotator, signed_in: Collection[str], invited: Collection[int]) -> str:
    if person.deactivated:
        return "deactivated"
    if person.name in signed_in:
        return "signed in"
    return "invited" if person.id in invited else "outside"


def load_daily_work(connection: Connection, *, since: float) -> list[DailyWork]:
    """Return each person's timed judgements per day since a time in UTC seconds."""
    rows = connection.execute(
        select(events.c.annotator, events.c.received, events.c.seconds).where(
            is_judgement(), events.c.received >= since, events.c.seconds.is_not(None)
        )
    )
    judged: dict[tuple[int, int], int] = defaultdict(int)
    seconds: dict[tuple[int, int], float] = defaultdict(float)
    for row in rows:
        key = row.annotator, int(row.received // DAY_S)
        judged[key] += 1
        seconds[key] += row.seconds
    return [DailyWork(*key, judged[key], seconds[key]) for key in sorted(judged)]


def count_assigned(connection: Connection, suite: str) -> dict[str, dict[int, int]]:
    """Count each person's assigned clips by agent: agent -> person's number -> clips.

    `suite` is an enqueued suite, or part of one.
    """
    shown = (
        select(copies.c.agent, copies.c.item)
        .join(item_suites, item_suites.c.item == copies.c.item)
        .where(item_suites.c.suite == suite)
        .distinct()
        .subquery()
    )
    rows = connection.execute(
        select(shown.c.agent, slots.c.annotator, func.count())
        .join(slots, slots.c.item == shown.c.item)
        .where(slots.c.annotator.is_not(None))
        .group_by(shown.c.agent, slots.c.annotator)
        .order_by(shown.c.agent, slots.c.annotator)
    )
    counts: dict[str, dict[int, int]] = {}
    for agent, number, clips in rows:
        counts.setdefault(agent, {})[number] = clips
    return counts


def last_event_time(connection: Connection) -> float | None:
    """Return the time of the latest event, exclusion or look, in UTC seconds; None before any."""
    latest = select(events.c.received).order_by(events.c.id.desc()).limit(1)
    decided = select(func.max(controls.c.created)).where(controls.c.setting == EXCLUDE)
    times = [connection.execute(query).scalar() for query in (latest, decided)]
    times.append(looks.find_last_time(connection))
    return max((time for time in times if time is not None), default=None)


def _activity_since(connection: Connection, *, since: float) -> Mapping[int, _Activity]:
    """Return each person's activity since a time in UTC seconds."""
    rows = connection.execute(
        select(
            events.c.annotator,
            func.count(events.c.item.distinct()).label("judged"),
            func.coalesce(func.sum(events.c.seconds), 0.0).label("seconds"),
            func.max(events.c.received).label("last_event"),
        )
        .where(is_judgement(), events.c.received >= since)
        .group_by(events.c.annotator)
    )
    return {r.annotator: _Activity(r.judged, float(r.seconds), r.last_event) for r in rows}
