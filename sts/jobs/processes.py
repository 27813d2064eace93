"""Child processes that answer requests over a pipe, and are killed with their descendants."""

import contextlib
import os
import signal
import subprocess
import time
from multiprocessing.connection import Connection, wait
from typing import Any

from sts.errors import Unavailable
from sts.jobs.deadlines import FORK_ENDED_MESSAGE, PROGRESS_MESSAGE, TIMEOUT_VARIABLE

POLL_INTERVAL_S = 0.2  # maximum time between two checks
EXIT_TIMEOUT_S = 2.0  # time to exit after closing the pipe
MAX_MESSAGE_BYTES = 2**29 - 1
"""Maximum size of a message from third-party code. Text written into the pipe by mistake would
announce a larger size in its first four bytes."""


class WorkerDied(Unavailable):
    """The process of a task ended without a result; the message has the cause."""


class WorkerHung(WorkerDied):
    """The process of a task made no progress for STS_PATIENCE seconds, and was killed."""


class Process:
    """A child process at the other end of a pipe, which leads its own process group.

    Silence is counted as at most two poll intervals per check, so time in which this process was
    suspended does not count.

    Attributes:
      connection: our end of the pipe.
      timeout_s: maximum time without progress while it has a request; infinity for no limit.
      ended_forks: the number of its forks that were ended; see `report_progress`.
    """

    def __init__(self, connection: Connection, started: Any, timeout_s: float) -> None:
        """Wrap our end of the pipe and a `multiprocessing.Process` or `subprocess.Popen`."""
        self.connection, self.ended_forks = connection, 0
        self._started, self.timeout_s = started, timeout_s
        self._silent, self._looked = 0.0, time.monotonic()

    @property
    def is_alive(self) -> bool:
        """True if the process is running."""
        return self._exit_code(0.0) is None

    @property
    def pid(self) -> int:
        """The process ID."""
        pid: int = self._started.pid
        return pid

    def send(self, data: bytes) -> None:
        """Send a message; `poll_answer` reports if the process has died."""
        self._silent, self._looked = 0.0, time.monotonic()
        with contextlib.suppress(OSError):
            self.connection.send_bytes(data)

    def allow_silence(self, seconds: float) -> None:
        """Allow more time than the timeout until the first message after a request."""
        self._silent = -seconds

    def poll_answer(self) -> bytes | None:
        """Return the answer, or None if it is busy; raise WorkerDied if it ended or hung."""
        alive = self.is_alive
        try:
            while self.connection.poll():
                self._silent = 0.0
                is_ours = self.timeout_s == float("inf")
                data = self.connection.recv_bytes(None if is_ours else MAX_MESSAGE_BYTES)
                if data not in (PROGRESS_MESSAGE, FORK_ENDED_MESSAGE):
                    return data
                self.ended_forks += data == FORK_ENDED_MESSAGE
        except (EOFError, ConnectionError):
            alive = False
        except OSError:  # larger than MAX_MESSAGE_BYTES
            self.end()
            raise WorkerDied("its process sent an invalid answer and was killed") from None
        since, self._looked = time.monotonic() - self._looked, time.monotonic()
        self._silent += min(since, 2 * POLL_INTERVAL_S)
        if not alive:
            raise WorkerDied(self.end(EXIT_TIMEOUT_S))
        if self._silent < self.timeout_s:
            return None
        self.end()
        raise WorkerHung(
            f"its process made no progress for {self.timeout_s:g} seconds and was killed; set "
            f"{TIMEOUT_VARIABLE} to allow more seconds for a step"
        )

    def end(self, seconds: float = 0.0) -> str:
        """Kill the process and its descendants; return a description of how it ended.

        `seconds` is the time to wait for it to exit by itself.
        """
        self.connection.close()
        code = self._exit_code(seconds)
        with contextlib.suppress(OSError):  # its process group is gone
            os.killpg(self._started.pid, signal.SIGKILL)
        self._started.kill()
        self._exit_code(None)
        if code is None:
            return "its process closed its pipe and was killed"
        if code >= 0:
            return f"its process ended with exit code {code} and without a result"
        name = signal.Signals(-code).name
        why = ": it was out of memory, or another program killed it" if name == "SIGKILL" else ""
        return f"its process died of {name}{why}"

    def _exit_code(self, seconds: float | None) -> int | None:
        """Wait up to `seconds` and return the exit code; None if the process is running."""
        if isinstance(self._started, subprocess.Popen):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._started.wait(seconds)
            return self._started.returncode
        self._started.join(seconds)
        code: int | None = self._started.exitcode
        return code


def wait_for_message(*processes: Process) -> None:
    """Wait until one of the processes has sent something, for at most a poll interval."""
    wait([process.connection for process in processes], POLL_INTERVAL_S)
