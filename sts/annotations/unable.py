"""Scenarios that annotators could not judge, with the reasons they gave."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from sqlalchemy import Connection

from sts.annotations.remarks import load_current_events
from sts.ratings import UNABLE


class Unable(NamedTuple):
    """A scenario with clips that someone could not judge, out of its `judged` clips.

    `reasons` are annotators' texts and their counts, the most frequent first.
    """

    scenario: str
    category: str
    clips: int
    judged: int
    reasons: tuple[tuple[str, int], ...]


def unable(connection: Connection, suite: str | None = None) -> list[Unable]:
    """List the scenarios that annotators could not judge, those with most such clips first.

    `suite` is an enqueued suite, or part of one; None covers everything.
    """
    judged: dict[tuple[str, str], set[str]] = {}
    clips: dict[tuple[str, str], set[str]] = {}
    reasons: dict[tuple[str, str], Counter[str]] = {}
    for one in load_current_events(connection, suite=suite):
        key = one.scenario, one.category
        judged.setdefault(key, set()).add(one.item)
        if one.verdict == UNABLE:
            clips.setdefault(key, set()).add(one.item)
            reasons.setdefault(key, Counter())[one.reason] += 1
    found = [
        Unable(*key, len(some), len(judged[key]), tuple(reasons[key].most_common()))
        for key, some in clips.items()
    ]
    return sorted(found, key=lambda one: (-one.clips, one.scenario))
