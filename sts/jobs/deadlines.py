"""Guarded calls of user environments: one-line errors, captured output and timeouts.

Every call is made in `with guarded(what)`. A call that hangs cannot be interrupted in the same
process. So user code runs in a worker process, which calls `report_progress` after each step; its
parent kills a worker that makes no progress for STS_PATIENCE seconds (`sts.jobs.pool`).
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TextIO

from sts.errors import ArgumentError, StsError

TIMEOUT_VARIABLE = "STS_PATIENCE"
DEFAULT_TIMEOUT_S = 300.0
FORK_ERROR = "an environment forked this process"
PROGRESS_MESSAGE, FORK_ENDED_MESSAGE = b".", b"2"
"""Messages of a busy worker: it made progress; a fork of it was ended."""
_MIN_REPORT_INTERVAL_S = 0.5  # seconds between two reports of progress, at least


class _StdoutToStderr:
    """A context that redirects standard output to standard error.

    It can be nested and used by several threads; the last to leave restores standard output.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._kept: TextIO = sys.stdout

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._kept, sys.stdout = sys.stdout, sys.stderr
            self._depth += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                sys.stdout = self._kept


stdout_to_stderr = _StdoutToStderr()
PROGRESS_STATE = SimpleNamespace(send=None, last=0.0)
"""State of progress reports: the function that sends one, if this process is a worker; and the time
of the last report."""


class _GuardedCall(threading.local):
    """The current guarded call of each thread; `process` is the ID of what started it, else 0."""

    process = 0


_GUARDED_CALL = _GuardedCall()


def report_progress() -> None:
    """Report progress of user code to the parent; exit if that code forked this process.

    Call it after each environment if a guarded call steps several. It does nothing in a process
    without a parent that waits, or within half a second of the last report.
    """
    if PROGRESS_STATE.send is None:
        return
    now = time.monotonic()
    if now - PROGRESS_STATE.last >= _MIN_REPORT_INTERVAL_S:
        _end_fork()
        PROGRESS_STATE.last = now
        PROGRESS_STATE.send(PROGRESS_MESSAGE)


def _end_fork() -> None:
    """Exit if the code of a guarded call forked this process."""
    if _GUARDED_CALL.process and os.getpid() != _GUARDED_CALL.process:
        print(f"{FORK_ERROR}; its copy was ended\n", end="", file=sys.stderr, flush=True)
        if PROGRESS_STATE.send is not None:
            PROGRESS_STATE.send(FORK_ENDED_MESSAGE)
        os._exit(0)


def read_timeout() -> float:
    """Return the timeout of workers in seconds; raise ArgumentError if it is invalid."""
    text = os.environ.get(TIMEOUT_VARIABLE, str(DEFAULT_TIMEOUT_S))
    with contextlib.suppress(ValueError):
        if 0 < (seconds := float(text)) < 1e9:
            return seconds
    raise ArgumentError(f"expected {TIMEOUT_VARIABLE} to be a number of seconds, found {text!r}")


@contextlib.contextmanager
def guard_call(what: str, error: type[StsError] = StsError) -> Iterator[None]:
    """Open a context in which a user's environment is called.

    Its prints go to standard error. If it forks this process, the fork is ended.

    Raises:
      StsError: any exception, including `SystemExit`, as an `error` that starts with `what`.
    """
    before, _GUARDED_CALL.process = _GUARDED_CALL.process, os.getpid()
    try:
        with stdout_to_stderr:
            try:
                yield
            finally:
                _end_fork()
                report_progress()
                _GUARDED_CALL.process = before
    except (StsError, KeyboardInterrupt):
        raise
    except BaseException as cause:
        raise error(f"{what}: {type(cause).__name__}: {cause}") from cause
