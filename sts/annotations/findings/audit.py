"""Audit of which annotators judged which agents, read from the store."""

import numpy as np
from sqlalchemy import Connection, func, select

from sts.annotations.database.schema import (
    anchors,
    annotators,
    copies,
    events,
    item_suites,
    items,
    slots,
)
from sts.annotations.findings import imbalance
from sts.annotations.findings.imbalance import AssignmentBalance
from sts.annotations.people.exclusions import is_counted
from sts.annotations.queue.references import is_reference


def load_balance_audit(
    connection: Connection, suite: str | None = None, *, names: bool = False
) -> AssignmentBalance:
    """Load the judgements of a suite, except those of references, and audit who judged which agent.

    `suite` is an enqueued suite, or part of one; None covers everything. People are shown by
    pseudonym unless `names` is True; excluded people are left out.
    """
    members = select(item_suites.c.item)
    opened = select(func.count(), func.coalesce(func.sum(slots.c.judged), 0)).join_from(
        anchors, slots, (slots.c.item == anchors.c.item) & (slots.c.slot == anchors.c.slot)
    )
    if suite is not None:
        members = members.where(item_suites.c.suite == suite)
        opened = opened.where(anchors.c.item.in_(members))
    author = annotators.c.name if names else annotators.c.pseudonym
    rows = connection.execute(
        select(items.c.id, items.c.scenario, copies.c.agent, author)
        .join(events, events.c.item == items.c.id)
        .join(annotators, annotators.c.id == events.c.annotator)
        .join(copies, copies.c.item == items.c.id)
        .where(
            is_counted(),
            items.c.id.in_(members),
            ~is_reference(items.c.id),
        )
        .distinct()
        .order_by(items.c.id, copies.c.agent, author)
    ).all()
    result = imbalance.EMPTY_AUDIT
    if rows:
        result = imbalance.measure_imbalance(*np.array(rows, object).T)
    opened_count, judged = connection.execute(opened).one()
    return result._replace(anchors=int(opened_count), anchors_judged=int(judged))
