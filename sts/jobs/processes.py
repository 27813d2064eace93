"""A process that this one asks over a pipe, and ends with everything that it has begun."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from multiprocessing.connection import Connection, wait
from typing import Any

from sts.errors import Unavailable
from sts.jobs.deadlines import FORK_ENDED_MESSAGE, PROGRESS_MESSAGE, TIMEOUT_VARIABLE

POLL_INTERVAL_S = 0.2  # seconds between two looks, at most
EXIT_TIMEOUT_S = 2.0  # seconds that a process which has closed its pipe may take to end
MAX_MESSAGE_BYTES = 2**29 - 1
"""Bytes of a message from a process that runs the code of users. The first four bytes of a text
that such code writes into the pipe would announce more."""


class WorkerDied(Unavailable):
    """The process of a task has ended without a result; the line says how."""


class WorkerHung(WorkerDied):
    """The process of a task has made no progress for STS_PATIENCE seconds, and was ended."""


class Process:
    """A process at the other end of a pipe, which leads a process group of its own.

    Seconds of silence are counted in looks, so that a time in which this process did not run is one
    look, however long it was.

    Attributes:
      connection: our end of the pipe.
      patience: for how many seconds it may be silent while it is asked; infinity for any time.
      copies: how many copies of the process were ended; see `sts.jobs.deadlines.report_progress`.
    """

    def __init__(self, connection: Connection, started: Any, timeout_s: float) -> None:
        """Take our end of its pipe, and a `multiprocessing.Process` or `subprocess.Popen`."""
        self.connection, self.ended_forks = connection, 0
        self._started, self.timeout_s = started, timeout_s
        self._silent, self._looked = 0.0, time.monotonic()

    @property
    def is_alive(self) -> bool:
        """Return True if it has not ended yet."""
        return self._exit_code(0.0) is None

    @property
    def pid(self) -> int:
        """The number of the process."""
        pid: int = self._started.pid
        return pid

    def send(self, data: bytes) -> None:
        """Send it a message; `poll_answer` finds out if it has just died."""
        self._silent, self._looked = 0.0, time.monotonic()
        with contextlib.suppress(OSError):
            self.connection.send_bytes(data)

    def poll_answer(self) -> bytes | None:
        """Return its answer, or None if it is still at work.

        Raises:
          WorkerDied: it has ended, or has been silent for too long and was ended.
        """
        alive = self.is_alive
        try:
            while self.connection.poll():
                self._silent = 0.0
                data = self.connection.recv_bytes(
                    None if self.timeout_s == float("inf") else MAX_MESSAGE_BYTES
                )
                if data not in (PROGRESS_MESSAGE, FORK_ENDED_MESSAGE):
                    return data
                self.ended_forks += data == FORK_ENDED_MESSAGE
        except (EOFError, ConnectionError):
            alive = False
        except OSError:  # a message that is longer than any
            self.end()
            raise WorkerDied(
                "its process sent bytes that are not an answer, and was ended"
            ) from None
        since, self._looked = time.monotonic() - self._looked, time.monotonic()
        self._silent += min(since, 2 * POLL_INTERVAL_S)
        if not alive:
            raise WorkerDied(self.end(EXIT_TIMEOUT_S))
        if self._silent < self.timeout_s:
            return None
        self.end()
        raise WorkerHung(
            f"its process made no progress for {self.timeout_s:g} seconds and was ended "
            f"({TIMEOUT_VARIABLE} sets how long a step may take)"
        )

    def end(self, seconds: float = 0.0) -> str:
        """End it with everything that it has begun, and return how it came to its end.

        `seconds` is how long it may take to end by itself.
        """
        self.connection.close()
        code = self._exit_code(seconds)
        with contextlib.suppress(OSError):  # it has no group any more
            os.killpg(self._started.pid, signal.SIGKILL)
        self._started.kill()
        self._exit_code(None)
        if code is None:
            return "its process closed its pipe and was ended"
        if code >= 0:
            return f"its process ended with exit code {code} and without a result"
        name = signal.Signals(-code).name
        why = ", for lack of memory or because it was killed" if name == "SIGKILL" else ""
        return f"its process died of {name}{why}"

    def _exit_code(self, seconds: float | None) -> int | None:
        """Return its exit code, waiting for it for so long; None if it has not ended."""
        if isinstance(self._started, subprocess.Popen):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._started.wait(seconds)
            return self._started.returncode
        self._started.join(seconds)
        code: int | None = self._started.exitcode
        return code


def wait_for_message(*processes: Process) -> None:
    """Wait until one of the processes has sent something, or for a pulse."""
    wait([one.connection for one in processes], POLL_INTERVAL_S)
