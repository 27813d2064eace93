"""Background work: results equal those of work in this process."""

import os
import signal
import time

import numpy as np
import pytest

from sts.errors import UnknownName
from sts.jobs.background import run_in_background


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)


@pytest.mark.parametrize("worth", [True, False])
def test_copy_returns_the_result_of_unpicklable_work(worth) -> None:
    held = [lambda: np.arange(5)]
    with run_in_background(lambda: (os.getpid(), held[0]() * 2), worth=worth) as doubled:
        who, found = doubled()
    assert (who != os.getpid()) == worth
    assert found.tolist() == [0, 2, 4, 6, 8]


def test_error_of_the_work_is_raised_on_waiting() -> None:
    def work() -> None:
        raise UnknownName("agent", "x", ["y"])

    with run_in_background(work) as done, pytest.raises(UnknownName, match="agent"):
        done()


def test_killed_copy_costs_only_time() -> None:
    here = os.getpid()

    def work() -> str:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return "done"

    with run_in_background(work) as done:
        assert done() == "done"


def test_abandoned_work_is_not_waited_for() -> None:
    kept = signal.signal(signal.SIGTERM, lambda *_: None)  # as programs that start reports may
    began = time.monotonic()
    try:
        with pytest.raises(ZeroDivisionError), run_in_background(lambda: time.sleep(60)):
            raise ZeroDivisionError
    finally:
        signal.signal(signal.SIGTERM, kept)
    assert time.monotonic() - began < 30
