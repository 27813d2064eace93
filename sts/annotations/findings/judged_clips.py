"""Judged clips of a suite and the disagreements between their annotators, for review."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, exists, func, select

from sts.annotations.answers.current_events import CurrentEvent, load_current_events
from sts.annotations.database.schema import copies, events, item_suites
from sts.annotations.log.events import is_judgement
from sts.annotations.people.people import has_played
from sts.annotations.queue.references import is_reference
from sts.continuations.continuation import HUMAN
from sts.ratings import UNABLE

DISAGREEMENTS = OUTCOME, VERDICT, MARK = ("outcome", "verdict", "mark")
"""Disagreements about success, verdict or marker, the most important first."""


class JudgedClip(NamedTuple):
    """A clip of a suite with its current judgements, earliest first; at least one.

    It `has_human_player` if a person plays in one of the continuations that show it.
    """

    item: str
    continuation: str
    clip: str
    scenario: str
    has_human_player: bool
    verdicts: tuple[CurrentEvent, ...]

    @property
    def success_share(self) -> float | None:
        """Share of success among those who could judge the clip; None if none could."""
        counted = [event.verdict == "success" for event in self.verdicts if event.verdict != UNABLE]
        return fmean(counted) if counted else None


def load_judged_clips(connection: Connection, suite: str) -> list[JudgedClip]:
    """Load the judged clips of a suite, without references."""
    people = select(copies.c.item).where(
        copies.c.agent == HUMAN, _is_suite_item(suite, copies.c.item)
    )
    played = set(connection.scalars(people.distinct()))
    by_item: dict[str, list[CurrentEvent]] = {}
    for event in load_current_events(connection, _is_suite_item(suite, events.c.item)):
        by_item.setdefault(event.item, []).append(event)
    clips = []
    for item, verdicts in sorted(by_item.items()):
        first = verdicts[0]
        about = item, first.continuation, first.clip, first.scenario, item in played
        clips.append(JudgedClip(*about, tuple(verdicts)))
    return clips


def classify_disagreement(judgements: Sequence[CurrentEvent], tolerance: int) -> str:
    """Return the disagreement between a clip's annotators: one of `DISAGREEMENTS`, or "".

    Failure and not done are the same outcome. "Cannot judge" has no outcome, but differs from every
    other verdict. Markers of equal verdicts may be `tolerance` steps apart.
    """
    verdicts = {event.verdict for event in judgements}
    if "success" in verdicts and verdicts & {"failure", "not_done"}:
        return OUTCOME
    if len(verdicts) > 1:
        return VERDICT
    steps = [event.step for event in judgements if event.step is not None]
    return MARK if steps and max(steps) - min(steps) > tolerance else ""


def last_judgement_id(connection: Connection) -> int:
    """Return the number of the latest judgement; 0 before the first."""
    query = select(func.max(events.c.id)).where(is_judgement())
    return connection.execute(query).scalar_one() or 0


def items_by_person(connection: Connection, annotator_id: int, suite: str) -> set[str]:
    """Return the items that a person has judged or played, and so may not review."""
    item = item_suites.c.item
    judged = exists().where(
        events.c.item == item, events.c.annotator == annotator_id, is_judgement()
    )
    involved = item_suites.c.suite == suite, judged | has_played(item, annotator_id)
    return set(connection.scalars(select(item).where(*involved)))


def load_latest_by_others(
    connection: Connection, annotator_id: int, kind: str, item_ids: Collection[str]
) -> dict[str, CurrentEvent]:
    """Return the latest event of a kind by anyone else about each of these items."""
    by_others = events.c.item.in_(item_ids), events.c.annotator != annotator_id
    return {
        event.item: event for event in load_current_events(connection, *by_others, kinds=[kind])
    }


def shuffle_clips(clips: Iterable[JudgedClip], seed: int, purpose: str) -> list[JudgedClip]:
    """Return clips in a random order that depends only on the seed and the purpose."""
    return sorted(clips, key=lambda clip: random_key(seed, purpose, clip.clip))


def random_key(seed: int, purpose: str, text: str) -> bytes:
    """Return a hash to sort by, for a random order."""
    return hashlib.sha256(f"{seed} {purpose} {text}".encode()).digest()


def _is_suite_item(suite: str, item: ColumnElement[str]) -> ColumnElement[bool]:
    """Select items of a suite that are not references."""
    in_suite = exists().where(item_suites.c.suite == suite, item_suites.c.item == item)
    return in_suite & ~is_reference(item)
