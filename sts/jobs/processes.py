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
from sts.jobs.deadlines import COPY, PATIENCE, PROGRESS

PULSE = 0.2  # seconds between two looks, at most
LEAVE = 2.0  # seconds that a process which has closed its pipe may take to end
MOST = 2**29 - 1
"""Bytes of a message from a process that runs the code of users. The first four bytes of a text
that such code writes into the pipe would announce more."""


class Died(Unavailable):
    """The process of a task has ended without a result; the line says how."""


class Hung(Died):
    """The process of a task has made no progress for STS_PATIENCE seconds, and was ended."""


class Process:
    """A process at the other end of a pipe, which leads a process group of its own.

    Seconds of silence are counted in looks, so that a time in which this process did not run is one
    look, however long it was.

    Attributes:
      connection: our end of the pipe.
      patience: for how many seconds it may be silent while it is asked; infinity for any time.
      copies: how many copies of the process were ended; see `sts.jobs.deadlines.progress`.
    """

    def __init__(self, connection: Connection, begun: Any, patience: float) -> None:
        """Take our end of its pipe, and a `multiprocessing.Process` or `subprocess.Popen`."""
        self.connection, self.copies = connection, 0
        self._begun, self.patience = begun, patience
        self._silent, self._looked = 0.0, time.monotonic()

    @property
    def alive(self) -> bool:
        """Return True if it has not ended yet."""
        return self._code(0.0) is None

    @property
    def pid(self) -> int:
        """The number of the process."""
        pid: int = self._begun.pid
        return pid

    def send(self, data: bytes) -> None:
        """Send it a message; `answer` finds out if it has just died."""
        self._silent, self._looked = 0.0, time.monotonic()
        with contextlib.suppress(OSError):
            self.connection.send_bytes(data)

    def answer(self) -> bytes | None:
        """Return its answer, or None if it is still at work.

        Raises:
          Died: it has ended, or has been silent for too long and was ended.
        """
        alive = self.alive
        try:
            while self.connection.poll():
                self._silent = 0.0
                data = self.connection.recv_bytes(None if self.patience == float("inf") else MOST)
                if data not in (PROGRESS, COPY):
                    return data
                self.copies += data == COPY
        except (EOFError, ConnectionError):
            alive = False
        except OSError:  # a message that is longer than any
            self.end()
            raise Died("its process sent bytes that are not an answer, and was ended") from None
        since, self._looked = time.monotonic() - self._looked, time.monotonic()
        self._silent += min(since, 2 * PULSE)
        if not alive:
            raise Died(self.end(LEAVE))
        if self._silent < self.patience:
            return None
        self.end()
        raise Hung(
            f"its process made no progress for {self.patience:g} seconds and was ended "
            f"({PATIENCE} sets how long a step may take)"
        )

    def end(self, seconds: float = 0.0) -> str:
        """End it with everything that it has begun, and return how it came to its end.

        `seconds` is how long it may take to end by itself.
        """
        self.connection.close()
        code = self._code(seconds)
        with contextlib.suppress(OSError):  # it has no group any more
            os.killpg(self._begun.pid, signal.SIGKILL)
        self._begun.kill()
        self._code(None)
        if code is None:
            return "its process closed its pipe and was ended"
        if code >= 0:
            return f"its process ended with exit code {code} and without a result"
        name = signal.Signals(-code).name
        why = ", for lack of memory or because it was killed" if name == "SIGKILL" else ""
        return f"its process died of {name}{why}"

    def _code(self, seconds: float | None) -> int | None:
        """Return its exit code, waiting for it for so long; None if it has not ended."""
        if isinstance(self._begun, subprocess.Popen):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._begun.wait(seconds)
            return self._begun.returncode
        self._begun.join(seconds)
        code: int | None = self._begun.exitcode
        return code


def pause(*processes: Process) -> None:
    """Wait until one of the processes has sent something, or for a pulse."""
    wait([one.connection for one in processes], PULSE)
