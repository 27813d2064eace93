"""What befalls a study while people judge; each ends, and whoever waits for it goes on."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Protocol

import numpy as np

from sts.annotations.store import DATABASE_FILE
from sts.errors import StoreError
from tests.faults.judging.history import LEASES
from tests.faults.judging.network import WAYS
from tests.faults.judging.study import Study


class Visitor(Protocol):
    """Somebody's page, in whose browser another's link may be opened."""

    cookie: str


Fault = Callable[[Study, Sequence[Visitor], np.random.Generator], AbstractContextManager[None]]
"""Lasts as long as the context."""


@contextlib.contextmanager
def killed(study: Study, people: Sequence[Visitor], random: np.random.Generator) -> Iterator[None]:
    """The server is killed, and started again."""
    study.server.end(signal.SIGKILL)
    try:
        yield
    finally:
        study.server.start()


@contextlib.contextmanager
def stopped(study: Study, people: Sequence[Visitor], random: np.random.Generator) -> Iterator[None]:
    """The server stands still, and goes on with what it was at."""
    assert study.server.process
    study.server.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        study.server.process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def cut(
    ways: Sequence[str], study: Study, people: Sequence[Visitor], random: np.random.Generator
) -> Iterator[None]:
    """Request are lost before they arrive, or their answers are, or both."""
    study.network.lost = ways
    try:
        yield
    finally:
        study.network.lost = ()


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
    _limit(study, 0 if none else (os.stat(log).st_size if log.exists() else 0) + room)
    try:
        yield
    finally:
        _limit(study, resource.RLIM_INFINITY)


def _limit(study: Study, size: int) -> None:
    """Lets the server make no file longer than so many bytes."""
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


@contextlib.contextmanager
def without_database(
    study: Study, people: Sequence[Visitor], random: np.random.Generator
) -> Iterator[None]:
    """PostgreSQL is stopped at once, and started again."""
    assert study.cluster is not None
    study.cluster.stop()
    try:
        yield
    finally:
        study.cluster.start()


FAULTS: dict[str, Fault] = {
    LEASES: lapsed,
    "disk full": full,
    "kill -9": killed,
    "SIGSTOP": stopped,
    "requests lost": partial(cut, WAYS[:1]),
    "answers lost": partial(cut, WAYS[1:]),
    "network cut": partial(cut, WAYS),
    "cookies exchanged": exchanged,
}
"""In the order in which they begin where they come together; the last one ends first."""
OF_POSTGRESQL: dict[str, Fault] = {"PostgreSQL stopped": without_database}
