"""Whether a row that reaches a ratings table was changed, lost or added behind the store's back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, Table, select, text

from sts.annotations import events, heads, ledger
from sts.annotations.database import Database
from sts.annotations.schema import (
    annotators,
    copies,
    items,
    reference_episodes,
    settled,
    superseded,
    totals,
)
from sts.annotations.schema import events as table
from sts.storage.chains import START, Link, follow

_LINES = 20
"""Lines that a database is asked for of what it finds wrong with itself."""
_AT_ONCE = 10_000
_WHAT = {
    annotators: ("person", "their name or pseudonym"),
    items: ("clip", "its scenario, category, kind, horizon or takeover"),
    copies: ("continuation", "its agent, its clip or what the agent sees"),
    reference_episodes: ("reference", "its truth"),
    settled: ("clip", "what settles it"),
    superseded: ("clip", "by which it is superseded"),
}
"""What is found altered where a row of a table does not fit its seal."""

Heads = dict[str, dict[int, set[str]]]
"""Digests that the file beside the database keeps, by whose chain it is and by number."""


class Verification(NamedTuple):
    """What was looked at, and what is wrong.

    Attributes:
      events: on chains.
      people: whose chains these are.
      clips: that wait or were judged.
      continuations: what these stand for.
      references: continuations whose verdict is known.
      heads: events and records of totals that the file beside the database has kept.
      forgotten: events whose words were emptied.
      findings: a line each, none where nothing is wrong.
    """

    events: int
    people: int
    clips: int
    continuations: int
    references: int
    heads: int
    forgotten: int
    findings: tuple[str, ...]


def verify(database: Database) -> Verification:
    """Looks at every row that reaches a ratings table, and at the chains that it stands in.

    Raises:
      StoreError: the database cannot be read.
    """
    kept = list(heads.read(database.heads))
    with database.read() as connection:
        if connection.dialect.name == "postgresql":  # from here on it stands still, as SQLite does
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        return look(connection, kept)


def look(connection: Connection, kept: Iterable[tuple[str, Link]]) -> Verification:
    """Looks at every row that reaches a ratings table; see `verify`.

    Args:
      connection: to a database that stands still.
      kept: ends of its chains, by whose they are; of no later time than it.
    """
    ends: Heads = {}
    for who, link in kept:
        ends.setdefault(who, {}).setdefault(link.number, set()).add(link.digest)
    number = sum(map(len, ends.values()))
    people = _Events()
    counted: ledger.Totals = {}
    findings = [
        *_damage(connection),
        *_totals(connection, ends.pop(ledger.ASSIGNMENT, {})),
        *people.look(connection, ends),
        *(f"person {who}: all {max(own)} events are missing" for who, own in ends.items()),
        *(one for sealed in ledger.SEALED for one in _rows(connection, sealed, counted)),
        *_differences(connection, counted),
    ]
    return Verification(
        events=people.events,
        people=people.number,
        clips=counted.get(items.name, (0, 0))[0],
        continuations=counted.get(copies.name, (0, 0))[0],
        references=counted.get(reference_episodes.name, (0, 0))[0],
        heads=number,
        forgotten=people.forgotten,
        findings=tuple(findings),
    )


def _damage(connection: Connection) -> Iterator[str]:
    """Yields what the database finds wrong with itself, such as an index that lacks a row."""
    if connection.dialect.name != "sqlite":
        return
    for line in connection.exec_driver_sql(f"PRAGMA integrity_check({_LINES})").scalars():
        if line != "ok":
            yield f"database: {' '.join(str(line).split())}"


class _Events:
    """The events of everybody, one chain after another; how many people and events there are."""

    def __init__(self) -> None:
        self.number = self.events = self.forgotten = 0

    def look(self, connection: Connection, kept: Heads) -> Iterator[str]:
        """Yields what is wrong; takes out of `kept` whose chains there are."""
        query = (
            select(table, annotators.c.name, annotators.c.pseudonym, items.c.continuation)
            .join(annotators, annotators.c.id == table.c.annotator, isouter=True)
            .join(items, items.c.id == table.c.item, isouter=True)
            .order_by(table.c.annotator, table.c.number, table.c.id)
        )
        for person, rows in groupby(_stream(connection, query), lambda row: row.annotator):
            self.number += 1
            yield from self._chain(rows, kept.pop(str(person), {}))

    def _chain(
        self, rows: Iterator[Row[*tuple[Any, ...]]], kept: dict[int, set[str]]
    ) -> Iterator[str]:
        """Yields what is wrong with one person's events."""
        who, before, last, emptied, forgotten = "", START, 0, [], False
        for row in rows:
            self.events += 1
            who = row.name or f"person {row.annotator}"
            forgotten = row.name == row.pseudonym
            place = (
                f"{who}, continuation {row.continuation or 'that is not there'}, event {row.number}"
            )
            link = Link(row.number, row.digest)
            yield from _gap(who, before, link)
            if _link(row, before) != link and row.number == before.number + 1:
                yield f"{place}: altered, or it is another person's"
            if row.id <= last:
                yield f"{place}: it came later than what follows it"
            if kept.pop(row.number, {row.digest}) != {row.digest}:
                yield f"{place}: another event was kept under this number"
            if row.words and not (row.reason or row.text):
                emptied.append(f"{place}: its words are missing")
            elif row.words != events.words(row.uuid, row.reason, row.text):
                yield f"{place}: its words were altered"
            before, last = link, row.id
        self.forgotten += len(emptied)
        if not forgotten:
            yield from emptied
        if kept and max(kept) > before.number:
            yield f"{who}: {_counted('event', before.number + 1, max(kept))} missing at the end"


def _gap(who: str, before: Link, link: Link) -> Iterator[str]:
    if link.number > before.number + 1:
        yield f"{who}: {_counted('event', before.number + 1, link.number - 1)} missing"
    elif link.number <= before.number:
        yield f"{who}: event {link.number} is there twice"


def _counted(noun: str, first: int, last: int) -> str:
    return f"{noun} {first} is" if first == last else f"{noun}s {first} to {last} are"


def _link(row: Row[*tuple[Any, ...]], before: Link) -> Link | None:
    """Returns what the digest of a row should be; None where it holds what no event does."""
    try:
        return follow(before, events.covered(row._asdict()))
    except (TypeError, ValueError):
        return None


def _totals(connection: Connection, kept: Mapping[int, set[str]]) -> Iterator[str]:
    """Yields what is wrong with the chain of totals."""
    end, missing = START, dict(kept)
    for row in connection.execute(select(totals).order_by(totals.c.number)):
        link = Link(row.number, row.digest)
        yield from _gap("what is enqueued", end, link)
        if follow(end, [row.totals]) != link and row.number == end.number + 1:
            yield f"what is enqueued: record {row.number} of its totals was altered"
        if missing.pop(row.number, {row.digest}) != {row.digest}:
            yield f"what is enqueued: another record {row.number} of its totals was kept"
        end = link
    if missing and max(missing) > end.number:
        lost = _counted("record", end.number + 1, max(missing))
        yield f"what is enqueued: {lost} missing at the end"


def _rows(connection: Connection, sealed: Table, counted: ledger.Totals) -> Iterator[str]:
    """Yields the rows of a table that do not fit their seals; adds its rows to `counted`."""
    names = ledger.SEALED[sealed]
    own = [sealed.c[name] for name in names]
    query = select(*own, sealed.c.seal) if sealed in _WHAT else select(*own)
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in _stream(connection, query):
        values = tuple(row)[: len(names)]
        seal = ledger.seal(values)
        if sealed in _WHAT and row.seal != seal:
            noun, what = _WHAT[sealed]
            yield f"{noun} {getattr(row, 'continuation', values[0])}: {what} was altered"
            seal = row.seal if isinstance(row.seal, int) else seal
        total = sums[ledger.total_of(sealed, values)]
        total[0] += 1
        total[1] += seal
    counted.update((name, (count, ledger.modulo(total))) for name, (count, total) in sums.items())


def _differences(connection: Connection, counted: ledger.Totals) -> Iterator[str]:
    """Yields where what is there is not what was enqueued in all."""
    try:
        _, expected = ledger.last_totals(connection)
    except (TypeError, ValueError):
        return  # its record was found altered
    for name in sorted({*expected, *counted}):
        before, after = expected.get(name, (0, 0)), counted.get(name, (0, 0))
        if before[0] != after[0]:
            were = "was" if before[0] == 1 else "were"
            yield f"{name}: {after[0]} rows where {before[0]} {were} enqueued"
        elif before != after:
            yield f"{name}: a row was replaced by another"


def _stream(
    connection: Connection, query: Select[*tuple[Any, ...]]
) -> Iterator[Row[*tuple[Any, ...]]]:
    return iter(connection.execute(query, execution_options={"yield_per": _AT_ONCE}))
