"""Verified reading of all events and references, with every chain checked against its digests.

This is the only code that walks the chains; verification, exports, reports and workspace checks
use it. A ratings table depends only on it and on immutable suites and continuations.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, Table, Text, func, literal, select, text
from sqlalchemy.exc import DBAPIError

from sts.annotations.database import schema
from sts.annotations.database.database import Database
from sts.annotations.database.schema import annotators, copies, item_suites, items, reference_items
from sts.annotations.database.schema import events as table
from sts.annotations.log import changes, events
from sts.annotations.people import exclusions, people
from sts.annotations.queue import references
from sts.storage.chains import START, Link, next_link

_BATCH_SIZE = 10_000
_MAX_LINES = 20
"""Maximum number of errors that SQLite is asked to report."""
_COLUMNS = ("id", "number", "digest", "reason", "text", "suite", *events.DIGESTED_COLUMNS)
_DIGESTED_FROM = _COLUMNS.index(events.DIGESTED_COLUMNS[0])
_EventRow = Row[*tuple[Any, ...]]
"""A row of events with the columns `_COLUMNS`."""
_get_verdict_fields = attrgetter(
    *("id", "annotator", "item", "verdict", "step", "reason", "seconds", "extra", "rubric_shown")
)


class Author(NamedTuple):
    """A person, the last link of their chain as stored in their row, and their events' digests."""

    name: str
    pseudonym: str
    end: Link
    digests: list[str]


class ClipRecord(NamedTuple):
    """The clip that is judged under one item."""

    item: str  # its identifier
    continuation: str  # one that shows the clip
    clip: str  # the hash of its appearance, with a dot and the rubric's version if any
    rubric: str  # that version, or ""
    scenario: str = ""  # its content hash

    @property
    def shown_hash(self) -> str:
        """The hash of the clip's appearance, without the rubric's version."""
        return self.clip.removesuffix(f".{self.rubric}") if self.rubric else self.clip

    @property
    def is_superseded(self) -> bool:
        """Return True if a clip of another version of the rubric has replaced it."""
        return self.continuation.endswith(f".{self.rubric}")


class StandingVerdict(NamedTuple):
    """A current judgement or adjudication."""

    event: int  # its number among all events
    annotator: int  # the number of its author
    item: str  # the judged item
    verdict: str  # success, failure, not_done or cannot_judge
    step: int | None  # 1..horizon from takeover for success and failure, else None
    reason: str  # why the clip cannot be judged, else ""
    seconds: float | None  # time spent, or None
    extra: int  # 1 if the clip already had all required judgements, else 0
    rubric_shown: int | None  # 0 if judged by the instruction alone, None for an adjudication
    position: int = 0  # place among the clips that its author judged, from 1; 0 for an adjudication
    first_judged: float = 0.0  # UTC seconds of its author's first judgement of the item


class Truth(NamedTuple):
    """The known verdict of a reference."""

    verdict: str
    step: int | None
    source: str  # rule or people
    added: float  # UTC seconds


@dataclass
class History:
    """The judgements of a study, and all faults found in their record."""

    authors: dict[int, Author] = field(default_factory=dict)  # everyone, by number
    clips: dict[str, ClipRecord] = field(default_factory=dict)  # by item
    continuations: int = 0  # number of continuations that show the clips
    suites: set[tuple[str, str]] = field(default_factory=set)  # suites, or parts, and items
    excluded: dict[int, str] = field(default_factory=dict)  # reasons, by number of the person
    judgements: list[StandingVerdict] = field(default_factory=list)  # the current ones
    adjudications: dict[str, StandingVerdict] = field(default_factory=dict)  # current ones, by item
    references: dict[str, Truth] = field(default_factory=dict)  # by item
    reference_tip: Link = START  # last link of the chain of references
    reference_digests: list[str] = field(default_factory=list)  # of each reference, in order
    changes: dict[str, list[str]] = field(default_factory=dict)  # digests by pseudonym, "" study
    events: int = 0  # number of events read
    forgotten: int = 0  # number of events whose texts were erased
    findings: tuple[str, ...] = ()  # a line for everything that was altered, lost or added


def set_snapshot_isolation(connection: Connection) -> None:
    """Make a new transaction see the database as of one moment, as SQLite always does."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))


def verify(database: Database) -> History:
    """Verify all events and references, their chains, and the database itself."""
    with database.read() as connection:
        set_snapshot_isolation(connection)
        record = read_history(connection)
        record.findings = (*_iter_integrity_errors(connection), *record.findings)
    return record


def read_history(connection: Connection) -> History:
    """Read all events and references, with a finding for everything that was changed afterwards."""
    record = History()
    try:
        record.findings = tuple(_fill_history(connection, record))
    except (UnicodeDecodeError, DBAPIError):
        record.findings = tuple(_iter_undecodable(connection))
        if not record.findings:
            raise
    return record


def _fill_history(connection: Connection, record: History) -> Iterator[str]:
    """Fill a history; yield findings."""
    columns = annotators.c
    query = select(
        columns.id,
        columns.name,
        columns.pseudonym,
        columns.number,
        columns.digest,
        columns.name_digest,
    )
    for number, name, pseudonym, *end, name_digest in connection.execute(
        query.order_by(columns.id)
    ):
        record.authors[number] = Author(name, pseudonym, Link(*end), [])
        if name_digest != people.hash_names(name, pseudonym):
            yield f"person {number}: their name or pseudonym was altered"
    names = ("id", "continuation", "clip", "rubric", "scenario_hash")
    clips = select(*(items.c[name] for name in names))
    record.clips = {row.id: ClipRecord(*row) for row in connection.execute(clips)}
    record.continuations = connection.execute(select(func.count()).select_from(copies)).scalar_one()
    rows = connection.execute(
        select(*(table.c[name] for name in _COLUMNS)).order_by(
            table.c.annotator, table.c.number, table.c.id
        ),
        execution_options={"yield_per": _BATCH_SIZE},
    )
    for number, event_rows in groupby(rows, attrgetter("annotator")):
        yield from _read_events(record, number, event_rows)
    for author in record.authors.values():
        if not author.digests:
            yield from _check_chain_tip(author.name, START, author.end)
    decisions = exclusions.load_exclusions(connection)
    record.excluded = {number: decision.reason for number, decision in decisions.items()}
    yield from _read_references(connection, record)
    yield from _read_changes(connection, record)
    yield from _read_suites(connection, record)


def _read_events(record: History, annotator_id: int, rows: Iterable[_EventRow]) -> Iterator[str]:
    """Read one person's chain into a history; yield findings."""
    author = record.authors.get(annotator_id)
    label = author.name if author else f"person {annotator_id}"
    end, last_id = START, 0
    current: dict[str, _EventRow] = {}  # the current judgement of each item
    first: dict[str, _EventRow] = {}  # the first one
    emptied: list[str] = []
    for row in rows:
        link, clip = Link(row.number, row.digest), record.clips.get(row.item)
        about = row.suite if row.item is None else clip and clip.clip
        if link.number != end.number + 1:
            yield f"{label}: {_describe_gap('event', end, link)}"
        elif not _is_next_link(end, [*row[_DIGESTED_FROM:], about], link):
            yield f"{_describe_event(label, clip, row)}: altered, or from another person's chain"
        if row.id <= last_id:
            yield f"{_describe_event(label, clip, row)}: stored after the events that follow it"
        if row.text_digest and not (row.reason or row.text) and row.suite is None:
            emptied.append(f"{_describe_event(label, clip, row)}: its text is missing")
        elif row.text_digest != events.hash_texts(row.uuid, row.reason, row.text):
            yield f"{_describe_event(label, clip, row)}: its text was altered"
        _record_event(record, current, first, row)
        end, last_id = link, row.id
        if author:
            author.digests.append(link.digest)
    in_order = sorted(first.values(), key=attrgetter("received", "number"))
    for position, row in enumerate(in_order, start=1):
        verdict = StandingVerdict(*_get_verdict_fields(current[row.item]))
        record.judgements.append(verdict._replace(position=position, first_judged=row.received))
    record.forgotten += len(emptied)
    if author is None:
        yield f"{label}: has events, but is not in the list of people"
        return
    if author.name != author.pseudonym:
        yield from emptied
    yield from _check_chain_tip(label, end, author.end)


def _is_next_link(end: Link, values: Sequence[Any], link: Link) -> bool:
    """Return True if `link` is the correct link for these values after `end`."""
    try:
        return next_link(end, values) == link
    except (TypeError, ValueError):  # values that no event can have
        return False


def _describe_event(label: str, clip: ClipRecord | None, row: _EventRow) -> str:
    about = f"continuation {clip.continuation if clip else 'that is missing'}"
    if row.suite is not None:
        about = f"{row.kind} of {row.suite}"
    return f"{label}, {about}, event {row.number}"


def _record_event(
    record: History, current: dict[str, _EventRow], first: dict[str, _EventRow], row: _EventRow
) -> None:
    """Store an event in the history if it supersedes the earlier ones."""
    record.events += 1
    if row.kind in events.JUDGEMENT_KINDS:
        current[row.item] = row
        first.setdefault(row.item, row)
    elif row.kind == events.ADJUDICATION:
        earlier = record.adjudications.get(row.item)
        if earlier is None or earlier.event < row.id:
            record.adjudications[row.item] = StandingVerdict(*_get_verdict_fields(row))


def _read_references(connection: Connection, record: History) -> Iterator[str]:
    """Read the chain of references into a history; yield findings."""
    end = START
    rows = reference_items.c
    query = select(rows.item, rows.truth, rows.step, rows.source, rows.added, rows.number)
    query = query.add_columns(rows.digest).order_by(rows.number)
    for item, truth, step, source, added, *at in connection.execute(query):
        link, clip = Link(*at), record.clips.get(item)
        covered = references.digested_values(item, clip.clip if clip else "", truth, step, source)
        if link.number != end.number + 1:
            yield _describe_gap("reference", end, link)
        elif not _is_next_link(end, covered, link):
            about = clip.continuation if clip else item
            yield f"reference {about}: its truth or its clip was altered"
        record.references[item] = Truth(truth, step, source, added)
        record.reference_digests.append(link.digest)
        end = link
    record.reference_tip = references.chain_tip(connection)
    yield from _check_chain_tip("references", end, record.reference_tip, "reference")


def _read_changes(connection: Connection, record: History) -> Iterator[str]:
    """Read the chains of changes; yield findings, also where a table differs from its chain."""
    tips = {subject: Link(*end) for subject, *end in connection.execute(select(schema.last_change))}
    chains = _group_by_subject(connection.execute(_CHANGES))
    stored = {kind: _group_by_subject(connection.execute(q)) for kind, (_, q) in _STORED.items()}
    for subject in sorted({*tips, *chains, *chain.from_iterable(stored.values())}):
        author = record.authors.get(subject)
        label = author.name if author else f"person {subject}" if subject else "study"
        end, logged = START, {kind: list[tuple[Any, ...]]() for kind in _STORED}
        for *at, kind, value in chains.get(subject, ()):
            link = Link(*at)
            if link.number != end.number + 1:
                yield f"{label}: {_describe_gap('change', end, link)}"
            elif not _is_next_link(end, [subject, kind, value], link):
                yield f"{label}, change {link.number}: altered"
            end = link
            with suppress(ValueError, TypeError, KeyError):  # found by its digest
                logged[kind].append(tuple(json.loads(value)))
            record.changes.setdefault(author.pseudonym if author else "", []).append(link.digest)
        yield from _check_chain_tip(label, end, tips.get(subject, START), "change")
        for kind, expected_rows in logged.items():
            stored_rows, (table_name, _) = stored[kind].get(subject, []), _STORED[kind]
            if kind in (changes.ROLE, changes.DEAL):
                expected_rows = _keep_latest(kind, expected_rows)
                stored_rows = sorted(stored_rows, key=str)
            if expected_rows != stored_rows:
                yield f"{label}: the table of {table_name} differs from the chain of changes"


def _keep_latest(kind: str, values: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the latest change of each role or category, sorted, without roles that were lost."""
    latest = {str(value[:1]): value for value in values}
    kept = [value for value in latest.values() if kind == changes.DEAL or value[1:] == (1,)]
    return sorted(kept, key=str)


def _group_by_subject(rows: Iterable[Row[*tuple[Any, ...]]]) -> dict[int, list[tuple[Any, ...]]]:
    """Group rows by their first value, the number of a person, or nothing for the study."""
    groups: dict[int, list[tuple[Any, ...]]] = {}
    for subject, *values in rows:
        groups.setdefault(subject or changes.STUDY, []).append(tuple(values))
    return groups


def _select_controls(setting: str, *names: str) -> Select[*tuple[Any, ...]]:
    controls = schema.controls.c
    chosen = select(controls.person, *(controls[name] for name in names))
    return chosen.where(controls.setting == setting).order_by(controls.id)


_CHANGES = select(
    *(schema.changes.c[name] for name in ("subject", "number", "digest", "kind", "value"))
).order_by(schema.changes.c.subject, schema.changes.c.number)
_STORED = {
    changes.EXCLUDE: (
        "exclusions",
        _select_controls(changes.EXCLUDE, "value", "reason", "annotator", "created"),
    ),
    changes.PAUSE: (
        "pauses",
        _select_controls(changes.PAUSE, "scope", "value", "annotator", "created"),
    ),
    changes.ROLE: ("roles", select(schema.roles.c.annotator, schema.roles.c.role, literal(1))),
    changes.DEAL: ("deals", select(schema.deals)),
}
"""The tables whose rows follow from the changes of a kind: their names, and subject and values."""


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


def _check_chain_tip(label: str, end: Link, expected: Link, noun: str = "event") -> Iterator[str]:
    """Yield a finding if a chain ends at another link than its author's row holds."""
    if end.number < expected.number:
        yield f"{label}: {_format_range(noun, end.number + 1, expected.number)} missing at the end"
    elif end != expected:
        yield f"{label}: the stored end of the chain of {noun}s was altered"


def _describe_gap(noun: str, before: Link, link: Link) -> str:
    if link.number > before.number + 1:
        return f"{_format_range(noun, before.number + 1, link.number - 1)} missing"
    return f"{noun} {link.number} occurs twice"


def _format_range(noun: str, first: int, last: int) -> str:
    return f"{noun} {first} is" if first == last else f"{noun}s {first} to {last} are"


def _iter_integrity_errors(connection: Connection) -> Iterator[str]:
    """Yield the errors that SQLite's integrity check reports, such as an index that lacks a row."""
    if connection.dialect.name != "sqlite":
        return
    for line in connection.exec_driver_sql(f"PRAGMA integrity_check({_MAX_LINES})").scalars():
        if line != "ok":
            yield f"database: {' '.join(str(line).split())}"


def _iter_undecodable(connection: Connection) -> Iterator[str]:
    """Yield a finding for each text that is not valid UTF-8, for example after a bit flip."""
    if connection.dialect.name != "sqlite":
        return
    for checked in schema.metadata.sorted_tables:
        for column in checked.columns:
            if isinstance(column.type, Text):
                yield from _iter_undecodable_rows(connection, checked, column.name)


def _iter_undecodable_rows(connection: Connection, checked: Table, column: str) -> Iterator[str]:
    author = "annotator" if "annotator" in checked.columns else "NULL"
    query = f"SELECT rowid, {author}, CAST({column} AS BLOB) FROM {checked.name}"
    for row, person, raw in connection.exec_driver_sql(f"{query} WHERE {column} IS NOT NULL"):
        try:
            raw.decode()
        except UnicodeDecodeError:
            place = f"table {checked.name}, row {row}"
            place += f" of person {person}" if person is not None else ""
            yield f"{place}: {column} is damaged: it is not UTF-8 text"
