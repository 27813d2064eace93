"""Exclusions of annotators: decisions of study leads, which a later one withdraws.

Judgements of excluded people stay in the database and in exports, and count nowhere else. Their
decisions as reviewers are not affected.
"""

from typing import NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from sts.annotations.database.schema import annotators, controls, events, slots
from sts.annotations.log.changes import EXCLUDE, record_changes
from sts.annotations.log.events import is_judgement
from sts.annotations.people import people
from sts.annotations.records import Annotator
from sts.errors import ArgumentError

_LATEST = select(func.max(controls.c.id)).where(controls.c.setting == EXCLUDE)
EXCLUDED = select(controls.c.person).where(
    controls.c.id.in_(_LATEST.group_by(controls.c.person)), controls.c.value == 1
)
"""Select the numbers of the people who are excluded."""
_IS_EXCLUDED = select(EXCLUDED.where(controls.c.person == bindparam("annotator")).exists())


class Exclusion(NamedTuple):
    """A lead's decision to exclude a person, or to withdraw that, at a time in UTC seconds.

    `judgements` is the number of clips that the person has judged.
    """

    person: int
    name: str
    pseudonym: str
    withdrawn: bool
    reason: str
    by: str  # name of the lead
    decided: float
    judgements: int


def is_counted() -> ColumnElement[bool]:
    """Select judgements by people who are not excluded."""
    return is_judgement() & events.c.annotator.not_in(EXCLUDED)


def is_excluded(connection: Connection, annotator_id: int) -> bool:
    """Return True if a person is excluded."""
    return connection.execute(_IS_EXCLUDED, {"annotator": annotator_id}).scalar_one()


def list_decisions(connection: Connection) -> list[Exclusion]:
    """List all exclusions and withdrawals, in order."""
    lead = annotators.alias("lead")
    judged = (
        select(func.count(events.c.item.distinct()))
        .where(events.c.annotator == controls.c.person, is_judgement())
        .scalar_subquery()
    )
    rows = connection.execute(
        select(
            *(controls.c.person, annotators.c.name, annotators.c.pseudonym, controls.c.value == 0),
            *(controls.c.reason, lead.c.name, controls.c.created, judged),
        )
        .join(annotators, annotators.c.id == controls.c.person)
        .join(lead, lead.c.id == controls.c.annotator)
        .where(controls.c.setting == EXCLUDE)
        .order_by(controls.c.id)
    )
    return [Exclusion(*row) for row in rows]


def load_exclusions(connection: Connection) -> dict[int, Exclusion]:
    """Return the exclusions in force, by person number."""
    latest = {decision.person: decision for decision in list_decisions(connection)}
    return {person: decision for person, decision in latest.items() if not decision.withdrawn}


def set_excluded(
    connection: Connection,
    name: str,
    lead: Annotator,
    reason: str,
    *,
    withdraw: bool = False,
    now: float,
) -> Exclusion:
    """Exclude a person, or withdraw that, and return the decision; see `plan.validate_reason`.

    An exclusion opens the person's slots again, so that others judge these clips. A withdrawal
    fills those that are still free. The connection must be the only writer.

    Raises:
      ArgumentError: the person is in that state already.
      UnknownName: there is no such person.
    """
    person = people.lock_person(connection, people.get_person(connection, name).id)
    if is_excluded(connection, person.id) is not withdraw:
        state = "is not excluded" if withdraw else "is excluded already"
        raise ArgumentError(f"{person.name} {state}, so nothing was changed")
    row = {"setting": EXCLUDE, "scope": "", "person": person.id, "value": int(not withdraw)}
    row |= {"reason": reason, "annotator": lead.id, "created": now}
    connection.execute(insert(controls), row)
    values = int(not withdraw), reason, lead.id, now
    record_changes(connection, person.id, EXCLUDE, [values])
    if withdraw:
        _fill_slots(connection, person.id, now)
    else:
        people.release_slots(connection, person.id)
        judged = slots.c.annotator == person.id, slots.c.judged == 1
        connection.execute(update(slots).where(*judged).values(annotator=None, judged=0))
    return list_decisions(connection)[-1]


def _fill_slots(connection: Connection, annotator_id: int, now: float) -> None:
    """Fill a free slot of each clip that a person has judged."""
    judged = events.c.item == slots.c.item, events.c.annotator == annotator_id, is_judgement()
    free = (
        select(func.min(slots.c.id))
        .where(
            slots.c.judged == 0,
            or_(slots.c.annotator.is_(None), slots.c.lease_until <= now),
            exists().where(*judged),
        )
        .group_by(slots.c.item)
    )
    numbers = connection.scalars(free).all()
    filled = {"annotator": annotator_id, "lease_until": None, "judged": 1}
    connection.execute(update(slots).where(slots.c.id.in_(numbers)).values(filled))
