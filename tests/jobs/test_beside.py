"""Work beside this process comes to what it comes to here."""

import os
import signal
import time

import numpy as np
import pytest

from sts.errors import UnknownName
from sts.jobs.beside import beside


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)


@pytest.mark.parametrize("worth", [True, False])
def test_a_copy_returns_what_is_found_here_and_is_sent_nothing(worth: bool) -> None:
    held = [lambda: np.arange(5)]  # what no process could be sent
    with beside(lambda: (os.getpid(), held[0]() * 2), worth=worth) as doubled:
        who, found = doubled()
    assert (who != os.getpid()) == worth
    assert found.tolist() == [0, 2, 4, 6, 8]


def test_what_the_work_raises_is_raised_where_it_is_waited_for() -> None:
    def work() -> None:
        raise UnknownName("agent", "x", ["y"])

    with beside(work) as done, pytest.raises(UnknownName, match="agent"):
        done()


def test_a_copy_that_was_ended_costs_time_and_nothing_else() -> None:
    here = os.getpid()

    def work() -> str:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return "done"

    with beside(work) as done:
        assert done() == "done"


def test_nobody_waits_for_work_that_is_no_longer_asked_for() -> None:
    kept = signal.signal(signal.SIGTERM, lambda *_: None)  # as some have it who begin reports
    began = time.monotonic()
    try:
        with pytest.raises(ZeroDivisionError), beside(lambda: time.sleep(60)):
            raise ZeroDivisionError
    finally:
        signal.signal(signal.SIGTERM, kept)
    assert time.monotonic() - began < 30
