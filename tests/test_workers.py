"""Worker processes: what goes wrong in one is said in one line."""

import os
import signal

import pytest

from sts.errors import ReplayMismatch, Unavailable
from sts.workers import pool


def differ() -> None:
    raise ReplayMismatch("step 3: elsewhere", step=3)


def ignored() -> bool:
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_an_error_of_ours_in_a_worker_is_the_same_error_here() -> None:
    with pytest.raises(ReplayMismatch, match="step 3: elsewhere") as caught, pool(1) as executor:
        executor.submit(differ).result()
    assert caught.value.step == 3


def test_a_worker_that_dies_is_said_in_words() -> None:
    with pytest.raises(Unavailable, match="worker processes died"), pool(1) as executor:
        executor.submit(os._exit, 9).result()


def test_workers_leave_an_interrupt_to_their_parent() -> None:
    with pool(1) as executor:
        assert executor.submit(ignored).result()
