"""The events of a study, read one by one, with every chain checked against its digests.

A ratings table is made of this alone, and of what is immutable: suites and continuations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select, text
from sqlalchemy.exc import DBAPIError

from sts.annotations import events, people, references
from sts.annotations.damage import unreadable
from sts.annotations.schema import annotators, item_suites, items, reference_episodes
from sts.annotations.schema import events as table
from sts.storage.chains import START, Link, follow

_AT_ONCE = 10_000
_COLUMNS = ("id", "number", "digest", "reason", "text", *events.COVERED)
_COVERED = len(_COLUMNS) - len(events.COVERED)
_ROW = {name: _COLUMNS.index(name) for name in _COLUMNS}
_UUID, _ITEM, _KIND, _WORDS, _RECEIVED = (
    _ROW[name] for name in ("uuid", "item", "kind", "words", "received")
)
_SAID = itemgetter(
    *(_ROW[name] for name in ("id", "annotator", "item", "verdict", "step", "reason")),
    *(_ROW[name] for name in ("seconds", "extra")),
)


class Author(NamedTuple):
    """A person, and the end of their chain as their row holds it."""

    id: int
    name: str
    pseudonym: str
    seal: str
    end: Link


class Clip(NamedTuple):
    """The clip that is judged under one item.

    Attributes:
      item: its identifier.
      continuation: one that is shown for it.
      clip: the hash of what is shown, a dot and the version of its rubric, if it has one.
      rubric: that version, or "".
    """

    item: str
    continuation: str
    clip: str
    rubric: str

    @property
    def shown(self) -> str:
        """The hash of what is shown, whatever it is judged by."""
        return self.clip.removesuffix(f".{self.rubric}") if self.rubric else self.clip

    @property
    def is_superseded(self) -> bool:
        """Return True if a clip of another version of the rubric took its place."""
        return self.continuation.endswith(f".{self.rubric}")


class Said(NamedTuple):
    """A judgement or adjudication that stands.

    Attributes:
      event: counts the events of everyone, in their order.
      annotator: the number of its author.
      item: what it is of.
      verdict: success, failure, not_done or cannot_judge.
      step: 1..horizon from takeover for success and failure, else None.
      reason: why it cannot be judged, else "".
      seconds: time spent, or None.
      extra: 1 if the clip had been judged as often as required, else 0.
      place: its place among the clips that its author judged, from 1; 0 of an adjudication.
    """

    event: int
    annotator: int
    item: str
    verdict: str
    step: int | None
    reason: str
    seconds: float | None
    extra: int
    place: int = 0


@dataclass
class History:
    """The judgements of a study, and the faults of their record.

    Attributes:
      authors: everyone, by number.
      clips: by item.
      suites: pairs of a suite, or a part of one, and an item that waits or waited in it.
      judgements: those that stand.
      decided: the adjudication that stands of each item that has one.
      references: truth and step of each item whose verdict is known.
      study: the end of the chain of references.
      events: how many were read.
      forgotten: of these, how many have had their words emptied.
      findings: a line for everything that was altered, lost or added.
    """

    authors: dict[int, Author] = field(default_factory=dict)
    clips: dict[str, Clip] = field(default_factory=dict)
    suites: set[tuple[str, str]] = field(default_factory=set)
    judgements: list[Said] = field(default_factory=list)
    decided: dict[str, Said] = field(default_factory=dict)
    references: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    study: Link = START
    events: int = 0
    forgotten: int = 0
    findings: list[str] = field(default_factory=list)


def stand_still(connection: Connection) -> None:
    """Have a transaction that begins see one moment of the database, as SQLite always does."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))


def read(connection: Connection) -> History:
    """Return everything that was said, and a finding for whatever is not as it was written."""
    found = History()
    try:
        _read(connection, found)
    except (UnicodeDecodeError, DBAPIError):
        found.findings = [*unreadable(connection)]
        if not found.findings:
            raise
    return found


def _read(connection: Connection, found: History) -> None:
    own = annotators.c
    query = select(own.id, own.name, own.pseudonym, own.seal, own.number, own.digest)
    for row in connection.execute(query.order_by(own.id)):
        found.authors[row.id] = author = Author(*row[:4], Link(*row[4:]))
        if author.seal != people.seal(author.name, author.pseudonym):
            found.findings.append(f"person {row.id}: their name or pseudonym was altered")
    named = select(items.c.id, items.c.continuation, items.c.clip, items.c.rubric)
    for item, *rest in connection.execute(named):
        found.clips[item] = Clip(item, *rest)
    chosen = [table.c[name] for name in _COLUMNS]
    rows = connection.execute(
        select(*chosen).order_by(table.c.annotator, table.c.number, table.c.id),
        execution_options={"yield_per": _AT_ONCE},
    )
    written = set()
    for number, each in groupby(rows, itemgetter(_COVERED)):
        written.add(number)
        _Author(found, number).read(each)
    for number in found.authors.keys() - written:
        found.findings += _at_the_end(found.authors[number].name, START, found.authors[number].end)
    found.findings += _references(connection, found)
    found.findings += _suites(connection, found)


class _Author:
    """One person's events, one after another."""

    def __init__(self, found: History, number: int) -> None:
        self._found = found
        self._author = found.authors.get(number)
        self._who = self._author.name if self._author else f"person {number}"
        self._standing: dict[str, Sequence[Any]] = {}
        self._first: dict[str, tuple[float, int]] = {}
        self._emptied: list[str] = []

    def read(self, rows: Iterable[Row[*tuple[Any, ...]]]) -> None:
        """Check the chain and keep what stands."""
        end, last, findings = START, 0, self._found.findings
        for row in rows:
            link = Link(row[1], row[2])
            if link.number != end.number + 1:
                findings.append(f"{self._who}: {_gap('event', end, link)}")
            elif self._link(row, end) != link:
                findings.append(f"{self._place(row)}: altered, or it is another person's")
            if row[0] <= last:
                findings.append(f"{self._place(row)}: it came later than what follows it")
            if row[_WORDS] or row[3] or row[4]:
                self._check_words(row)
            self._keep(row)
            end, last = link, row[0]
            self._found.events += 1
        self._finish(end)

    def _link(self, row: Sequence[Any], before: Link) -> Link | None:
        """Return what the digest of a row should be; None if it holds what no event does."""
        clip = self._found.clips.get(row[_ITEM])
        try:
            return follow(before, [*row[_COVERED:], clip and clip.clip])
        except (TypeError, ValueError):
            return None

    def _check_words(self, row: Sequence[Any]) -> None:
        if row[_WORDS] and not (row[3] or row[4]):
            self._emptied.append(f"{self._place(row)}: its words are missing")
        elif row[_WORDS] != events.words(row[_UUID], row[3], row[4]):
            self._found.findings.append(f"{self._place(row)}: its words were altered")

    def _keep(self, row: Sequence[Any]) -> None:
        kind, item = row[_KIND], row[_ITEM]
        if kind in events.JUDGEMENTS:
            self._standing[item] = row
            self._first.setdefault(item, (row[_RECEIVED], row[1]))
        elif kind == events.ADJUDICATION:
            said = Said(*_SAID(row))
            if item not in self._found.decided or self._found.decided[item].event < said.event:
                self._found.decided[item] = said

    def _finish(self, end: Link) -> None:
        found = self._found
        order = sorted(self._first, key=self._first.__getitem__)
        for place, item in enumerate(order, start=1):
            found.judgements.append(Said(*_SAID(self._standing[item]))._replace(place=place))
        found.forgotten += len(self._emptied)
        if self._author is None:
            found.findings.append(f"{self._who}: there are events of theirs, and no such person")
            return
        if self._author.name != self._author.pseudonym:
            found.findings += self._emptied
        found.findings += _at_the_end(self._who, end, self._author.end)

    def _place(self, row: Sequence[Any]) -> str:
        clip = self._found.clips.get(row[_ITEM])
        about = clip.continuation if clip else "that is not there"
        return f"{self._who}, continuation {about}, event {row[1]}"


def _references(connection: Connection, found: History) -> Iterator[str]:
    """Yield what is wrong with the chain of references; keep their truths."""
    end = START
    rows = reference_episodes.c
    query = select(rows.item, rows.truth, rows.step, rows.number, rows.digest)
    for item, truth, step, *at in connection.execute(query.order_by(rows.number)):
        link, clip = Link(*at), found.clips.get(item)
        about = clip.continuation if clip else item
        covered = references.covered(item, clip.clip if clip else "", truth, step)
        if link.number != end.number + 1:
            yield _gap("reference", end, link)
        elif follow(end, covered) != link:
            yield f"reference {about}: its truth or its clip was altered"
        found.references[item] = truth, step
        end = link
    found.study = references.last(connection)
    yield from _at_the_end("references", end, found.study, "reference")


def _suites(connection: Connection, found: History) -> Iterator[str]:
    """Yield the clips that are queued and not there, and those that are in no queue."""
    for suite, item in connection.execute(select(item_suites.c.suite, item_suites.c.item)):
        found.suites.add((suite, item))
        if item not in found.clips:
            yield f"suite {suite}: a clip of it is not there"
    queued = {item for _, item in found.suites}
    for clip in found.clips.values():
        if clip.rubric and not clip.clip.endswith(f".{clip.rubric}"):
            yield f"continuation {clip.continuation}: the version of its rubric was altered"
        if clip.item not in queued and clip.item not in found.references:
            if not clip.is_superseded:
                yield f"continuation {clip.continuation}: its clip is in the queue of no suite"


def _at_the_end(who: str, end: Link, expected: Link, noun: str = "event") -> Iterator[str]:
    """Yield how a chain ends otherwise than the row of its author holds."""
    if end.number < expected.number:
        yield f"{who}: {_counted(noun, end.number + 1, expected.number)} missing at the end"
    elif end != expected:
        yield f"{who}: the row that holds the end of the chain of {noun}s was altered"


def _gap(noun: str, before: Link, link: Link) -> str:
    if link.number > before.number + 1:
        return f"{_counted(noun, before.number + 1, link.number - 1)} missing"
    return f"{noun} {link.number} is there twice"


def _counted(noun: str, first: int, last: int) -> str:
    return f"{noun} {first} is" if first == last else f"{noun}s {first} to {last} are"
