"""Worker processes: what goes wrong in one is said in one line."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from sts.errors import ReplayMismatch, Unavailable
from sts.jobs.pool import pool


def differ() -> None:
    raise ReplayMismatch("step 3: elsewhere", step=3)


def ignored() -> bool:
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_an_error_of_ours_in_a_worker_is_the_same_error_here() -> None:
    with pytest.raises(ReplayMismatch, match="step 3: elsewhere") as caught, pool(1) as executor:
        executor.submit(differ).result()
    assert caught.value.step == 3


def test_a_worker_that_dies_is_said_in_words() -> None:
    line = r"one of 1 worker processes died: it was ended, or wanted memory"
    with pytest.raises(Unavailable, match=line), pool(1) as executor:
        executor.submit(os._exit, 9).result()


def test_workers_leave_an_interrupt_to_their_parent() -> None:
    with pool(1) as executor:
        assert executor.submit(ignored).result()


BUSY = """
import time
from sts.jobs.pool import pool

with pool(2) as executor:
    executor.submit(int).result()
    tasks = [executor.submit(time.sleep, 600) for _ in range(count)]
    while not all(task.running() for task in tasks):
        time.sleep(0.01)
    print(*executor._processes, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("busy", [0, 2])
def test_workers_end_when_their_parent_is_killed(busy: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY.replace("count", str(busy))],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    workers = [int(pid) for pid in process.stdout.readline().split()]
    process.kill()
    try:
        process.communicate(timeout=300)  # they all have its standard output open
    except subprocess.TimeoutExpired:
        for pid in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        raise
    assert len(workers) == max(1, busy)
