"""Verification that no event was changed, lost or added behind the store's back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from sts.annotations import history
from sts.annotations.database import Database
from sts.annotations.schema import copies

_LINES = 20
"""Lines that a database is asked for of what it finds wrong with itself."""


class Verification(NamedTuple):
    """What was looked at, and what is wrong.

    Attributes:
      events: on chains.
      people: who have a chain.
      clips: that wait or were judged.
      continuations: what these stand for.
      references: continuations whose verdict is known.
      forgotten: events whose words were emptied.
      findings: a line each, none where nothing is wrong.
    """

    events: int
    people: int
    clips: int
    continuations: int
    references: int
    forgotten: int
    findings: tuple[str, ...]


def verify(database: Database) -> Verification:
    """Look at every event and reference, and at the chains that they stand in.

    Raises:
      StoreError: the database cannot be read.
    """
    with database.read() as connection:
        history.stand_still(connection)
        return look(connection)


def look(connection: Connection) -> Verification:
    """Look at every event and reference of a database; see `verify`."""
    found = history.read(connection)
    count = connection.execute(select(func.count()).select_from(copies)).scalar_one()
    return Verification(
        events=found.events,
        people=len(found.authors),
        clips=len(found.clips),
        continuations=count,
        references=len(found.references),
        forgotten=found.forgotten,
        findings=(*_damage(connection), *found.findings),
    )


def _damage(connection: Connection) -> Iterator[str]:
    """Yield what the database finds wrong with itself, such as an index that lacks a row."""
    if connection.dialect.name != "sqlite":
        return
    for line in connection.exec_driver_sql(f"PRAGMA integrity_check({_LINES})").scalars():
        if line != "ok":
            yield f"database: {' '.join(str(line).split())}"
