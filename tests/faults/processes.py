"""Forked processes, which have all that is imported here, so that a command takes its own work."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

PATIENCE = 120.0
"""Seconds after which a command hangs."""


class Ended(NamedTuple):
    """How a process has ended: its exit code, or minus a signal, and the most that it held."""

    code: int
    megabytes: float


def fork(work: Callable[[], int], out: Path, errors: Path) -> int:
    """Begin work in a forked process, which exits with what it returns; return its number.

    It exits with 99 and a traceback if the work raises.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking while there are threads
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
    if process:
        return process
    code = 99
    try:
        for number, path in ((1, out), (2, errors)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def wait(process: int, patience: float = PATIENCE) -> Ended | None:
    """Return how a process has ended; None if it has not after so many seconds."""
    limit = time.monotonic() + patience
    while True:
        found, status, used = os.wait4(process, os.WNOHANG)
        if found:
            return Ended(os.waitstatus_to_exitcode(status), used.ru_maxrss / 1024)
        if time.monotonic() > limit:
            return None
        time.sleep(0.002)
