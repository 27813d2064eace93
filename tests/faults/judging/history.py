"""What people did and what was kept of it, and which promises that breaks."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sts.annotations.log.events import JUDGEMENT_KINDS
from tests.faults.trials import BrokenPromise, shortest

GIVEN, PUT, SENT = "is given", "puts", "sends"
ACKNOWLEDGED, REFUSED = "is acknowledged", "is refused"
KEPT, EXTRA, FILLED = "is kept as the author of", "is kept as one too many of", "fills a slot of"
GAVE_UP = "gave up:"
FAULT = "fault:"
LEASES = "leases ran out"


class Event(NamedTuple):
    """One thing that happened, or a row that was found at the end.

    `by` is the number of the person, `answer` the client's id of an answer, `item` the clip, `said`
    the verdict or which fault, and `at` seconds since the trial began.
    """

    what: str
    by: int = 0
    answer: str = ""
    item: str = ""
    said: str = ""
    at: float = float("inf")

    def __str__(self) -> str:
        when = "at the end" if self.at == float("inf") else f"{self.at:8.3f} s"
        who = f"person {self.by} " if self.by else ""
        about = [f"answer {self.answer}"] * bool(self.answer)
        about += [f"clip {self.item}"] * bool(self.item)
        return f"{when}  {who}{self.what} {', '.join([*about, self.said])}".rstrip(" ,")


class History:
    """What happened, in the order in which it did; any thread may note something."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._began = time.monotonic()
        self._lock = threading.Lock()

    def note(
        self, what: str, by: int = 0, answer: str = "", item: str = "", said: str = ""
    ) -> None:
        with self._lock:
            at = time.monotonic() - self._began
            self.events.append(Event(what, by, answer, item, said, at))

    def count(self, what: str) -> int:
        return sum(one.what == what for one in tuple(self.events))


def read_events(connection: Any) -> list[Event]:
    """Return the judgements and the filled slots of a database, read past the store.

    The connection is one of `sqlite3` or `psycopg`.
    """
    kinds = ", ".join(f"'{kind}'" for kind in JUDGEMENT_KINDS)
    rows = connection.execute(
        f"SELECT extra, annotator, uuid, item, verdict FROM events WHERE kind IN ({kinds}) "
        "ORDER BY id"
    ).fetchall()
    filled = connection.execute("SELECT annotator, item FROM slots WHERE judged = 1").fetchall()
    kept = [Event(EXTRA if extra else KEPT, *row) for extra, *row in rows]
    return kept + [Event(FILLED, by, item=item) for by, item in filled]


def wanted_in(connection: Any) -> dict[str, int]:
    """Return how many judgements of each clip a database wants; see `read_events`."""
    return dict(connection.execute("SELECT item, count(*) FROM slots GROUP BY item").fetchall())


class Breach(NamedTuple):
    """A promise that does not hold, and of which answer or clip."""

    promise: str
    of: str


LOST = "an answer that was acknowledged is there"
ARRIVED = "an answer that was put arrives"
ONCE = "an answer is there once"
ONE = "a client's id is one person's"
AUTHOR = "an answer is its author's"
SAME = "an answer is kept as it was given"
KNOWN = "every kept answer was put by a person"
SLOTS = "no more judgements of a clip count than are wanted"
FILLS = "a judgement that counts fills a slot, and nothing else does"
OFFERED = "a clip is given to no more people than are wanted, while leases last"
PROMISES = (LOST, ARRIVED, ONE, ONCE, AUTHOR, SAME, KNOWN, SLOTS, OFFERED, FILLS)
"""Of several that are broken the first is reported: the others may come of it."""


def breaches(history: Sequence[Event], wanted: Mapping[str, int]) -> Iterator[Breach]:
    """Yield what a history breaks that has ended: no fault is left, and every outbox is empty.

    The history has what was found in the database; `wanted` are judgements of each clip.
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
    for answer, rows in kept.items():
        authors = {row.by for row in rows}
        given = put.get(answer)
        if not given:
            yield Breach(KNOWN, answer)
        if len(rows) > len(authors):
            yield Breach(ONCE, answer)
        if len(authors) > 1:
            yield Breach(ONE, answer)
        if given and authors != {given.by}:
            yield Breach(AUTHOR, answer)
        if given and any((row.item, row.said) != (given.item, given.said) for row in rows):
            yield Breach(SAME, answer)

    def people(what: str) -> dict[str, set[int]]:
        each: dict[str, set[int]] = defaultdict(set)
        for one in by_kind[what]:
            each[one.item].add(one.by)
        return each

    counted, filled = people(KEPT), people(FILLED)
    yield from (Breach(SLOTS, item) for item, who in counted.items() if len(who) > wanted[item])
    for item in counted.keys() | filled.keys():
        if counted.get(item) != filled.get(item):
            yield Breach(FILLS, item)
    if not any(one.said == LEASES for one in by_kind[FAULT]):
        given_to = people(GIVEN).items()
        yield from (Breach(OFFERED, item) for item, who in given_to if len(who) > wanted[item])


def check(history: Sequence[Event], wanted: Mapping[str, int]) -> None:
    """Raise BrokenPromise with the first breach and the shortest history that shows it.

    It also shows which pages gave up, and what they had met last.
    """
    every = breaches(history, wanted)
    first = min(every, key=lambda one: (PROMISES.index(one.promise), one.of), default=None)
    if first is not None:
        part = shortest(history, lambda events: first in breaches(events, wanted))
        part += [one for one in history if one.what == GAVE_UP]
        raise BrokenPromise(f"promised: {first.promise}; found otherwise of {first.of}", part)
