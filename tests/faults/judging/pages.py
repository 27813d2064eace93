"""A page without a browser: it judges what it is given, and sends its outbox until all is kept."""

from __future__ import annotations

import json
import time
from http.client import HTTPException
from typing import Any

import numpy as np
from websockets.exceptions import WebSocketException

from sts_annotator_app.annotating import storage_namespace
from tests.annotator_app.wire import Wire, connected
from tests.faults.judging import history as words
from tests.faults.judging.history import History
from tests.faults.judging.study import Study

# Seconds without an answer after which a page connects again, at first and at most. They double
# with each time, since an answer that is late on a busy machine is not lost.
PATIENCE, LONGEST = 3.0, 60.0
PAUSE = 0.2  # seconds after which it tries again if it could not
MOST = 4  # answers that are put between two messages at most
CORRECTED = 0.15  # how often an answer is changed
LEFT = 0.05  # how often a page is left before its answer came
MARKED = 0.5  # how often a mark is a success


class Page:
    """The page of one person, with an outbox of answers that are not acknowledged, by their ids.

    Another person's link may replace the cookie that their browser sends.
    """

    def __init__(
        self, person: int, cookie: str, random: np.random.Generator, history: History
    ) -> None:
        self.person, self.cookie, self.outbox = person, cookie, dict[str, dict[str, Any]]()
        self._random, self._history = random, history
        self._author, self._beat, self._patience = "", 0, PATIENCE
        self._queue: list[str] | None = None
        self._answered: dict[str, str] = {}
        self._given: set[str] = set()

    def work(self, study: Study, answers: int, until: float) -> None:
        """Put so many answers, or as many as there is work for, and send until all are kept.

        After the monotonic time `until` the page gives up; what it holds is then lost.
        """
        self._author, met = storage_namespace(study.server.place, self.person), "nothing"
        while (answers or self.outbox) and time.monotonic() < until:
            try:
                with connected(study.address, self.cookie, self._patience) as wire:
                    self._hear(wire.ask())
                    met = "a page" if wire.mounted else "no page of its own"
                    while wire.mounted and (answers or self.outbox) and time.monotonic() < until:
                        answers = 0 if self._queue == [] else answers - self._judge(answers)
                        if not self._exchange(wire):
                            break
            except TimeoutError:
                self._patience = min(2 * self._patience, LONGEST)
                met = "no answer"
            except (OSError, HTTPException, WebSocketException) as error:
                met = repr(error)
            time.sleep(PAUSE)
        for answer in self.outbox:
            self._history.note(words.GAVE_UP, self.person, answer, said=f"met {met} last")

    def _judge(self, most: int) -> int:
        """Put some answers into the outbox; return how many."""
        due = [item for item in self._queue or () if item not in self._answered]
        due = due[: min(most, int(self._random.integers(MOST + 1)))]
        for item in due:
            self._put(item, None)
        if due and self._random.random() < CORRECTED:
            self._put(due[-1], self._answered[due[-1]])
        return len(due)

    def _put(self, item: str, corrects: str | None) -> None:
        answer, success = self._random.bytes(16).hex(), self._random.random() < MARKED
        verdict = "success" if success else "not_done"
        self.outbox[answer] = {
            **{"uuid": answer, "item": item, "verdict": verdict},
            **{"step": 1 if success else None, "watched": 1, "seconds": 4.5, "corrects": corrects},
        }
        self._answered[item] = answer
        self._history.note(words.PUT, self.person, answer, item, verdict)

    def _exchange(self, wire: Wire) -> bool:
        """Send the outbox and hear what comes of it; return whether the page is still open."""
        time.sleep(float(self._random.exponential(PAUSE)))
        self._beat += 1
        message = {"author": self._author, "outbox": [*self.outbox.values()], "beat": self._beat}
        for answer in self.outbox:
            self._history.note(words.SENT, self.person, answer)
        if self._random.random() < LEFT:
            wire.say(json.dumps(message))
            return False
        heard = wire.ask(json.dumps(message | {"has": self._queue}))
        self._hear(heard)
        return bool(heard)

    def _hear(self, messages: list[dict[str, Any]]) -> None:
        for data in messages:
            if data["author"] != self._author:  # another's link was opened in this browser
                self._queue = None
                continue
            for ack in data["acks"]:
                self._patience = PATIENCE
                if self.outbox.pop(ack["uuid"], None):
                    # A rejected answer has left the outbox, and never arrives.
                    rejected = ack["status"] == "rejected"
                    what = words.REFUSED if rejected else words.ACKNOWLEDGED
                    said = ack["message" if rejected else "status"]
                    self._history.note(what, self.person, ack["uuid"], said=said)
            if data["queue"] is not None:
                self._queue = [one["id"] for one in data["queue"]]
                for item in {*self._queue} - self._given:
                    self._history.note(words.GIVEN, self.person, item=item)
                self._given |= {*self._queue}
