"""What people have said of a continuation so far."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection, select

from sts.annotations.remarks import current
from sts.annotations.schema import copies, events


class Verdict(NamedTuple):
    """A verdict, and its step from takeover, 1..horizon, for success and failure, else None."""

    verdict: str
    step: int | None


def human(connection: Connection, continuations: Collection[str]) -> dict[str, list[Verdict]]:
    """Returns the current judgement of each person of these continuations, where there is one."""
    standing = current()
    rows = connection.execute(
        select(copies.c.continuation, events.c.verdict, events.c.step)
        .join(events, events.c.item == copies.c.item)
        .join(standing, standing.c.id == events.c.id)
        .where(copies.c.continuation.in_(continuations))
        .order_by(events.c.id)
    )
    out: dict[str, list[Verdict]] = {}
    for continuation, verdict, step in rows:
        out.setdefault(continuation, []).append(Verdict(verdict, step))
    return out
