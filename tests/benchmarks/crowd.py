"""Simulated annotators: each speaks with a server as a page does, and says when it was answered."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from tests.annotator_app.serving import Server
from tests.annotator_app.wire import Wire, wired


class Pace(NamedTuple):
    """How long a person thinks about a clip: uniformly between so many seconds and so many."""

    least: float
    most: float


class Crowd:
    """People at their pages.

    Attributes:
      people: how many they are.
      seconds: of every answer, from when it was sent to when all that it changed had come.
      there: how many have their page open.
      broken: why somebody could not go on.
    """

    def __init__(self, server: Server, name: str, people: int, pace: Pace, seed: int) -> None:
        """Take what the people are called, each with a number; none has opened a page yet."""
        self.seconds: list[float] = []
        self.there = 0
        self.broken: list[str] = []
        self._server, self._pace = server, pace
        self._streams = np.random.default_rng(seed).spawn(people)
        self.people = people
        self._names = [f"{name} {number}" for number in range(people)]
        self._over = Event()

    @contextmanager
    def judging(self) -> Iterator[None]:
        """Has everybody judge while the block lasts; they come one a second or so."""
        with ThreadPoolExecutor(len(self._names)) as pool:
            for name, stream in zip(self._names, self._streams, strict=True):
                pool.submit(self._judge, name, stream)
            try:
                yield
            finally:
                self._over.set()

    def _judge(self, name: str, stream: np.random.Generator) -> None:
        try:
            self._over.wait(stream.uniform(0, len(self._names)))
            with wired(self._server, name) as wire:
                (data,) = wire.ask()
                self.there += 1
                while not self._thinking(stream):
                    data = self._answer(wire, data, stream)
        except Exception as error:  # said by whoever waits for the answers
            self.broken.append(f"{name}: {error!r}")

    def _thinking(self, stream: np.random.Generator) -> bool:
        """Wait as long as a person thinks; return whether it is all over."""
        return self._over.wait(stream.uniform(*self._pace))

    def _answer(
        self, wire: Wire, data: dict[str, Any], stream: np.random.Generator
    ) -> dict[str, Any]:
        clips = [clip["id"] for clip in data["queue"]]
        one = {"uuid": stream.bytes(16).hex(), "item": clips[0], "verdict": "not_done"}
        sent = {
            "author": data["author"],
            "outbox": [one],
            "has": clips,
            "midnight": time.time() // 86400 * 86400,
        }
        began = time.perf_counter()
        (answer,) = wire.ask(json.dumps({"sync": sent}))
        seconds = time.perf_counter() - began
        if [(ack["uuid"], ack["status"]) for ack in answer["acks"]] != [(one["uuid"], "saved")]:
            raise AssertionError(f"expected the answer to be saved, found {answer['acks']}")
        self.seconds.append(seconds)
        return answer
