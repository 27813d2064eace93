"""Calls into somebody's environment: whatever it does wrong becomes one line, and the rest goes on.

Every such call stands in `with guarded(what)`, in worker processes as in the main one:

- What it prints goes to standard error, so that it is never mixed with what `sts` prints.
- What it raises, `SystemExit` among it, becomes an `StsError` whose line begins with `what`.
- Where it does not come back within STS_PATIENCE seconds (60), it is interrupted.
- Where it forks this process and comes back twice, the copy ends.

A clock rings RINGS times in one patience, and as many rings without progress are too many. A time
in which this process did not run, stopped or on a busy machine, is one ring, however long it was.

A ring is a signal that Python delivers between two of its own instructions. So the interrupt cannot
reach compiled code that never returns to Python, nor stop what swallows whatever is raised in it.
The parent of a worker sees on its `Board` that no ring is heard, and ends it (`sts.jobs.pool`).
There is no clock in a thread other than the main one, where the signal is somebody else's, and
where the system has none (Windows).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Any, TextIO

from sts.errors import ArgumentError, StsError

PATIENCE = "STS_PATIENCE"
SECONDS = 60.0
RINGS = 5  # of the clock in one patience
FORKED = "an environment forked this process"
_LONGEST = 255  # bytes of what is being done


class Board(ctypes.Structure):
    """What a process shows of itself: a worker's lies in memory that its parent sees too.

    Attributes:
      rings: whether its clock does.
      what: the call that it rings for, in UTF-8 and cut.
      beats: how often it has begun, and rung without an interrupt.
      copies: how many copies of the process have been ended.
    """

    rings: bool
    what: bytes
    beats: int
    copies: int
    _fields_ = (
        ("rings", ctypes.c_bool),
        ("what", ctypes.c_char * (_LONGEST + 1)),
        ("beats", ctypes.c_uint64),
        ("copies", ctypes.c_uint64),
    )


class TooLong(BaseException):
    """Interrupts an environment; no `Exception`, which it might swallow."""


class _Quiet:
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


class _Watch:
    """Interrupts a call that has made no progress for `RINGS` rings of its clock.

    A process that is stopped hears one ring, however many it missed. Compiled code hears none
    either, but what it computed meanwhile counts.

    Attributes:
      board: what is shown of it.
      copied: whether this process has been forked off since the call began.
    """

    def __init__(self) -> None:
        self.board = Board()
        self.copied = False
        self._progress, self._seen = 0, -1
        self._rings, self._seconds = False, SECONDS
        self._heard, self._computed = 0, 0.0

    def count(self) -> None:
        """Says that an environment has come back: progress, and in this process and no copy of it.

        Whoever calls several in one guarded call says so after each; a copy ends here.
        """
        self._progress += 1
        if self.copied:
            self.board.copies += 1
            print(f"{FORKED}; its copy was ended\n", end="", file=sys.stderr, flush=True)
            os._exit(0)

    def forked(self) -> None:
        """Says that this process is a copy, from now on."""
        self.copied = True

    def start(self, what: str, seconds: float) -> bool:
        """Returns whether the clock has been started: it runs once, for the outermost call."""
        if self._rings or not hasattr(signal, "setitimer"):
            return False
        if threading.current_thread() is not threading.main_thread():
            return False
        handler = signal.getsignal(signal.SIGALRM)
        if handler == signal.SIG_DFL:
            signal.signal(signal.SIGALRM, self._ring)
        elif handler != self._ring:  # somebody else's
            return False
        self._seconds = seconds
        self._begin_again()
        self.board.what = what.encode()[:_LONGEST]
        self._rings = self.board.rings = True
        signal.setitimer(signal.ITIMER_REAL, seconds / RINGS, seconds / RINGS)
        return True

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        self._rings = self.board.rings = False

    def _begin_again(self) -> None:
        self._seen, self._heard, self._computed = self._progress, 0, time.thread_time()
        self.board.beats += 1

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if not self._rings:  # an alarm of somebody else's
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGALRM)
        elif self._progress != self._seen or _back(frame):
            self._begin_again()
        else:
            self._heard += 1
            if self._heard >= RINGS or time.thread_time() - self._computed >= self._seconds:
                raise TooLong
            self.board.beats += 1


def _back(frame: FrameType | None) -> bool:
    """Whether a guarded call has just come back, though that is not counted yet."""
    above = frame and frame.f_back
    return any(one and one.f_code is guarded.__exit__.__code__ for one in (frame, above))


quiet = _Quiet()
WATCH = _Watch()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WATCH.forked)


def patience() -> float:
    """Returns how many seconds an environment may take for one step.

    Raises:
      ArgumentError: STS_PATIENCE is no positive number.
    """
    text = os.environ.get(PATIENCE)
    if text is None:
        return SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise ArgumentError(f"expected {PATIENCE} to be a number of seconds, found {text!r}")
    return seconds


class guarded:  # noqa: N801 - reads as a function
    """A context in which somebody's environment is called; `what` begins the line of an error."""

    def __init__(self, what: str, error: type[StsError] = StsError) -> None:
        self._what, self._error = what, error

    def __enter__(self) -> None:
        """Takes standard output away and starts the clock."""
        seconds = patience()
        WATCH.copied = False
        quiet.__enter__()
        self._since = time.monotonic()
        self._watched = WATCH.start(self._what, seconds)

    def __exit__(
        self, kind: Any, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stops the clock, gives standard output back, and says what went wrong.

        A copy of this process, which the environment has forked, ends here.

        Raises:
          StsError: an exception, or that it took too long.
        """
        WATCH.count()
        if self._watched:
            WATCH.stop()
        quiet.__exit__()
        if error is None or isinstance(error, StsError):
            return
        if isinstance(error, TooLong):
            seconds = f"{time.monotonic() - self._since:.0f} seconds"
            raise self._error(
                f"{self._what}: it has not come back after {seconds} ({PATIENCE} says how many a "
                "step may take)"
            ) from None
        if not isinstance(error, KeyboardInterrupt):
            raise self._error(f"{self._what}: {type(error).__name__}: {error}") from error
