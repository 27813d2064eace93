"""What the lead changes while people judge: pauses and priorities, the last said of each stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, exists, insert, select

from sts.annotations.schema import annotators, controls, item_suites, items
from sts.annotations.study import Study, whole
from sts.errors import ArgumentError, UnknownName

PAUSE, PRIORITY = "pause", "priority"
_REASON_LIMIT = 500


class Control(NamedTuple):
    """One setting that was changed while people judge.

    Attributes:
      setting: pause or priority.
      scope: `NAME@VERSION`, a part of it as it is enqueued, or either with `/CATEGORY`; "" where it
        is of a person.
      person: whose number, or None.
      value: 1 for a pause, 0 for its end; the priority.
      reason: as it was given.
      by: the number of who did it, None for the command line or the study's own rule.
      made: UTC seconds.
    """

    setting: str
    scope: str
    person: int | None
    value: int
    reason: str
    by: int | None
    made: float


class Standing(NamedTuple):
    """What stands for one person under one suite.

    Attributes:
      paused: nothing is given to them there.
      left_out: scopes inside the suite of which nothing is given.
      first: what comes first: scopes with their priorities, the highest first.
      changed: when a priority was last changed, UTC seconds.
    """

    paused: bool
    left_out: tuple[str, ...]
    first: tuple[tuple[str, int], ...]
    changed: float


def append(connection: Connection, control: Control) -> None:
    """Appends a control; it stands from now on.

    Raises:
      ArgumentError: it is of neither a scope nor a person.
      UnknownName: nothing of that suite or category is enqueued, or there is no such person.
    """
    if bool(control.scope) == (control.person is not None):
        raise ArgumentError("expected a suite, a category of one, or a person; name one of them")
    if control.scope:
        _check_scope(connection, control.scope)
    if control.person is not None:
        known = list(connection.scalars(select(annotators.c.id)))
        if control.person not in known:
            raise UnknownName("annotator number", str(control.person), map(str, known))
    values = control._asdict()
    values["annotator"] = values.pop("by")
    values["reason"] = control.reason[:_REASON_LIMIT]
    connection.execute(insert(controls).values(**values))


def every(connection: Connection) -> list[Control]:
    """Returns everything that was ever said, in order."""
    rows = connection.execute(_EVERY)
    return [
        Control(r.setting, r.scope, r.person, r.value, r.reason, r.annotator, r.made) for r in rows
    ]


_EVERY = select(controls).order_by(controls.c.id)


def last(controls: Iterable[Control]) -> list[Control]:
    """Returns what stands: the last of each setting, scope and person, in their order."""
    return list({(c.setting, c.scope, c.person): c for c in controls}.values())


def standing(connection: Connection, study: Study, suite: str, person: int) -> Standing:
    """Returns what stands for a person under a suite; what the study says holds until changed."""
    found = [one for one in last(every(connection)) if _concerns(one, suite, person)]
    paused = {one.scope for one in found if one.setting == PAUSE and one.value}
    changes = [one for one in found if one.setting == PRIORITY]
    first: Mapping[str, int] = {
        scope: number for scope, number in study.priority.items() if _inside(scope, suite)
    } | {one.scope: one.value for one in changes}
    return Standing(
        bool(paused & {"", suite, whole(suite)}),
        tuple(sorted(paused - {"", suite, whole(suite)})),
        tuple(sorted(first.items(), key=lambda pair: (-pair[1], pair[0]))),
        max((one.made for one in changes), default=0.0),
    )


def _concerns(control: Control, suite: str, person: int) -> bool:
    if control.scope:
        return _inside(control.scope, suite)
    return control.person == person


def _inside(scope: str, suite: str) -> bool:
    return whole(scope.partition("/")[0]) == whole(suite)


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
