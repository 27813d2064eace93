"""What people did and what was kept of it, and which promises that breaks."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sts.annotations.events import JUDGEMENT_KINDS
from tests.faults.trials import BrokenPromise, shortest

GIVEN, PUT, SENT = "is given", "puts", "sends"
ACKNOWLEDGED, REFUSED = "is acknowledged", "is refused"
KEPT, EXTRA, FILLED = "is kept as the author of", "is kept as one too many of", "fills a slot of"
GAVE_UP = "gave up:"
FAULT = "fault:"
LEASES = "leases ran out"


class Event(NamedTuple):
    """One thing that happened, or a row that was found at the end.

    Attributes:
      what: one of the words above.
      by: the number of the person; 0 of a fault.
      answer: the client's id of an answer, "" where it is about none.
      item: the clip.
      said: the verdict, or which fault.
      at: seconds since the trial began, infinite of what was found at the end.
    """

    what: str
    by: int = 0
    answer: str = ""
    item: str = ""
    said: str = ""
    at: float = float("inf")

    def __str__(self) -> str:
        """Says it in a line."""
        when = "at the end" if self.at == float("inf") else f"{self.at:8.3f} s"
        who = f"person {self.by} " if self.by else ""
        about = [f"answer {self.answer}"] * bool(self.answer) + [f"clip {self.item}"] * bool(
            self.item
        )
        return f"{when}  {who}{self.what} {', '.join([*about, self.said])}".rstrip(" ,")


class History:
    """What happened, in the order in which it did; any thread may note something."""

    def __init__(self) -> None:
        """Begins with nothing, now."""
        self.events: list[Event] = []
        self._began = time.monotonic()
        self._lock = threading.Lock()

    def note(
        self, what: str, by: int = 0, answer: str = "", item: str = "", said: str = ""
    ) -> None:
        """Append what happens now."""
        with self._lock:
            at = time.monotonic() - self._began
            self.events.append(Event(what, by, answer, item, said, at))

    def count(self, what: str) -> int:
        """How often it happened."""
        return sum(one.what == what for one in tuple(self.events))


def found(connection: Any) -> list[Event]:
    """Return what a database holds, read past the store: its judgements and its filled slots.

    Args:
      connection: of `sqlite3` or `psycopg`.
    """
    kinds = ", ".join(f"'{kind}'" for kind in JUDGEMENT_KINDS)
    rows = connection.execute(
        f"SELECT extra, annotator, uuid, item, verdict FROM events WHERE kind IN ({kinds}) "
        "ORDER BY id"
    ).fetchall()
    filled = connection.execute("SELECT annotator, item FROM slots WHERE judged = 1").fetchall()
    return [Event(EXTRA if extra else KEPT, *row) for extra, *row in rows] + [
        Event(FILLED, by, item=item) for by, item in filled
    ]


def wanted_in(connection: Any) -> dict[str, int]:
    """Return how many judgements of each clip a database wants; see `found`."""
    return dict(connection.execute("SELECT item, count(*) FROM slots GROUP BY item").fetchall())


class Breach(NamedTuple):
    """What does not hold, and of which answer or clip."""

    promise: str
    of: str


LOST = "an answer that was acknowledged is there"
ARRIVED = "an answer that was put arrives"
ONCE = "an answer is there once"
ONE = "a client's id is one person's"
AUTHOR = "an answer is its author's"
SAME = "an answer is kept as it was given"
PUT_BY_SOMEBODY = "what is kept was put by somebody"
SLOTS = "no more judgements of a clip count than are wanted"
FILLS = "a judgement that counts fills a slot, and nothing else does"
OFFERED = "a clip is given to no more people than are wanted, while leases last"
PROMISES = (LOST, ARRIVED, ONE, ONCE, AUTHOR, SAME, PUT_BY_SOMEBODY, SLOTS, OFFERED, FILLS)
"""Of several that are broken the first is reported: the others may come of it."""


def breaches(history: Sequence[Event], wanted: Mapping[str, int]) -> Iterator[Breach]:
    """Yield what a history breaks that has ended: no fault is left, and no outbox holds anything.

    Args:
      history: with what was found in the database.
      wanted: judgements of each clip.
    """
    by_kind: dict[str, list[Event]] = defaultdict(list)
    for one in history:
        by_kind[one.what].append(one)
    put = {one.answer: one for one in by_kind[PUT]}
    acknowledged = {one.answer for one in by_kind[ACKNOWLEDGED]}
    kept: dict[str, list[Event]] = defaultdict(list)
    for one in (*by_kind[KEPT], *by_kind[EXTRA]):
        kept[one.answer].append(one)
    for answer in put.keys() - kept.keys():
        yield Breach(LOST if answer in acknowledged else ARRIVED, answer)
    for answer in kept.keys() - put.keys():
        yield Breach(PUT_BY_SOMEBODY, answer)
    for answer, rows in kept.items():
        authors = {row.by for row in rows}
        if len(rows) > len(authors):
            yield Breach(ONCE, answer)
        if len(authors) > 1:
            yield Breach(ONE, answer)
        given = put.get(answer)
        if given and authors != {given.by}:
            yield Breach(AUTHOR, answer)
        if given and any((row.item, row.said) != (given.item, given.said) for row in rows):
            yield Breach(SAME, answer)
    yield from _of_clips(by_kind, wanted)


def _of_clips(by_kind: Mapping[str, list[Event]], wanted: Mapping[str, int]) -> Iterator[Breach]:
    def people(what: str) -> dict[str, set[int]]:
        each: dict[str, set[int]] = {}
        for one in by_kind.get(what, ()):
            each.setdefault(one.item, set()).add(one.by)
        return each

    counted, filled = people(KEPT), people(FILLED)
    for item, who in counted.items():
        if len(who) > wanted[item]:
            yield Breach(SLOTS, item)
    for item in counted.keys() | filled.keys():
        if counted.get(item) != filled.get(item):
            yield Breach(FILLS, item)
    if any(one.said == LEASES for one in by_kind.get(FAULT, ())):
        return
    for item, who in people(GIVEN).items():
        if len(who) > wanted[item]:
            yield Breach(OFFERED, item)


def first_breach(
    history: Sequence[Event], wanted: Mapping[str, int]
) -> tuple[Breach, list[Event]] | None:
    """Return what is broken first, and the shortest history that breaks it; None where nothing is.

    Its arguments are those of `breaches`.
    """
    broken = min(
        breaches(history, wanted),
        key=lambda one: (PROMISES.index(one.promise), one.of),
        default=None,
    )
    if broken is None:
        return None
    return broken, shortest(history, lambda events: broken in breaches(events, wanted))


def check(history: Sequence[Event], wanted: Mapping[str, int]) -> None:
    """Raise BrokenPromise where something is broken; its arguments are those of `breaches`.

    It says besides which pages gave up, and what they had met last.
    """
    found = first_breach(history, wanted)
    if found is not None:
        (promise, of), part = found
        part += [one for one in history if one.what == GAVE_UP]
        raise BrokenPromise(f"promised: {promise}; found otherwise of {of}", part)
