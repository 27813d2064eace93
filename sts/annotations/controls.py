"""Pauses of a suite, a category or a person while people judge; the last of each stands."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, exists, insert, select

from sts.annotations.schema import annotators, controls, item_suites, items
from sts.annotations.study import Study, base_suite
from sts.errors import ArgumentError, UnknownName

PAUSE = "pause"
_MAX_REASON_CHARS = 500


class Control(NamedTuple):
    """A pause (value 1) or its end (0), of a scope or a person, made at a time in UTC seconds.

    A scope is `NAME@VERSION`, a part of it as it is enqueued, or either with `/CATEGORY`; "" for a
    person. `by` is the number of who did it, None for the command line or the study's own rule.
    """

    scope: str
    person: int | None
    value: int
    reason: str
    by: int | None
    made: float


class EffectiveSettings(NamedTuple):
    """What stands for one person under one suite: whether all is paused for them.

    Of the scopes in `left_out` nothing is given; `first` are those with a priority, highest first.
    """

    paused: bool
    paused_scopes: tuple[str, ...]
    priorities: tuple[tuple[str, int], ...]


def pause(
    connection: Connection,
    scope: str = "",
    *,
    person: int | None = None,
    by: int | None = None,
    reason: str = "",
    now: float,
    resume: bool = False,
) -> None:
    """Give nothing of a suite or category, or nothing to a person, until that is resumed.

    What somebody has before their eyes stays theirs; what waits behind it is given back. The
    connection is alone in writing. A scope is `NAME@VERSION` or `NAME@VERSION/CATEGORY`; `by` is
    the number of who pauses, None for the command line or the study's own rule.

    Raises:
      ArgumentError: it is of neither a scope nor a person.
      UnknownName: nothing of that suite or category is enqueued, or there is no such person.
    """
    if bool(scope) == (person is not None):
        raise ArgumentError("expected a suite, a category of one, or a person; name one of them")
    if scope:
        _check_scope(connection, scope)
    if person is not None:
        known = list(connection.scalars(select(annotators.c.id)))
        if person not in known:
            raise UnknownName("annotator number", str(person), map(str, known))
    connection.execute(
        insert(controls).values(
            setting=PAUSE,
            scope=scope,
            person=person,
            value=int(not resume),
            reason=reason[:_MAX_REASON_CHARS],
            annotator=by,
            made=now,
        )
    )


def list_controls(connection: Connection) -> list[Control]:
    """Return every pause and every end of one, in order."""
    return [Control(*row) for row in connection.execute(_CONTROLS)]


_CONTROLS = (
    select(
        *(controls.c[name] for name in ("scope", "person", "value", "reason", "annotator", "made"))
    )
    .where(controls.c.setting == PAUSE)
    .order_by(controls.c.id)
)


def paused(connection: Connection) -> list[Control]:
    """Return the pauses that have not ended."""
    last = {(one.scope, one.person): one for one in list_controls(connection)}
    return [one for one in last.values() if one.value]


def effective_settings(
    connection: Connection, study: Study, suite: str, person: int
) -> EffectiveSettings:
    """Return the pauses and priorities in force for a person under a suite."""
    scopes = {one.scope for one in paused(connection) if _applies_to(one, suite, person)}
    first = [pair for pair in study.priority.items() if _is_in_suite(pair[0], suite)]
    return EffectiveSettings(
        bool(scopes & {"", suite, base_suite(suite)}),
        tuple(sorted(scopes - {"", suite, base_suite(suite)})),
        tuple(sorted(first, key=lambda pair: (-pair[1], pair[0]))),
    )


def _applies_to(control: Control, suite: str, person: int) -> bool:
    if control.scope:
        return _is_in_suite(control.scope, suite)
    return control.person == person


def _is_in_suite(scope: str, suite: str) -> bool:
    return base_suite(scope.partition("/")[0]) == base_suite(suite)


def _check_scope(connection: Connection, scope: str) -> None:
    suite, slash, category = scope.partition("/")
    kept = item_suites.c.suite == suite
    if not connection.execute(select(exists().where(kept))).scalar_one():
        known = connection.scalars(select(item_suites.c.suite).distinct())
        raise UnknownName("enqueued suite", suite, sorted(known))
    if slash:
        there = connection.scalars(
            select(items.c.category)
            .join(item_suites, item_suites.c.item == items.c.id)
            .where(kept)
            .distinct()
        ).all()
        if category not in there:
            raise UnknownName(f"enqueued category of {suite}", category, sorted(there))
