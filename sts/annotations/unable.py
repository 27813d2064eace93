"""What people could not judge, and why, by scenario: for who curates them."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from sqlalchemy import Connection, select

from sts.annotations.schema import events, item_suites, items
from sts.annotations.views import current
from sts.ratings import UNABLE


class Unable(NamedTuple):
    """A scenario that people said they could not judge.

    Attributes:
      scenario: its identifier.
      category: its category.
      clips: of it that somebody could not judge.
      judged: clips of it that were looked at.
      reasons: in the people's words, with how many said so, the most frequent first.
    """

    scenario: str
    category: str
    clips: int
    judged: int
    reasons: tuple[tuple[str, int], ...]


def unable(connection: Connection, suite: str | None = None) -> list[Unable]:
    """Returns the scenarios that somebody could not judge, the worst first, for their curator.

    Args:
      connection: to the store.
      suite: as it is enqueued; None for everything.
    """
    standing = current()
    query = (
        select(items.c.scenario, items.c.category, events.c.item, events.c.verdict, events.c.reason)
        .join(standing, standing.c.id == events.c.id)
        .join(items, items.c.id == events.c.item)
    )
    if suite is not None:
        kept = select(item_suites.c.item).where(item_suites.c.suite == suite)
        query = query.where(items.c.id.in_(kept))
    judged: dict[tuple[str, str], set[str]] = {}
    clips: dict[tuple[str, str], set[str]] = {}
    reasons: dict[tuple[str, str], Counter[str]] = {}
    for scenario, category, item, verdict, reason in connection.execute(query):
        judged.setdefault((scenario, category), set()).add(item)
        if verdict == UNABLE:
            clips.setdefault((scenario, category), set()).add(item)
            reasons.setdefault((scenario, category), Counter())[reason] += 1
    found = [
        Unable(*key, len(some), len(judged[key]), tuple(reasons[key].most_common()))
        for key, some in clips.items()
    ]
    return sorted(found, key=lambda one: (-one.clips, one.scenario))
