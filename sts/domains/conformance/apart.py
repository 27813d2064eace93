"""A process of its own for somebody's environment: it may die or hang, and this one goes on."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import re
import signal
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from sts.errors import StsError
from sts.jobs import deadlines

S = TypeVar("S")
R = TypeVar("R")
P = ParamSpec("P")
_PULSE = 0.2  # seconds between two looks at whether the process is still there
_LEAVE = 30.0  # seconds that a process which is ending may take for it
_FRAME = re.compile(r'File "(.*)", line (\d+) in (.*)')


class Died(StsError):
    """The process has ended, or hung and was ended; says of what, and where if that is known."""


class Apart(Generic[S]):
    """A fresh process that makes something once and is then asked about it; begun when needed."""

    def __init__(self, make: Callable[..., S], *args: Any) -> None:
        self._make, self._args = make, args
        self._process: Any = None
        self._folder = tempfile.TemporaryDirectory()
        self._words = Path(self._folder.name, "last-words")

    def __enter__(self) -> Apart[S]:
        """Returns itself; the process is begun by the first question."""
        return self

    def __exit__(
        self, kind: Any, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends the process."""
        self._end()
        self._folder.cleanup()

    def ask(self, work: Callable[Concatenate[S, P], R], *args: P.args, **named: P.kwargs) -> R:
        """Returns `work(made, *args)`, done in the process.

        Raises:
          StsError: making or working raised one.
          Died: the process has; the next question begins another.
        """
        if self._process is None:
            self._begin()
        try:
            self._connection.send((work, args, named))
            while not self._connection.poll(_PULSE):
                if not self._process.is_alive() and not self._connection.poll():
                    raise EOFError  # what it has forked may hold its end of the pipe open
            good, answer = self._connection.recv()
            if self._words.stat().st_size:  # a copy of it that was ended
                raise EOFError
        except (EOFError, OSError):
            raise Died(self._end(_LEAVE)) from None
        except BaseException:
            self._end()
            raise
        if not good:
            raise answer
        found: R = answer
        return found

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        words = str(self._words)
        self._process = context.Process(target=_serve, args=(theirs, words, self._make, self._args))
        self._process.start()
        theirs.close()

    def _end(self, seconds: float = _PULSE) -> str:
        """Ends the process, with all that it has begun, and returns how it came to its end.

        It has `seconds` to do so by itself.
        """
        process, self._process = self._process, None
        if process is None:
            return ""
        self._connection.close()
        process.join(seconds)
        code, words = process.exitcode, self._words.read_text() if self._words.exists() else ""
        with contextlib.suppress(OSError, AttributeError):  # no group, or no groups here
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.join()
        self._words.unlink(missing_ok=True)
        frames = _FRAME.findall(words.rpartition("most recent call first")[2])
        # without the clock's own ring
        theirs = [frame for frame in frames if frame[0] != deadlines.__file__]
        file, line, name = theirs[0] if theirs else ("", "", "")
        where = f", in {Path(file).name}, line {line}, {name}" if theirs else ""
        if words.startswith(deadlines.FORKED):
            return words.splitlines()[0]
        if words.startswith("Timeout"):
            return f"it does not come back, and cannot be interrupted{where}"
        if code is None or code >= 0:
            return f"its process ended itself{where}"
        return f"its process died of {signal.Signals(-code).name}{where}"


def _serve(connection: Connection, words: str, make: Callable[..., Any], args: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    if hasattr(os, "setsid"):
        os.setsid()  # so that whatever is begun in here can be ended with it
    with open(words, "w") as file:
        faulthandler.enable(file, all_threads=False)
        deadlines.WATCH.last_words = file
        made: Any = None
        with contextlib.suppress(EOFError, OSError):
            while True:
                work, given, named = connection.recv()
                try:
                    made = make(*args) if made is None else made
                    answer = (True, work(made, *given, **named))
                except StsError as error:
                    answer = (False, error)
                except BaseException as error:  # somebody's code
                    answer = (False, StsError(f"{type(error).__name__}: {error}"))
                connection.send(answer)
    os._exit(0)  # threads of the environment's do not keep it
