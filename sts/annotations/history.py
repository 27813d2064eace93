"""Verified reading of all events and references, with every chain checked against its digests.

This is the only code that walks the chains; verification, exports, reports and workspace checks
use it. A ratings table depends only on it and on immutable suites and continuations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, func, select, text
from sqlalchemy.exc import DBAPIError

from sts.annotations import events, people, references
from sts.annotations.damage import iter_integrity_errors, iter_undecodable
from sts.annotations.database import Database
from sts.annotations.schema import annotators, copies, item_suites, items, reference_episodes
from sts.annotations.schema import events as table
from sts.storage.chains import START, Link, follow

_BATCH_SIZE = 10_000
_COLUMNS = ("id", "number", "digest", "reason", "text", *events.DIGESTED_COLUMNS)
_ROW = {name: _COLUMNS.index(name) for name in _COLUMNS}
_AUTHOR, _UUID, _ITEM, _KIND, _WORDS, _RECEIVED = (
    _ROW[name] for name in ("annotator", "uuid", "item", "kind", "words", "received")
)
_DIGESTED_FROM = _COLUMNS.index(events.DIGESTED_COLUMNS[0])
_VERDICT_FIELDS = itemgetter(
    *(_ROW[name] for name in ("id", "annotator", "item", "verdict", "step", "reason")),
    *(_ROW[name] for name in ("seconds", "extra")),
)


class Author(NamedTuple):
    """A person, the last link of their chain as stored in their row, and their events' digests."""

    id: int
    name: str
    pseudonym: str
    end: Link
    digests: list[str]


class ClipRecord(NamedTuple):
    """The clip that is judged under one item.

    Attributes:
      item: its identifier.
      continuation: one that shows the clip.
      clip: the hash of its appearance, followed by a dot and the rubric's version if it has a
        rubric.
      rubric: that version, or "".
    """

    item: str
    continuation: str
    clip: str
    rubric: str

    @property
    def shown_hash(self) -> str:
        """The hash of the clip's appearance, without the rubric's version."""
        return self.clip.removesuffix(f".{self.rubric}") if self.rubric else self.clip

    @property
    def is_superseded(self) -> bool:
        """Return True if a clip of another version of the rubric has replaced it."""
        return self.continuation.endswith(f".{self.rubric}")


class StandingVerdict(NamedTuple):
    """A current judgement or adjudication.

    Attributes:
      event: its number among all events.
      annotator: the number of its author.
      item: the judged item.
      verdict: success, failure, not_done or cannot_judge.
      step: 1..horizon from takeover for success and failure, else None.
      reason: why the clip cannot be judged, else "".
      seconds: time spent, or None.
      extra: 1 if the clip already had all required judgements, else 0.
      position: place among the clips that its author judged, from 1; 0 for an adjudication.
    """

    event: int
    annotator: int
    item: str
    verdict: str
    step: int | None
    reason: str
    seconds: float | None
    extra: int
    position: int = 0


@dataclass
class History:
    """The judgements of a study, and all faults found in their record.

    Attributes:
      authors: everyone, by number.
      clips: by item.
      continuations: number of continuations that show the clips.
      suites: pairs of a suite, or part of one, and an item that is or was queued for it.
      judgements: the current ones.
      adjudications: the current adjudication of each item that has one.
      references: truth and step of each reference, by item.
      reference_tip: last link of the chain of references.
      reference_digests: of each reference, in order.
      events: number of events read.
      forgotten: number of events whose texts were erased.
      findings: a line for everything that was altered, lost or added.
    """

    authors: dict[int, Author] = field(default_factory=dict)
    clips: dict[str, ClipRecord] = field(default_factory=dict)
    continuations: int = 0
    suites: set[tuple[str, str]] = field(default_factory=set)
    judgements: list[StandingVerdict] = field(default_factory=list)
    adjudications: dict[str, StandingVerdict] = field(default_factory=dict)
    references: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    reference_tip: Link = START
    reference_digests: list[str] = field(default_factory=list)
    events: int = 0
    forgotten: int = 0
    findings: tuple[str, ...] = ()


def set_snapshot_isolation(connection: Connection) -> None:
    """Make a new transaction see the database as of one moment, as SQLite always does."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))


def verify(database: Database) -> History:
    """Verify every event and reference, their chains, and the database itself.

    Raises:
      StoreError: the database cannot be read.
    """
    with database.read() as connection:
        set_snapshot_isolation(connection)
        record = read_history(connection)
        record.findings = (*iter_integrity_errors(connection), *record.findings)
    return record


def read_history(connection: Connection) -> History:
    """Read all events and references, with a finding for everything that was changed afterwards."""
    record = History()
    try:
        record.findings = tuple(_fill_history(connection, record))
    except (UnicodeDecodeError, DBAPIError):
        record.findings = tuple(iter_undecodable(connection))
        if not record.findings:
            raise
    return record


def _fill_history(connection: Connection, record: History) -> Iterator[str]:
    """Fill a history; yield findings."""
    columns = annotators.c
    query = select(
        columns.id, columns.name, columns.pseudonym, columns.number, columns.digest, columns.seal
    )
    for number, name, pseudonym, *end, seal in connection.execute(query.order_by(columns.id)):
        record.authors[number] = Author(number, name, pseudonym, Link(*end), [])
        if seal != people.hash_names(name, pseudonym):
            yield f"person {number}: their name or pseudonym was altered"
    clips = select(items.c.id, items.c.continuation, items.c.clip, items.c.rubric)
    record.clips = {row.id: ClipRecord(*row) for row in connection.execute(clips)}
    record.continuations = connection.execute(select(func.count()).select_from(copies)).scalar_one()
    rows = connection.execute(
        select(*(table.c[name] for name in _COLUMNS)).order_by(
            table.c.annotator, table.c.number, table.c.id
        ),
        execution_options={"yield_per": _BATCH_SIZE},
    )
    for number, events_ in groupby(rows, itemgetter(_AUTHOR)):
        yield from _read_events(record, number, events_)
    for author in record.authors.values():
        if not author.digests:
            yield from _check_chain_tip(author.name, START, author.end)
    yield from _read_references(connection, record)
    yield from _read_suites(connection, record)


def _read_events(
    record: History, number: int, rows: Iterable[Row[*tuple[Any, ...]]]
) -> Iterator[str]:
    """Read one person's chain into a history; yield findings."""
    author = record.authors.get(number)
    who = author.name if author else f"person {number}"
    end, last = START, 0
    current: dict[str, Sequence[Any]] = {}
    first: dict[str, tuple[float, int]] = {}  # time of the first judgement
    emptied: list[str] = []
    for row in rows:
        link, clip = Link(row[1], row[2]), record.clips.get(row[_ITEM])
        if link.number != end.number + 1:
            yield f"{who}: {_describe_gap('event', end, link)}"
        elif not _is_next_link(end, [*row[_DIGESTED_FROM:], clip and clip.clip], link):
            yield f"{_describe_event(who, clip, link)}: altered, or from another person's chain"
        if row[0] <= last:
            yield f"{_describe_event(who, clip, link)}: stored after the events that follow it"
        if row[_WORDS] and not (row[3] or row[4]):
            emptied.append(f"{_describe_event(who, clip, link)}: its text is missing")
        elif row[_WORDS] != events.hash_texts(row[_UUID], row[3], row[4]):
            yield f"{_describe_event(who, clip, link)}: its text was altered"
        _record_event(record, current, first, row)
        end, last = link, row[0]
        if author:
            author.digests.append(link.digest)
    for position, item in enumerate(sorted(first, key=first.__getitem__), start=1):
        record.judgements.append(
            StandingVerdict(*_VERDICT_FIELDS(current[item]))._replace(position=position)
        )
    record.forgotten += len(emptied)
    if author is None:
        yield f"{who}: has events, but is not in the list of people"
        return
    if author.name != author.pseudonym:
        yield from emptied
    yield from _check_chain_tip(who, end, author.end)


def _is_next_link(end: Link, values: Sequence[Any], link: Link) -> bool:
    """Return True if `link` is the correct link for these values after `end`."""
    try:
        return follow(end, values) == link
    except (TypeError, ValueError):  # values that no event can have
        return False


def _describe_event(who: str, clip: ClipRecord | None, link: Link) -> str:
    about = clip.continuation if clip else "that is missing"
    return f"{who}, continuation {about}, event {link.number}"


def _record_event(
    record: History,
    current: dict[str, Sequence[Any]],
    first: dict[str, tuple[float, int]],
    row: Sequence[Any],
) -> None:
    """Store an event in the history if it supersedes the earlier ones."""
    record.events += 1
    kind, item = row[_KIND], row[_ITEM]
    if kind in events.JUDGEMENT_KINDS:
        current[item] = row
        first.setdefault(item, (row[_RECEIVED], row[1]))
    elif kind == events.ADJUDICATION:
        verdict = StandingVerdict(*_VERDICT_FIELDS(row))
        if item not in record.adjudications or record.adjudications[item].event < verdict.event:
            record.adjudications[item] = verdict


def _read_references(connection: Connection, record: History) -> Iterator[str]:
    """Read the chain of references into a history; yield findings."""
    end = START
    rows = reference_episodes.c
    query = select(rows.item, rows.truth, rows.step, rows.number, rows.digest)
    for item, truth, step, *at in connection.execute(query.order_by(rows.number)):
        link, clip = Link(*at), record.clips.get(item)
        covered = references.digested_values(item, clip.clip if clip else "", truth, step)
        if link.number != end.number + 1:
            yield _describe_gap("reference", end, link)
        elif not _is_next_link(end, covered, link):
            about = clip.continuation if clip else item
            yield f"reference {about}: its truth or its clip was altered"
        record.references[item] = truth, step
        record.reference_digests.append(link.digest)
        end = link
    record.reference_tip = references.chain_tip(connection)
    yield from _check_chain_tip("references", end, record.reference_tip, "reference")


def _read_suites(connection: Connection, record: History) -> Iterator[str]:
    """Read which clips are queued for which suites; yield clips that are missing or in no queue."""
    for suite, item in connection.execute(select(item_suites.c.suite, item_suites.c.item)):
        record.suites.add((suite, item))
        if item not in record.clips:
            yield f"suite {suite}: one of its clips is missing"
    queued = {item for _, item in record.suites}
    for clip in record.clips.values():
        if clip.rubric and not clip.clip.endswith(f".{clip.rubric}"):
            yield f"continuation {clip.continuation}: the version of its rubric was altered"
        if clip.item not in queued and clip.item not in record.references:
            if not clip.is_superseded:
                yield f"continuation {clip.continuation}: its clip is not queued for any suite"


def _check_chain_tip(who: str, end: Link, expected: Link, noun: str = "event") -> Iterator[str]:
    """Yield a finding if a chain ends at another link than its author's row holds."""
    if end.number < expected.number:
        yield f"{who}: {_format_range(noun, end.number + 1, expected.number)} missing at the end"
    elif end != expected:
        yield f"{who}: the stored end of the chain of {noun}s was altered"


def _describe_gap(noun: str, before: Link, link: Link) -> str:
    if link.number > before.number + 1:
        return f"{_format_range(noun, before.number + 1, link.number - 1)} missing"
    return f"{noun} {link.number} occurs twice"


def _format_range(noun: str, first: int, last: int) -> str:
    return f"{noun} {first} is" if first == last else f"{noun}s {first} to {last} are"
