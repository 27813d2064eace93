"""Annotators' accuracy on references over time, and automatic pauses.

Judgements by the instruction alone count only on references whose truth comes from people, and
judgements that made a truth never.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, case, func, select

from sts.annotations.answers.current_events import load_current_events, select_current
from sts.annotations.database.schema import annotators, events, reference_items
from sts.annotations.log.events import JUDGEMENT_KINDS
from sts.annotations.queue import controls
from sts.annotations.queue.references import is_reference
from sts.annotations.study import StudySettings
from sts.ratings import MARKED_VERDICTS, PEOPLE, UNABLE

BLOCK_SIZE = 20
"""Number of references in one block of accuracy over time."""
_TAIL = 0.025


class Accuracy(NamedTuple):
    """Accuracy on references, comparing success with not success; "cannot judge" is left out.

    The interval is the 95% Jeffreys interval; without answers, both share and interval are None.
    """

    answered: int
    right: int
    share: float | None
    interval: tuple[float, float] | None


def measure_accuracy(answers: Sequence[bool]) -> Accuracy:
    """Count correct answers, and compute the share and its Jeffreys interval.

    Source: Brown, Cai and DasGupta 2001, Stat. Sci. 16:101.
    """
    number, good = len(answers), sum(answers)
    if not number:
        return Accuracy(0, 0, None, None)
    from scipy.stats import beta

    shape = beta(good + 0.5, number - good + 0.5)
    interval = (float(shape.ppf(_TAIL)), float(shape.ppf(1 - _TAIL)))
    return Accuracy(number, good, good / number, interval)


class AnnotatorQuality(NamedTuple):
    """One person's accuracy on all references, and on each `BLOCK_SIZE` of them in order.

    `latest` covers the last `BLOCK_SIZE` since they were last resumed after a pause; they are
    flagged if its whole interval is below `min_accuracy`.
    """

    annotator: str
    right: Accuracy
    blocks: tuple[Accuracy, ...]
    latest: Accuracy
    flagged: bool


def list_qualities(connection: Connection, study: StudySettings) -> list[AnnotatorQuality]:
    """List the quality of everyone who has judged a reference, by name."""
    people = connection.execute(
        select(annotators.c.id, annotators.c.name)
        .where(annotators.c.id.in_(select(events.c.annotator)))
        .order_by(annotators.c.name)
    )
    qualities = [measure_quality(connection, study, row.id, row.name) for row in people]
    return [quality for quality in qualities if quality.right.answered]


def measure_quality(
    connection: Connection, study: StudySettings, annotator_id: int, name: str = ""
) -> AnnotatorQuality:
    """Measure one person's accuracy on references."""
    answers = _load_answers(connection, annotator_id)
    correct = [good for _, good in answers]
    resumed = (
        control.created_at
        for control in controls.list_controls(connection)
        if control.person == annotator_id and not control.value
    )
    since = max(resumed, default=0.0)
    latest = measure_accuracy([good for at, good in answers if at > since][-BLOCK_SIZE:])
    flagged = latest.interval is not None and latest.interval[1] < study.min_accuracy
    blocks = [correct[at : at + BLOCK_SIZE] for at in range(0, len(correct), BLOCK_SIZE)]
    return AnnotatorQuality(
        name, measure_accuracy(correct), tuple(map(measure_accuracy, blocks)), latest, flagged
    )


def pause_if_inaccurate(
    connection: Connection, annotator_id: int, study: StudySettings, now: float
) -> bool:
    """Pause a person who is flagged, if the study says so; return True if it did.

    They are assigned nothing more until the lead resumes them; only references that they judge
    after that count towards the next pause.
    """
    if not study.pause_low_accuracy:
        return False
    quality = measure_quality(connection, study, annotator_id)
    paused = {control.person for control in controls.list_pauses(connection)}
    if not quality.flagged or annotator_id in paused:
        return False
    reason = (
        f"{quality.latest.right} of the last {quality.latest.answered} references right, "
        f"which is below {study.min_accuracy:.0%}"
    )
    controls.set_pause(connection, annotator_id=annotator_id, reason=reason, now=now)
    return True


def load_outcomes(connection: Connection, suite: str | None = None) -> list[tuple[str, str, bool]]:
    """Load judgements of agents' clips: clip, person, True for success.

    As in reports, a clip is another one under each condition of the deal.
    """
    counted = ~is_reference(events.c.item), events.c.verdict != UNABLE
    current = load_current_events(connection, *counted, suite=suite)
    return [
        (f"{event.item} {event.rubric_shown}", event.author, event.verdict == MARKED_VERDICTS[0])
        for event in current
    ]


def _load_answers(connection: Connection, annotator_id: int) -> list[tuple[float, bool]]:
    """Load a person's answers to references: time of the first answer, True if it is right."""
    current, earlier = select_current(excluded=True), events.alias("first")
    first_received = (
        select(func.min(earlier.c.received))
        .where(
            earlier.c.item == events.c.item,
            earlier.c.annotator == annotator_id,
            earlier.c.kind.in_(JUDGEMENT_KINDS),
        )
        .scalar_subquery()
    )
    rows = connection.execute(
        select(first_received, events.c.verdict, reference_items.c.truth)
        .join(current, current.c.id == events.c.id)
        .join(reference_items, reference_items.c.item == events.c.item)
        .where(
            events.c.annotator == annotator_id,
            events.c.verdict != UNABLE,
            case(
                (reference_items.c.source == PEOPLE, first_received > reference_items.c.added),
                else_=events.c.rubric_shown == 1,
            ),
        )
        .order_by(first_received, events.c.id)
    )
    success = MARKED_VERDICTS[0]
    return [(at, (verdict == success) == (truth == success)) for at, verdict, truth in rows]
