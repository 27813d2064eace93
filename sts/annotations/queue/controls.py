"""Pauses of a suite, a category or a person; the latest entry for each is in force."""

from typing import NamedTuple

from sqlalchemy import Connection, insert, select

from sts.annotations.database.schema import controls, item_suites, items
from sts.annotations.log.changes import PAUSE, record_changes
from sts.annotations.log.closings import find_closing
from sts.annotations.people import people
from sts.annotations.people.exclusions import is_excluded
from sts.annotations.queue.queue import list_suites
from sts.annotations.study import StudySettings, base_suite
from sts.errors import UnknownName

_MAX_REASON_CHARS = 500


class Control(NamedTuple):
    """A pause (value 1) or its end (0), of a scope or a person, made at a time in UTC seconds.

    A scope is an enqueued suite or part of one, optionally followed by `/CATEGORY`; "" for a
    person. `author_id` is the number of the person who made it, None for the command line or an
    automatic pause.
    """

    scope: str
    person: int | None
    value: int
    reason: str
    author_id: int | None
    created_at: float


class EffectiveSettings(NamedTuple):
    """The pauses and priorities in force for one person in one suite.

    `paused` is True if they get nothing at all, also because a lead has closed the suite or
    excluded them. Clips of `paused_scopes` are not assigned; `priorities` are scopes and their
    priorities, highest first.
    """

    paused: bool
    paused_scopes: tuple[str, ...]
    priorities: tuple[tuple[str, int], ...]


def set_pause(
    connection: Connection,
    scope: str = "",
    *,
    annotator_id: int | None = None,
    author_id: int | None = None,
    reason: str = "",
    now: float,
    resume: bool = False,
) -> None:
    """Pause, or resume, the assignment of a suite or category, or assignments to a person.

    A person keeps the clip that they are watching; the clips queued behind it are released. The
    connection must be the only writer. A scope is `NAME@VERSION` or `NAME@VERSION/CATEGORY`.
    `author_id` is the number of the person who does it, None for the command line or an automatic
    pause.

    Raises:
      UnknownName: nothing of that suite or category is enqueued.
    """
    if scope:
        _check_scope(connection, scope)
    if annotator_id is not None:
        people.lock_person(connection, annotator_id)
    record_changes(connection, annotator_id, PAUSE, [(scope, int(not resume), author_id, now)])
    connection.execute(
        insert(controls).values(
            setting=PAUSE,
            scope=scope,
            person=annotator_id,
            value=int(not resume),
            reason=reason[:_MAX_REASON_CHARS],
            annotator=author_id,
            created=now,
        )
    )


def list_controls(connection: Connection) -> list[Control]:
    """List all pauses and resumptions, in order."""
    return [Control(*row) for row in connection.execute(_CONTROLS)]


_CONTROLS = (
    select(
        *(
            controls.c[name]
            for name in ("scope", "person", "value", "reason", "annotator", "created")
        )
    )
    .where(controls.c.setting == PAUSE)
    .order_by(controls.c.id)
)


def list_pauses(connection: Connection) -> list[Control]:
    """List the pauses in force."""
    last = {(control.scope, control.person): control for control in list_controls(connection)}
    return [control for control in last.values() if control.value]


def effective_settings(
    connection: Connection, study: StudySettings, suite: str, annotator_id: int
) -> EffectiveSettings:
    """Return the pauses and priorities in force for a person in a suite."""
    scopes = {
        control.scope
        for control in list_pauses(connection)
        if (_is_in_suite(control.scope, suite) if control.scope else control.person == annotator_id)
    }
    priorities = [(scope, n) for scope, n in study.priority.items() if _is_in_suite(scope, suite)]
    everything = {"", suite, base_suite(suite)}
    return EffectiveSettings(
        bool(scopes & everything)
        or find_closing(connection, suite) is not None
        or is_excluded(connection, annotator_id),
        tuple(sorted(scopes - everything)),
        tuple(sorted(priorities, key=lambda priority: (-priority[1], priority[0]))),
    )


def _is_in_suite(scope: str, suite: str) -> bool:
    return base_suite(scope.partition("/")[0]) == base_suite(suite)


def _check_scope(connection: Connection, scope: str) -> None:
    suite, slash, category = scope.partition("/")
    suites = list_suites(connection)
    if suite not in suites:
        raise UnknownName("queued suite", suite, suites)
    if slash:
        categories = connection.scalars(
            select(items.c.category)
            .join(item_suites, item_suites.c.item == items.c.id)
            .where(item_suites.c.suite == suite)
            .distinct()
        ).all()
        if category not in categories:
            raise UnknownName(f"enqueued category of {suite}", category, sorted(categories))
