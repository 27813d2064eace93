"""Scenarios that annotators could not judge, with the reasons they gave."""

from collections import Counter
from typing import NamedTuple

from sqlalchemy import Connection

from sts.annotations.answers.current_events import load_current_events
from sts.ratings import UNABLE


class UnjudgeableScenario(NamedTuple):
    """A scenario with clips that someone could not judge, out of its `judged` clips.

    `reasons` are annotators' texts and their counts, the most frequent first.
    """

    scenario: str
    category: str
    clips: int
    judged: int
    reasons: tuple[tuple[str, int], ...]


def list_unjudgeable(connection: Connection, suite: str | None = None) -> list[UnjudgeableScenario]:
    """List the scenarios that annotators could not judge, those with most such clips first.

    `suite` is an enqueued suite, or part of one; None covers everything.
    """
    judged: dict[tuple[str, str], set[str]] = {}
    clips: dict[tuple[str, str], set[str]] = {}
    reasons: dict[tuple[str, str], Counter[str]] = {}
    for event in load_current_events(connection, suite=suite):
        key = event.scenario, event.category
        judged.setdefault(key, set()).add(event.item)
        if event.verdict == UNABLE:
            clips.setdefault(key, set()).add(event.item)
            reasons.setdefault(key, Counter())[event.reason] += 1
    scenarios = [
        UnjudgeableScenario(*key, len(items), len(judged[key]), tuple(reasons[key].most_common()))
        for key, items in clips.items()
    ]
    return sorted(scenarios, key=lambda scenario: (-scenario.clips, scenario.scenario))
