"""The planned and judged clips of a suite, and its early closing by a study lead."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from sqlalchemy import Connection, Select, func, select

from sts.annotations.answers.submissions import MAX_TEXT_CHARS
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.schema import anchors, copies, events, items
from sts.annotations.log.closings import ClosingEvent, load_closing_events
from sts.annotations.log.events import CLOSING, REOPENING, append_suite_event
from sts.annotations.log.looks import load_race
from sts.annotations.people.exclusions import is_counted
from sts.annotations.queue import references
from sts.annotations.races import Race
from sts.annotations.records import Annotator
from sts.annotations.vault import history
from sts.annotations.vault.history import ClipRecord
from sts.errors import ArgumentError
from sts.names import format_time, is_one_line, quote
from sts.storage.workspace import Workspace
from sts.suites import frozen


class Plan(NamedTuple):
    """The planned and judged clips of a suite; see `load_plan`."""

    planned_clips: int
    judged_clips: int
    number: int  # 1, or higher if clips were added after a final conclusion
    closed: ClosingEvent | None  # the decision that closed the suite early
    skipped_clips: int = 0  # planned ones that lack a judgement, and all their agents have left
    race: Race = Race()  # the looks at which agents left


def load_plan(workspace: Workspace, suite: str, hashes: Collection[str]) -> Plan:
    """Load the plan of a suite, or of a part of it.

    **Planned** are the clips of the suite's scenarios that are queued for people, for this suite or
    another one with the same scenarios: those that need at least one judgement. References,
    auto-resolved clips that no annotator has judged, and clips that a new version of the rubric
    has replaced are not planned. Continuations that look and sound the same are one clip.

    **Judged** are the planned clips that have a judgement by as many people as they need. "Cannot
    judge" is a judgement; those of excluded people do not count. An anchor needs one more judgement
    from the time it is opened. **Skipped** are clips that are not judged, and all of whose agents
    have left the race; they count as judged when the last one left.

    **The number of the plan** is 1 plus the number of times that clips were added after the
    conclusion on all clips planned before was final: all of them were judged, or a lead had closed
    the suite since the last clips were added, even if it was reopened. It follows from the time at
    which each clip was added, each anchor opened and each judgement received. Changes of other
    settings have no time in the database: if a clip needs more judgements than it did when clips
    were added, it counts as unjudged at that time, and the number may be too low.

    Args:
      workspace: not changed; no store is created.
      suite: `NAME@VERSION`.
      hashes: of the scenarios of the suite to count.

    Returns:
      The plan; without a store or queued clips it is number 1, with zero clips. A closing is
      always of the whole suite.

    Raises:
      StoreError: the store exists and cannot be read.
    """
    with AnnotationStore.read_existing(workspace) as connection:
        if connection is None:
            return Plan(0, 0, 1, None)
        history.set_snapshot_isolation(connection)
        return read_plan(connection, suite, hashes)


def load_scenario_hashes(workspace: Workspace, suite: str) -> set[str]:
    """Load the hashes of a suite's scenarios."""
    return {scenario.hash for scenario in frozen.load(workspace, suite).scenarios}


def read_plan(connection: Connection, suite: str, hashes: Collection[str]) -> Plan:
    """Read the plan of a suite's scenarios, given by hash; see `load_plan`."""
    race = load_race(connection, suite)
    clips, skipped = _load_clips(connection, hashes, race)
    judged = sum(all(need.judged < math.inf for need in clip) for clip in clips) - skipped
    decisions = load_closing_events(connection, suite)
    closings = [decision.received for decision in decisions if decision.kind == CLOSING]
    closed = decisions[-1] if decisions and decisions[-1].kind == CLOSING else None
    return Plan(len(clips), judged, _count_plans(clips, closings), closed, skipped, race)


def close_suite(
    connection: Connection,
    suite: str,
    hashes: Collection[str],
    lead: Annotator,
    reason: str,
    *,
    reopen: bool = False,
    now: float,
) -> Plan:
    """Close a suite's study early, or reopen it, and return its plan after that.

    The connection must be the only writer.

    Raises:
      ArgumentError: no planned clip is judged, or all are; or the suite is in that state already.
    """
    plan = read_plan(connection, suite, hashes)
    if problem := _find_obstacle(plan, suite, reopen):
        raise ArgumentError(problem)
    kind = REOPENING if reopen else CLOSING
    append_suite_event(connection, lead.id, suite, kind, reason, now=now)
    return read_plan(connection, suite, hashes)


def validate_reason(reason: str) -> str:
    """Validate the reason of a closing and return it without surrounding spaces."""
    reason = reason.strip()
    if not reason or not is_one_line(reason, MAX_TEXT_CHARS):
        raise ArgumentError(
            f"reason: expected one line of 1 to {MAX_TEXT_CHARS} printable characters, "
            f"found {quote(reason)}"
        )
    return reason


def _find_obstacle(plan: Plan, suite: str, reopen: bool) -> str:
    """Return the reason why a suite cannot be closed or reopened, or ""."""
    if reopen:
        return "" if plan.closed else f"{suite} is not closed, so it cannot be reopened"
    if plan.closed:
        return (
            f"{suite} has been closed since {format_time(plan.closed.received)} UTC; use --reopen "
            "to withdraw that"
        )
    if not plan.judged_clips:
        return f"{suite} has no judged clip among {plan.planned_clips} planned; judge some first"
    if plan.judged_clips == plan.planned_clips:
        return f"{suite} is complete: all {plan.planned_clips} planned clips are judged"
    if plan.judged_clips + plan.skipped_clips == plan.planned_clips:
        return f"{suite} is complete: all pairs of agents are resolved"
    return ""


class _Requirement(NamedTuple):
    """The judgements that a clip needs as queued, or the one more that it needs as an anchor."""

    planned: float  # time at which the clip was added or the anchor opened, UTC seconds
    judged: float  # time of the last of these judgements; infinite if it is missing


_Clip = Sequence[_Requirement]
"""The requirements of one clip in order; the first is planned when the clip is added."""


def _load_clips(
    connection: Connection, hashes: Collection[str], race: Race
) -> tuple[list[_Clip], int]:
    """Load the planned clips of scenarios, given by hash, and count those that are skipped."""
    names = ("id", "continuation", "clip", "rubric", "added", "annotations_required")
    columns = (items.c[name] for name in (*names, "scenario_hash"))
    counted = ~references.is_reference(items.c.id)
    rows = [
        row
        for row in connection.execute(select(*columns).where(counted)).all()
        if row.scenario_hash in hashes
    ]
    clips = {row.id: ClipRecord(*row[:4]) for row in rows}
    # A clip that moves to a new version of its rubric, unjudged, is not added again.
    moved = dict[str, float]()
    for row in rows:
        if clips[row.id].is_superseded:
            shown = clips[row.id].shown_hash
            moved[shown] = min(row.added, moved.get(shown, row.added))
    opened = _load_times(connection, _ANCHORS)
    judged = _load_times(connection, _FIRST_JUDGEMENTS)
    left = _find_leaving_times(connection, race)
    planned, skipped = [], 0
    for row in rows:
        if not row.annotations_required:
            continue
        added = moved.get(clips[row.id].shown_hash, row.added)
        times = judged[row.id]
        lacking = row.annotations_required - len(times)
        if lacking > 0 and row.id in left:
            skipped += 1
            times = [*times, *[left[row.id]] * lacking]
        planned.append(_list_requirements(added, row.annotations_required, opened[row.id], times))
    return planned, skipped


def _find_leaving_times(connection: Connection, race: Race) -> dict[str, float]:
    """Find the clips of which all agents have left, with the time of the last one, UTC seconds."""
    if not race.out:
        return {}
    left = {agent: look.at for look in race.effective for agent in look.leaving}
    times: dict[str, float] = {}
    for item, agent in connection.execute(select(copies.c.item, copies.c.agent)):
        own = left[agent] if agent in race.out else math.inf
        times[item] = max(own, times.get(item, 0.0))
    return {item: time for item, time in times.items() if time < math.inf}


_ANCHORS = select(anchors.c.item, anchors.c.opened)
_FIRST_JUDGEMENTS = (
    select(events.c.item, func.min(events.c.received))
    .where(is_counted())
    .group_by(events.c.item, events.c.annotator)
)
"""The time of each person's first judgement of each item, except for excluded people."""


def _load_times(connection: Connection, query: Select[str, float]) -> defaultdict[str, list[float]]:
    """Return the times that a query finds, by item, in order."""
    times = defaultdict[str, list[float]](list)
    for item, time in connection.execute(query).all():
        times[item].append(time)
    for found in times.values():
        found.sort()
    return times


def _list_requirements(
    added: float, required: int, opened: Sequence[float], judged: Sequence[float]
) -> _Clip:
    """Return the requirements of a clip from the times of its anchors and judgements."""
    queued = required - len(opened)
    return [
        _Requirement(planned, judged[number - 1] if number <= len(judged) else math.inf)
        for number, planned in enumerate((added, *opened), start=queued)
    ]


def _count_plans(clips: Iterable[_Clip], closings: Sequence[float]) -> int:
    """Count the plans, of which each starts after the conclusion on the earlier ones was final."""
    needs = sorted((need.planned, need.judged, need is clip[0]) for clip in clips for need in clip)
    number, is_final = 0, False
    last_planned = last_judged = -math.inf
    for planned, group in groupby(needs, itemgetter(0)):
        members = list(group)
        is_final |= last_judged < planned
        is_final |= any(last_planned <= time < planned for time in closings)
        if any(adds_clip for _, _, adds_clip in members):
            number, is_final = number + is_final, False
        last_planned, last_judged = planned, max(last_judged, *(judged for _, judged, _ in members))
    return max(number, 1)
