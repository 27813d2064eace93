"""What befalls a study while people judge; each fault ends, and those who wait for it go on."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np

from sts.annotations.database.presence import DATABASE_FILE
from sts.errors import StoreError
from tests.faults.judging.history import LEASES
from tests.faults.judging.study import WAYS, Study


class Visitor(Protocol):
    """A person's page, in whose browser another person's link may be opened."""

    cookie: str


Fault = Callable[[Study, Sequence[Visitor], np.random.Generator], AbstractContextManager[None]]
"""Lasts as long as the context."""


def make_fault(begin: Callable[[Study], object], end: Callable[[Study], object]) -> Fault:
    """Return a fault that begins and ends in these ways."""

    @contextlib.contextmanager
    def fault(study: Study, people: object, random: object) -> Iterator[None]:
        begin(study)
        try:
            yield
        finally:
            end(study)

    return fault


def signalled(number: int) -> Callable[[Study], object]:
    def send(study: Study) -> None:
        assert study.server.process
        study.server.process.send_signal(number)

    return send


def losing(*ways: str) -> Callable[[Study], object]:
    return lambda study: setattr(study.network, "lost", ways)


@contextlib.contextmanager
def exchanged(
    study: Study, people: Sequence[Visitor], random: np.random.Generator
) -> Iterator[None]:
    """In the browsers of two people the other's link is opened, and then their own."""
    one, other = (people[n] for n in random.choice(len(people), 2, replace=False))
    one.cookie, other.cookie = other.cookie, one.cookie
    study.network.drop()
    try:
        yield
    finally:
        one.cookie, other.cookie = other.cookie, one.cookie
        study.network.drop()


@contextlib.contextmanager
def full(study: Study, people: Sequence[Visitor], random: np.random.Generator) -> Iterator[None]:
    """The database's files cannot grow, or only by some bytes: no room is left on the disk."""
    if study.cluster is not None:
        study.cluster.fill()
        yield
        study.cluster.wait()
        return
    log = study.server.folder / f"{DATABASE_FILE}-wal"
    room, none = int(random.integers(20_000)), random.random() < 0.5
    limit(study, 0 if none else (os.stat(log).st_size if log.exists() else 0) + room)
    try:
        yield
    finally:
        limit(study, resource.RLIM_INFINITY)


def limit(study: Study, size: int) -> None:
    """Let the server make no file longer than so many bytes."""
    assert study.server.process
    sizes = size, resource.RLIM_INFINITY
    resource.prlimit(study.server.process.pid, resource.RLIMIT_FSIZE, sizes)


@contextlib.contextmanager
def lapsed(study: Study, people: Sequence[Visitor], random: np.random.Generator) -> Iterator[None]:
    """The leases of all that people have before them run out, as if they had been away."""
    while True:
        with contextlib.suppress(StoreError):  # PostgreSQL ends one of two that lock each other out
            with study.server.store.database.write() as connection:
                connection.exec_driver_sql("UPDATE slots SET lease_until = 0 WHERE judged = 0")
            break
    yield


FAULTS: dict[str, Fault] = {
    LEASES: lapsed,
    "disk full": full,
    "kill -9": make_fault(lambda s: s.server.end(signal.SIGKILL), lambda s: s.server.start()),
    "SIGSTOP": make_fault(signalled(signal.SIGSTOP), signalled(signal.SIGCONT)),
    "requests lost": make_fault(losing(*WAYS[:1]), losing()),
    "answers lost": make_fault(losing(*WAYS[1:]), losing()),
    "network cut": make_fault(losing(*WAYS), losing()),
    "cookies exchanged": exchanged,
}
"""In the order in which they begin if they come together; the last one ends first."""
OF_POSTGRESQL: dict[str, Fault] = {
    "PostgreSQL stopped": make_fault(lambda s: s.cluster.stop(), lambda s: s.cluster.start())  # type: ignore[union-attr]
}
