"""Reviewers' events about clips, and the rules on who may submit which event."""

from sqlalchemy import Connection, bindparam, exists, select

from sts.annotations.answers.current_events import CurrentEvent, load_current_events
from sts.annotations.database.schema import events
from sts.annotations.log.events import ADJUDICATION, JUDGEMENT_KINDS, REVIEWERS, Event, is_judgement
from sts.annotations.people.people import has_played
from sts.annotations.queue.references import is_reference

ERRORS = {
    "imprecise": ("player", "tried and missed, through clumsiness or inattention"),
    "out_of_time": ("player", "was on the way, but ran out of time"),
    "empty": ("player", "made no attempt"),
    "control": ("player", "had trouble with the controls"),
    "annotation_mistake": ("annotator", "succeeded, but was marked as a failure by mistake"),
    "rigidity": ("annotator", "succeeded well enough; the annotator was too strict"),
    "ambiguity": ("annotator", "the instruction allows both success and failure"),
    "fair": ("none", "the judgement is right, and no other type fits: it did something else"),
}
"""Each error type of a review, with who made the error, and its meaning for reviewers.

The last one means that the judgement is right and none of the other types applies: an agent that
does something other than asked makes none of the errors that people make.
"""


def load_adjudications(connection: Connection, suite: str | None = None) -> dict[str, CurrentEvent]:
    """Load the current adjudication of each item of a suite, or of all items, that has one."""
    current = load_current_events(connection, kinds=[ADJUDICATION], per_person=False, suite=suite)
    return {event.item: event for event in current}


def load_by_item(
    connection: Connection, kind: str, suite: str | None = None
) -> dict[str, list[CurrentEvent]]:
    """Load everyone's current reviews or notes, by item, earliest first."""
    by_item: dict[str, list[CurrentEvent]] = {}
    for event in load_current_events(connection, kinds=[kind], suite=suite):
        by_item.setdefault(event.item, []).append(event)
    return by_item


_HAS_REVIEWED = select(
    exists().where(
        events.c.annotator == bindparam("annotator"),
        events.c.item == bindparam("item"),
        events.c.kind.in_(REVIEWERS),
    )
)


def find_obstacle(connection: Connection, annotator_id: int, event: Event) -> str:
    """Return the reason why a person may not submit this event, or "".

    A person may not both judge and review a clip, in either order.
    """
    by_person = events.c.annotator == annotator_id, events.c.item == event.item
    if event.kind in JUDGEMENT_KINDS:
        parameters = {"annotator": annotator_id, "item": event.item}
        has_reviewed = connection.execute(_HAS_REVIEWED, parameters).scalar_one()
        return "this annotator has reviewed this item and may not judge it" if has_reviewed else ""
    if event.kind not in REVIEWERS:
        return ""
    for problem, condition in (
        ("is a reference, whose verdict is known", is_reference(event.item)),
        (
            "was judged by this reviewer; leave it to another reviewer",
            exists().where(*by_person, is_judgement()),
        ),
        (
            "was played by this reviewer; leave it to another reviewer",
            has_played(event.item, annotator_id),
        ),
    ):
        if connection.execute(select(condition)).scalar_one():
            return f"this item {problem}"
    judged = select(exists().where(events.c.item == event.item, is_judgement()))
    return "" if connection.execute(judged).scalar_one() else "this item has no judgements yet"
