"""Calls into the environment of a user: whatever it does wrong becomes one line.

Every such call is made in `with guarded(what)`, in worker processes as in the main one. A call that
never returns cannot be interrupted here. Code of users is therefore called in a worker process,
which calls `report_progress` after each step; its parent ends a worker that has been silent for
STS_PATIENCE seconds (`sts.jobs.pool`).
"""

from __future__ import annotations

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
"""Messages of a worker at work: it has made progress; a copy of it has been ended."""
_MIN_REPORT_INTERVAL_S = 0.5  # seconds between two reports of progress, at least


class _StdoutToStderr:
    """A context in which what is printed goes to standard error.

    Standard output comes back as it was before the first of those under way, in whichever thread.
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
PROGRESS_STATE = SimpleNamespace(send=None, process=0, last=0.0)
"""The reports of this process to its parent, if it is a worker: what sends one, the process that a
guarded call was begun in (0 outside such calls), and when progress was reported last."""


def report_progress() -> None:
    """Report that code of a user has returned; end this process if that code forked it.

    A caller of several environments in one guarded call calls it after each.
    """
    if PROGRESS_STATE.process and os.getpid() != PROGRESS_STATE.process:
        print(f"{FORK_ERROR}; its copy was ended\n", end="", file=sys.stderr, flush=True)
        if PROGRESS_STATE.send is not None:
            PROGRESS_STATE.send(FORK_ENDED_MESSAGE)
        os._exit(0)
    if (
        PROGRESS_STATE.send is not None
        and time.monotonic() - PROGRESS_STATE.last >= _MIN_REPORT_INTERVAL_S
    ):
        PROGRESS_STATE.last = time.monotonic()
        PROGRESS_STATE.send(PROGRESS_MESSAGE)


def read_timeout() -> float:
    """Return for how many seconds a worker may be silent.

    Raises:
      ArgumentError: STS_PATIENCE is not a positive number.
    """
    text = os.environ.get(TIMEOUT_VARIABLE, str(DEFAULT_TIMEOUT_S))
    with contextlib.suppress(ValueError):
        if 0 < (seconds := float(text)) < 1e9:
            return seconds
    raise ArgumentError(f"expected {TIMEOUT_VARIABLE} to be a number of seconds, found {text!r}")


@contextlib.contextmanager
def guarded(what: str, error: type[StsError] = StsError) -> Iterator[None]:
    """Call a user's environment in this context.

    What it prints goes to standard error, so that it is never mixed with what `sts` prints. If it
    forks this process and returns twice, the copy ends.

    Raises:
      StsError: what was raised, `SystemExit` too, as an `error` whose line begins with `what`.
    """
    before, PROGRESS_STATE.process = PROGRESS_STATE.process, os.getpid()
    try:
        with stdout_to_stderr:
            try:
                yield
            finally:
                report_progress()
                PROGRESS_STATE.process = before
    except (StsError, KeyboardInterrupt):
        raise
    except BaseException as found:
        raise error(f"{what}: {type(found).__name__}: {found}") from found
