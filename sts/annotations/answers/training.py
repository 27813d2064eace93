"""Training of new annotators on references, with feedback after each answer.

Answers in training are not judgements: they have a table of their own, and neither accuracy nor
anything else uses them. References used in a person's training are never assigned to them later.
They come from categories whose texts the person sees.
"""

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import Connection, exists, insert, select

from sts.annotations.answers import submissions
from sts.annotations.database.schema import claims, events, items, reference_items, training
from sts.annotations.draws import unit_hash
from sts.annotations.log.events import VERDICT, Event
from sts.annotations.people import deal, people
from sts.annotations.queue import references
from sts.annotations.study import StudySettings


class TrainingItem(NamedTuple):
    """A reference to train on, with its known verdict, the marker's step, and an explanation."""

    item: str
    continuation: str
    horizon: int
    category: str
    truth: str
    step: int | None
    note: str


class TrainingProgress(NamedTuple):
    """A person's progress in training.

    `answered` and `agreed` count the current round of `size` references, of which a `share` must
    agree; `rounds` were finished without passing. `items` are the rest of the round; if they are
    empty although training is needed, no references are left.
    """

    needed: bool
    size: int
    answered: int
    agreed: int
    share: float
    rounds: int
    items: tuple[TrainingItem, ...]


class Feedback(NamedTuple):
    """Feedback on an answer: a message, and the known verdict and its step."""

    uuid: str
    message: str
    truth: str
    step: int | None


def save_answer(
    connection: Connection, annotator_id: int, sent: object, *, study: StudySettings, now: float
) -> Feedback | None:
    """Store an answer to a lesson and return feedback; return None if it does not answer one.

    That is the case if its item is not a current lesson or `submissions` would reject it; pass it
    to `submissions.save_submissions`, which reports what is wrong.
    """
    if not isinstance(sent, Mapping):
        return None
    people.lock_person(connection, annotator_id)
    stored = _find_answer(connection, annotator_id, sent.get("uuid"))
    if stored is not None:
        return _make_feedback(connection, study, annotator_id, *stored)
    current = load_progress(connection, annotator_id, study=study).items
    lessons = {lesson.item: lesson for lesson in current}
    try:
        event = submissions.parse_event(sent, {lesson.item: lesson.horizon for lesson in current})
    except submissions.Rejection:
        return None
    if event.kind != VERDICT or event.item not in lessons:
        return None
    lesson = lessons[event.item]
    row = {name: getattr(event, name) for name in ("item", "uuid", "verdict", "step", "seconds")}
    row |= {"annotator": annotator_id, "agrees": int(event.verdict == lesson.truth)}
    connection.execute(insert(training), row | {"received": now})
    return _make_feedback(connection, study, annotator_id, event, lesson)


def describe_missing_references(connection: Connection, *, study: StudySettings) -> str:
    """Return a one-line reason if the training that a study asks for cannot happen, else ""."""
    if not study.training or references.list_references(connection):
        return ""
    return (
        f"workspace.toml sets training = {study.training}, but there are no references to train "
        "on; add some with sts references add CONTINUATION --verdict VERDICT"
    )


def load_progress(
    connection: Connection, annotator_id: int, *, study: StudySettings
) -> TrainingProgress:
    """Return a person's progress in training.

    Only people without any judgement need it, and only if there are references.
    """
    if not study.training:
        return TrainingProgress(False, 0, 0, 0, study.training_pass, 0, ())
    query = select(training.c.agrees).where(training.c.annotator == annotator_id)
    agreed = [bool(agrees) for agrees in connection.scalars(query.order_by(training.c.id))]
    pool = _load_training_items(connection, study, annotator_id)
    size = min(study.training, len(pool) + len(agreed))
    end = len(agreed) // size * size if size else 0
    rounds, current = [agreed[at : at + size] for at in range(0, end, size or 1)], agreed[end:]
    threshold = study.training_pass
    passed = any(sum(round_) >= threshold * size for round_ in rounds)
    judged = select(exists().where(events.c.annotator == annotator_id))
    needed = size > 0 and not passed and not connection.execute(judged).scalar_one()
    lessons = tuple(pool[: size - len(current)]) if needed else ()
    return TrainingProgress(
        needed, size, len(current), sum(current), threshold, len(rounds), lessons
    )


def start_round(
    connection: Connection, annotator_id: int, *, study: StudySettings
) -> TrainingProgress:
    """Return a person's progress like `load_progress`; they see the lessons' texts from now on."""
    people.lock_person(connection, annotator_id)
    progress = load_progress(connection, annotator_id, study=study)
    shown = {lesson.category: True for lesson in progress.items}
    deal.store_conditions(connection, annotator_id, shown)
    return progress


_TRAINING_ITEMS = select(
    *(items.c[name] for name in ("id", "continuation", "horizon", "category")),
    *(reference_items.c[name] for name in ("truth", "step", "note")),
).join(reference_items, reference_items.c.item == items.c.id)


def _load_training_items(
    connection: Connection, study: StudySettings, annotator_id: int
) -> list[TrainingItem]:
    """Load the references that a person has not met, in their own random order."""
    met = (
        exists().where(table.c.item == items.c.id, table.c.annotator == annotator_id)
        for table in (training, claims, events)
    )
    played = people.has_played(items.c.id, annotator_id)
    rows = connection.execute(_TRAINING_ITEMS.where(*(~condition for condition in met), ~played))
    order = ("training", study.seed, annotator_id)
    shown = deal.load_conditions(connection, annotator_id, study)
    lessons = (TrainingItem(*row) for row in rows if shown[row.category])
    return sorted(lessons, key=lambda lesson: unit_hash(*order, lesson.item))


def _find_answer(
    connection: Connection, annotator_id: int, uuid: object
) -> tuple[Event, TrainingItem] | None:
    """Return a stored answer and its lesson, by the answer's uuid, or None."""
    if not isinstance(uuid, str):
        return None
    is_answer = training.c.annotator == annotator_id, training.c.uuid == uuid
    row = connection.execute(select(training).where(*is_answer)).one_or_none()
    if row is None:
        return None
    lesson = connection.execute(_TRAINING_ITEMS.where(items.c.id == row.item)).one()
    return Event(uuid, row.item, VERDICT, row.verdict, row.step), TrainingItem(*lesson)


def _make_feedback(
    connection: Connection,
    study: StudySettings,
    annotator_id: int,
    event: Event,
    lesson: TrainingItem,
) -> Feedback:
    progress = load_progress(connection, annotator_id, study=study)
    parts = (_describe_comparison(event, lesson), lesson.note, _describe_outlook(progress))
    return Feedback(event.uuid, " ".join(filter(None, parts)), lesson.truth, lesson.step)


def _describe_comparison(event: Event, lesson: TrainingItem) -> str:
    """Describe whether an answer agrees with the known verdict, and how far off its marker is."""
    truth = _describe_verdict(lesson.truth, lesson.step)
    if event.verdict != lesson.truth:
        answer = _describe_verdict(str(event.verdict), event.step)
        return f"Not correct: the known answer is {truth}, yours was {answer}."
    if event.step is None or lesson.step is None or event.step == lesson.step:
        return f"Correct: {truth}."
    distance = event.step - lesson.step
    unit = "step" if abs(distance) == 1 else "steps"
    steps = f"{abs(distance)} {unit} {'late' if distance > 0 else 'early'}"
    return f"Correct: {lesson.truth}. Your marker is {steps}; it belongs at step {lesson.step}."


def _describe_verdict(verdict: str, step: int | None) -> str:
    return verdict.replace("_", " ") + (f" at step {step}" if step is not None else "")


def _describe_outlook(progress: TrainingProgress) -> str:
    """Describe what follows after an answer."""
    if not progress.needed:
        return "You passed the training. Your answers count from the next episode on."
    if not progress.items:
        return "You did not pass the training, and there are no episodes left to train on."
    if progress.answered == 0:
        return (
            "Too few answers of this round were correct. Another round follows, with new episodes."
        )
    return ""
