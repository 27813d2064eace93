"""Import of judgements from a ratings table in CSV, validated line by line."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from sts.annotations.answers.submissions import MAX_TEXT_CHARS, record_event
from sts.annotations.database.schema import copies, items
from sts.annotations.log import events
from sts.annotations.log.events import Event
from sts.annotations.people import deal, people
from sts.annotations.queue import queue
from sts.annotations.records import Annotator, Item
from sts.annotations.study import StudySettings
from sts.errors import ArgumentError, DamagedData
from sts.names import clean_name, quote, replace_unprintable
from sts.ratings import (
    MARKED_VERDICTS,
    MAX_HORIZON,
    REQUIRED_COLUMNS,
    TYPES,
    UNABLE,
    USUAL_WORDS,
    VERDICTS,
    fold_word,
)
from sts.storage.csv_tables import check_header, read_csv, require_columns
from sts.storage.memory import limit_memory

IMPORT_COLUMNS = (*REQUIRED_COLUMNS, "annotator")
"""Columns that an import needs: unlike other ratings tables, it needs the annotator."""
IMPORT = "import"
"""The source of imported events."""


class Rating(NamedTuple):
    """One line of a ratings table that holds a judgement."""

    location: str  # the file and line, for messages
    # identity of the judged continuation, or its index among those of the agent and scenario, or ""
    # if there is only one
    continuation: str
    annotator: str  # name or pseudonym
    verdict: str  # success, failure, not_done or cannot_judge
    step: int | None  # 1..horizon for success and failure, else None
    horizon: int | None  # continuation steps, or None if the table does not have it
    seconds: float | None  # time spent, or None
    reason: str  # why the clip cannot be judged, or ""
    agent: str  # the judged agent
    scenario: str  # the scenario's name in its suite
    rubric_shown: bool = True  # False if it was judged by the instruction alone


class ImportResult(NamedTuple):
    """Result of an import."""

    added: int  # number of judgements appended
    known: int  # number of rows whose judgement was stored before
    annotators: tuple[str, ...]  # names that were added
    repeated: int = 0  # number of further rows of judgements that were appended


def read_ratings(path: Path) -> list[Rating]:
    """Read the judgements in a ratings table; skip lines without one, or with an excluded one.

    Raises:
      ArgumentError: there is no such file.
      DamagedData: it is not a regular file, is empty, binary or ragged, or lacks a column, or a
        cell is invalid; the message has the line.
    """
    try:
        with limit_memory(path.name):
            header, rows, lines = read_csv(path)
    except FileNotFoundError:
        raise ArgumentError(f"no table at {path}; check the path") from None
    require_columns(f"{path.name}, line 1", header, IMPORT_COLUMNS)
    check_header(path.name, header, TYPES)
    numbered = zip(lines, rows, strict=True)
    ratings = (
        _parse_rating(f"{path.name}, line {line}", dict(zip(header, cells, strict=True)))
        for line, cells in numbered
    )
    return [rating for rating in ratings if rating is not None]


def import_ratings(
    connection: Connection,
    ratings: Sequence[Rating],
    additions: Iterable[Item] = (),
    *,
    study: StudySettings,
    now: float,
) -> ImportResult:
    """Enqueue `additions`, then append judgements; all of them or none.

    Judgements that equal their annotator's current one change nothing, so an import may be
    repeated and an export imported again. Another judgement than that becomes the current one; only
    a correction that the annotator has made since is kept. Annotators are identified by
    name or pseudonym; unknown ones are added without an invitation. Those who judged by the
    instruction alone will not see the texts of that category, unless they have seen them already.

    Raises:
      DamagedData: a continuation is unknown, has another horizon, was played by the annotator, or
        has two judgements of one annotator; the message has the line.
      ArgumentError: the name of a new annotator differs from another only in how it is written.
    """
    everyone = annotator_names(ratings)
    queue.enqueue(connection, additions, study=study, now=now)
    person_by_name = {
        name: person
        for person in people.list_people(connection)
        for name in (person.name, person.pseudonym)
    }
    new = [name for name in everyone if name not in person_by_name]
    people.refuse_spellings(connection, new)
    person_by_name |= {name: people.add_person(connection, name, now=now) for name in new}
    for number in sorted({person_by_name[name].id for name in everyone}):
        people.lock_person(connection, number)  # before taking any slot; see `people.lock_person`
    known = 0
    lines: dict[tuple[int, str], Rating] = {}
    appended: set[tuple[int, str]] = set()
    for rating in ratings:
        item = _find_item(connection, rating)
        person = person_by_name[people.normalise_name(rating.annotator)]
        line = lines.setdefault((person.id, item.id), rating)
        _check_equal(line, rating)
        if (person.id, item.id) in appended:
            continue
        judgements = events.list_judgements(connection, person.id, item.id)
        event = Event(
            _make_uuid(rating, person.name, len(judgements)),
            item.id,
            verdict=rating.verdict,
            step=rating.step,
            reason=rating.reason,
            seconds=rating.seconds,
        )
        if _is_recorded(judgements, event):
            known += 1
        else:
            _check_player(connection, rating, item.id, person)
            shown = rating.rubric_shown
            record_event(connection, person.id, event, rubric_shown=shown, source=IMPORT, now=now)
            if not shown:
                deal.store_conditions(connection, person.id, {item.category: False})
            appended.add((person.id, item.id))
    added = len(appended)
    return ImportResult(added, known, tuple(new), len(ratings) - added - known)


def annotator_names(ratings: Sequence[Rating]) -> list[str]:
    """Return the distinct normalised names of the annotators."""
    unique: dict[str, None] = {}
    for rating in ratings:
        try:
            unique[people.normalise_name(rating.annotator)] = None
        except ArgumentError as error:
            raise DamagedData(f"{rating.location}: annotator: {error}") from None
    return list(unique)


def _find_item(connection: Connection, rating: Rating) -> Row[*tuple[Any, ...]]:
    item = connection.execute(
        select(items.c.id, items.c.horizon, items.c.category)
        .join(copies, copies.c.item == items.c.id)
        .where(copies.c.continuation == rating.continuation)
    ).one_or_none()
    if item is None:
        raise DamagedData(
            f"{rating.location}: continuation {quote(rating.continuation)} is neither in this "
            "workspace nor in its annotation store; run it first: sts run"
        )
    if rating.step is not None and rating.step > item.horizon:
        raise DamagedData(
            f"{rating.location}: expected a step of 1 to {item.horizon}, counted from takeover, "
            f"found {rating.step}"
        )
    if rating.horizon not in (None, item.horizon):
        raise DamagedData(
            f"{rating.location}: expected the horizon {item.horizon} of continuation "
            f"{rating.continuation!r}, found {rating.horizon}"
        )
    return item


def _check_player(connection: Connection, rating: Rating, item: str, person: Annotator) -> None:
    if connection.execute(select(people.has_played(item, person.id))).scalar_one():
        raise DamagedData(
            f"{rating.location}: {person.name!r} played continuation {rating.continuation!r} and "
            "may not judge it; remove the line"
        )


def _check_equal(first: Rating, rating: Rating) -> None:
    """Refuse another judgement of one clip by one annotator than that of an earlier line."""
    if (first.verdict, first.step, first.reason) != (rating.verdict, rating.step, rating.reason):
        raise DamagedData(
            f"{rating.location}: {quote(rating.annotator)} judged continuation "
            f"{quote(rating.continuation)} as {_describe(rating)} here and as {_describe(first)} "
            f"in {first.location}; expected one row per continuation and annotator"
        )


def _describe(rating: Rating) -> str:
    step = "" if rating.step is None else f" at step {rating.step}"
    return f"{rating.verdict}{step}"


def _is_recorded(judgements: Sequence[tuple[Event, str]], event: Event) -> bool:
    """Return True if an event is current, or was imported before its annotator's own correction."""

    def is_equal(other: Event) -> bool:
        content = (other.verdict, other.step, other.reason)
        return content == (event.verdict, event.step, event.reason)

    if not judgements:
        return False
    current, source = judgements[-1]
    if is_equal(current) or source == IMPORT:
        return is_equal(current)
    return any(is_equal(other) for other, source in judgements if source == IMPORT)


def _make_uuid(rating: Rating, name: str, earlier: int) -> str:
    """Return an id for a judgement, of which its annotator has `earlier` ones of the clip."""
    parts = [rating.continuation, name, rating.verdict, str(rating.step), rating.reason]
    parts += [str(earlier)] if earlier else []
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _parse_rating(location: str, row: Mapping[str, str]) -> Rating | None:
    word = fold_word(row["verdict"])
    if not row["annotator"] and not word:
        return None
    word = USUAL_WORDS.get(word, word)
    if word not in VERDICTS:
        raise DamagedData(
            f"{location}: expected a verdict of {', '.join(VERDICTS)}, true, false, 1 or 0, "
            f"found {quote(row['verdict'])}"
        )
    source = row.get("source") or "human"
    if source == "settled" or row.get("excluded"):
        return None
    if source != "human":
        raise DamagedData(f"{location}: expected only human judgements, found source {source!r}")
    shown = fold_word(row.get("rubric_shown") or "1")
    if shown not in ("0", "1"):
        raise DamagedData(f"{location}: expected rubric_shown of 0 or 1, found {quote(shown)}")
    marked = word in MARKED_VERDICTS
    if not marked and row.get("step"):
        raise DamagedData(f"{location}: expected no step with {word}, found {quote(row['step'])}")
    cell = row.get("horizon", "")
    horizon = _parse_int(location, "horizon", cell, MAX_HORIZON) if cell else None
    return Rating(
        location,
        _parse_name(location, "continuation", row.get("continuation", "")),
        row["annotator"],
        word,
        _parse_int(location, "step", row.get("step", ""), horizon or MAX_HORIZON)
        if marked
        else None,
        horizon,
        _parse_seconds(location, row.get("seconds", "")),
        _parse_reason(location, row.get("reason", "")) if word == UNABLE else "",
        _parse_name(location, "agent", row["agent"]),
        _parse_name(location, "scenario", row["scenario"]),
        shown == "1",
    )


def _parse_name(location: str, column: str, cell: str) -> str:
    try:
        return clean_name(cell) if cell else cell
    except ArgumentError as error:
        raise DamagedData(f"{location}: {column}: {error}") from None


def _parse_float(cell: str) -> float:
    """Return the number in a cell, NaN for none; pandas writes whole numbers with gaps as 7.0."""
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _parse_int(location: str, column: str, cell: str, limit: int) -> int:
    value = _parse_float(cell)
    if not (value.is_integer() and 1 <= value <= limit):
        counted = ", counted from takeover" if column == "step" else ""
        raise DamagedData(
            f"{location}: expected a {column} of 1 to {limit}{counted}, found {quote(cell)}"
        )
    return int(value)


def _parse_seconds(location: str, cell: str) -> float | None:
    if not cell:
        return None
    value = _parse_float(cell)
    if not (math.isfinite(value) and value >= 0):
        raise DamagedData(f"{location}: expected seconds of 0 or more, found {quote(cell)}")
    return value + 0.0  # removes the sign of zero, which SQLite loses but digests include


def _parse_reason(location: str, cell: str) -> str:
    if len(cell) > MAX_TEXT_CHARS:
        raise DamagedData(
            f"{location}: expected a reason of at most {MAX_TEXT_CHARS} characters, "
            f"found {len(cell)}"
        )
    return replace_unprintable(cell)
