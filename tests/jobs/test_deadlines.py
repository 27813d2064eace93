"""Guarded calls: what threads that make them at the same time leave behind."""

import os
import threading
from pathlib import Path

from sts.jobs.deadlines import PROGRESS_STATE, guard_call, report_progress
from tests.faults.processes import fork


def test_calls_of_two_threads_that_overlap_end_no_later_fork(tmp_path: Path) -> None:
    """The first to begin ends first, so the second must not restore what it found then."""
    inside, done = threading.Event(), threading.Event()

    def call_for_longer() -> None:
        with guard_call("wait"):
            inside.set()
            done.wait()

    thread = threading.Thread(target=call_for_longer)
    with guard_call("begin"):
        thread.start()
        inside.wait()
    done.set()
    thread.join()

    def report() -> int:
        PROGRESS_STATE.send = lambda message: None  # as in a worker
        report_progress()
        return 7

    child = fork(report, tmp_path / "out", tmp_path / "errors")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
