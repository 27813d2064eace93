"""Judgements made elsewhere: a ratings table in CSV, checked line by line, then appended."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from sts.annotations import people
from sts.annotations.schema import events, item_players, items
from sts.annotations.submissions import REASON_LIMIT, Submission, find_event, record
from sts.errors import ArgumentError, DamagedData
from sts.ratings import MARKED, REQUIRED, VERDICTS


class Rating(NamedTuple):
    """One line of a ratings table that holds a judgement.

    Attributes:
      place: the file and line, for messages.
      continuation: what was judged.
      annotator: by whom.
      verdict: success, failure, not_done or cannot_judge.
      step: 1..horizon for success and failure, else None.
      horizon: continuation steps.
      seconds: time spent, or None.
      reason: why it cannot be judged, or "".
    """

    place: str
    continuation: str
    annotator: str
    verdict: str
    step: int | None
    horizon: int
    seconds: float | None
    reason: str


class Imported(NamedTuple):
    """What an import did.

    Attributes:
      added: judgements appended.
      known: judgements that were already there.
      annotators: names that were new.
    """

    added: int
    known: int
    annotators: tuple[str, ...]


def read_csv(path: Path) -> list[Rating]:
    """Returns the judgements of a ratings table; lines of unjudged continuations are passed over.

    Raises:
      ArgumentError: there is no such file.
      DamagedData: the file is empty, binary or ragged, a column is missing, or a cell is not what
        it should be; names the line.
    """
    if not path.is_file():
        raise ArgumentError(f"no table at {path}; check the path")
    data = path.read_bytes()
    if not data.strip():
        raise DamagedData(f"{path.name}: expected a ratings table, found an empty file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise DamagedData(f"{path.name}: expected CSV text in UTF-8, found a binary file")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: list[Rating] = []
    line = 1
    try:
        header = [cell.strip() for cell in next(reader, [])]
        missing = [column for column in REQUIRED if column not in header]
        if missing:
            raise DamagedData(
                f"{path.name}, line 1: missing column {', '.join(map(repr, missing))}; "
                f"expected {', '.join(REQUIRED)}"
            )
        line = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rating = _rating(f"{path.name}, line {line}", header, cells)
                found += [rating] if rating else []
            line = reader.line_num + 1
    except csv.Error as error:
        raise DamagedData(f"{path.name}, line {line}: not readable as CSV ({error})") from None
    return found


def append(connection: Connection, ratings: Sequence[Rating], *, now: float) -> Imported:
    """Appends judgements of continuations that the store knows; all of them or none.

    A judgement that is already there, or that says what its annotator's current one says, changes
    nothing, so an import may be repeated and an export read back. Unknown annotators are added
    without a personal link.

    Raises:
      DamagedData: a continuation is unknown, has another horizon, or was played by the annotator;
        names the line.
    """
    here = {person.name: person.id for person in people.everybody(connection)}
    new = [name for name in _names(ratings) if name not in here]
    here |= {name: people.add(connection, name, linked=False, now=now).id for name in new}
    for number in sorted(here[name] for name in _names(ratings)):
        people.lock(connection, number)  # before any slot is taken, as `lock` asks
    added = 0
    for rating in ratings:
        item, name = _item(connection, rating), people.checked_name(rating.annotator)
        submission = Submission(
            _uuid(rating, name),
            item.id,
            rating.verdict,
            rating.step,
            rating.reason,
            None,
            rating.seconds,
            None,
        )
        if not _is_known(connection, here[name], submission):
            _check_player(connection, rating, item.id, name)
            record(connection, here[name], submission, source="import", now=now)
            added += 1
    return Imported(added, len(ratings) - added, tuple(new))


def _names(ratings: Sequence[Rating]) -> list[str]:
    names: dict[str, None] = {}
    for rating in ratings:
        try:
            names[people.checked_name(rating.annotator)] = None
        except ArgumentError as error:
            raise DamagedData(f"{rating.place}: annotator: {error}") from None
    return list(names)


def _item(connection: Connection, rating: Rating) -> Row[*tuple[Any, ...]]:
    item = connection.execute(
        select(items.c.id, items.c.horizon).where(items.c.continuation == rating.continuation)
    ).one_or_none()
    if item is None:
        raise DamagedData(
            f"{rating.place}: continuation {rating.continuation!r} is not in the annotation "
            "store; open its suite with `sts annotate` first"
        )
    if item.horizon != rating.horizon:
        raise DamagedData(
            f"{rating.place}: expected the horizon {item.horizon} of continuation "
            f"{rating.continuation!r}, found {rating.horizon}"
        )
    return item


def _check_player(connection: Connection, rating: Rating, item: str, name: str) -> None:
    played = connection.execute(
        select(item_players).where(item_players.c.item == item, item_players.c.name == name)
    ).one_or_none()
    if played is not None:
        raise DamagedData(
            f"{rating.place}: {name!r} played continuation {rating.continuation!r} and may not "
            "judge it; leave the line out"
        )


def _is_known(connection: Connection, number: int, submission: Submission) -> bool:
    if find_event(connection, number, submission.uuid) is not None:
        return True
    standing = connection.execute(
        select(events.c.verdict, events.c.step, events.c.reason)
        .where(events.c.annotator == number, events.c.item == submission.item)
        .order_by(events.c.id.desc())
        .limit(1)
    ).one_or_none()
    return standing is not None and tuple(standing) == (
        submission.verdict,
        submission.step,
        submission.reason,
    )


def _uuid(rating: Rating, name: str) -> str:
    parts = (rating.continuation, name, rating.verdict, str(rating.step), rating.reason)
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _rating(place: str, header: list[str], cells: list[str]) -> Rating | None:
    if len(cells) != len(header):
        raise DamagedData(f"{place}: expected {len(header)} cells, found {len(cells)}")
    row = {column: cell.strip() for column, cell in zip(header, cells, strict=True)}
    if not row["annotator"] and not row["verdict"]:
        return None
    if row["verdict"] not in VERDICTS:
        raise DamagedData(
            f"{place}: expected a verdict of {', '.join(VERDICTS)}, found {row['verdict']!r}"
        )
    source = row.get("source") or "human"
    if source != "human":
        raise DamagedData(f"{place}: expected human judgements alone, found source {source!r}")
    horizon = _whole(place, "horizon", row["horizon"], None)
    marked = row["verdict"] in MARKED
    if not marked and row["step"]:
        raise DamagedData(f"{place}: expected no step with {row['verdict']}, found {row['step']!r}")
    return Rating(
        place,
        row["continuation"],
        row["annotator"],
        row["verdict"],
        _whole(place, "step", row["step"], horizon) if marked else None,
        horizon,
        _seconds(place, row.get("seconds", "")),
        _reason(place, row.get("reason", "")) if row["verdict"] == "cannot_judge" else "",
    )


def _whole(place: str, column: str, cell: str, limit: int | None) -> int:
    try:
        value = float(cell)  # pandas writes a column of whole numbers with gaps as 7.0
    except ValueError:
        value = math.nan
    if not value.is_integer() or value < 1 or (limit is not None and value > limit):
        expected = "1 or more" if limit is None else f"1 to {limit}, counted from takeover"
        raise DamagedData(f"{place}: expected a {column} of {expected}, found {cell!r}")
    return int(value)


def _seconds(place: str, cell: str) -> float | None:
    if not cell:
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise DamagedData(f"{place}: expected seconds of 0 or more, found {cell!r}")
    return value


def _reason(place: str, cell: str) -> str:
    if len(cell) > REASON_LIMIT:
        raise DamagedData(
            f"{place}: expected a reason of at most {REASON_LIMIT} characters, found {len(cell)}"
        )
    return cell
