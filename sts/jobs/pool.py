"""Processes that work beside this one, each at one task at a time, and are looked after.

A worker that ends, whatever of, costs the task that it was at and no other: another takes its
place. One in which a guarded call (`sts.jobs.deadlines`) neither goes on nor can be interrupted for
STS_PATIENCE seconds is ended. These are counted in looks, so that a time in which this process did
not run is one look, however long it was; one at a worker that somebody has stopped is none.

Workers are copies of a process that has imported of this package what was imported here, and has
done nothing since: only the first has to wait for that. Where there is no such thing, which Linux
has, and where asked for, each begins from nothing.
"""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeAlias, TypeVar

from sts.errors import StsError, Unavailable
from sts.jobs import deadlines

if sys.platform == "linux":
    import fcntl

R = TypeVar("R")
P = ParamSpec("P")
Begin: TypeAlias = Callable[[], object] | None
PULSE = 0.2  # seconds between two looks, at most
ROOM = 70  # bytes of the path of the folder for temporary files that leave a socket's name room
LEAVE = 5.0  # seconds that a process which is ending may take for it
READY = "sts.numerics.ready"  # is imported there alone
_FRAME = re.compile(r'File "(.*)", line (\d+) in (.*)')


class Died(Unavailable):
    """The process of a task has ended, or hung and was ended; says of what, and where if known."""


class Here(contextlib.AbstractContextManager["Here"]):
    """Does tasks in this process, and is otherwise as `Pool`."""

    width = 1

    def __init__(self) -> None:
        self._waiting: deque[tuple[Any, Callable[..., Any], Any]] = deque()

    def __exit__(self, *error: object) -> None:
        """Holds nothing."""

    def submit(self, key: Any, work: Callable[..., Any], *args: Any) -> None:
        """Has `work(*args)` done in its turn."""
        self._waiting.append((key, work, args))

    def completed(self) -> Iterator[tuple[Any, Any]]:
        """Yields each key with what came of it: the result, or an `StsError`."""
        while self._waiting:
            key, work, args = self._waiting.popleft()
            try:
                outcome = work(*args)
            except StsError as error:
                outcome = error
            yield key, outcome

    def ask(self, work: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """Returns what `work` does."""
        return work(*args, **named)


class Pool:
    """`width` processes; what is left when the context ends is not done."""

    def __init__(self, width: int, begin: Begin = None, *, method: str = "") -> None:
        """Takes how many, and how they begin.

        Args:
          width: how many.
          begin: is called in each before anything else.
          method: "spawn" for processes that share no more than their code, so that the hashes of
            texts differ too; else they are begun in the quickest way that there is.

        Raises:
          ArgumentError: STS_PATIENCE is no positive number.
        """
        self.width = width
        self._begin, self._patience = begin, deadlines.patience()
        self._method = method or _quickest()
        self._waiting: deque[tuple[Any, Any]] = deque()
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        """Begins the processes."""
        self._folder = tempfile.TemporaryDirectory()
        self._workers = [self._worker() for _ in range(self.width)]
        return self

    def __exit__(self, *error: object) -> None:
        """Ends the processes, at once where one is at work."""
        for worker in self._workers:
            worker.connection.close()
        for worker in self._workers:
            worker.end(0.0 if worker.busy else LEAVE)
        self._folder.cleanup()

    def submit(self, key: Any, work: Callable[..., Any], *args: Any) -> None:
        """Has `work(*args)` done in the main thread of the first process that is free."""
        self._waiting.append((key, (work, args)))
        self._hand_out()

    def completed(self) -> Iterator[tuple[Any, Any]]:
        """Yields each key with what came of it, as they come; more may be submitted meanwhile.

        That is the result, or an `StsError`: `Died` where the process has.

        Raises:
          Exception: any other that was raised in a process.
        """
        pulse, looked = min(PULSE, self._patience / deadlines.RINGS), time.monotonic()
        while busy := [worker for worker in self._workers if worker.busy]:
            wait([worker.connection for worker in busy], pulse)
            since, looked = time.monotonic() - looked, time.monotonic()
            for worker in busy:
                if worker.finished(min(since, 2 * pulse), self._patience):
                    key, outcome, worker.busy = worker.key, worker.outcome, False
                    self._hand_out()
                    if isinstance(outcome, Exception) and not isinstance(outcome, StsError):
                        raise outcome
                    yield key, outcome

    def ask(self, work: Callable[P, R], *args: P.args, **_: P.kwargs) -> R:
        """Returns `work(*args)`, done in a process while nothing else is, or raises its error."""
        self.submit(None, work, *args)
        ((_, outcome),) = self.completed()
        if isinstance(outcome, StsError):
            raise outcome
        result: R = outcome
        return result

    def _hand_out(self) -> None:
        """Gives what waits to processes that are free, and to others in place of the dead."""
        self._workers = [one for one in self._workers if one.busy or one.process.is_alive()]
        free = [worker for worker in self._workers if not worker.busy]
        while self._waiting and (free or len(self._workers) < self.width):
            if not free:
                self._workers += (free := [self._worker()])
            free.pop().give(*self._waiting.popleft())

    def _worker(self) -> _Worker:
        return _Worker(self._method, self._folder.name, self._begin)


def executor(workers: int, tasks: int, *, apart: bool = False) -> Here | Pool:
    """Returns what does so many tasks: this process for one worker, else as many as are needed.

    Where the tasks may end their process or hang in it, they are done `apart` by one worker too.
    """
    return Pool(min(workers, tasks)) if tasks and (apart or workers > 1) else Here()


class _Worker:
    """A process, what it is at, and for how long it has not come back from it."""

    def __init__(self, method: str, folder: str, begin: Begin) -> None:
        context: Any = multiprocessing.get_context(method)
        if method == "forkserver":  # which is told once, before its first worker
            context.set_forkserver_preload(_imported())
        self.busy = False
        self.key: Any = None
        self.outcome: Any = None
        self.connection, theirs = context.Pipe()
        self._beats, self._silent, self._hangs = 0, 0.0, False
        self._board: Any = context.RawValue(deadlines.Board)
        file, self._words = tempfile.mkstemp(dir=folder)
        os.close(file)
        given = theirs, self._board, self._words, dict(os.environ), begin
        self.process: Any = context.Process(target=_serve, args=given)
        self.process.start()
        theirs.close()

    def give(self, key: Any, job: Any) -> None:
        self.busy, self.key = True, key
        with contextlib.suppress(ConnectionError):  # it has just died: the next look finds that
            self.connection.send(job)

    def finished(self, seconds: float, patience: float) -> bool:
        """Whether its task is, `seconds` after the last look; `outcome` is what came of it."""
        alive = self.process.is_alive()
        with contextlib.suppress(EOFError, ConnectionError):
            if self.connection.poll():
                self.outcome = self.connection.recv()
                return True
            self._hangs = self._waited(seconds) >= patience
            if alive and not self._hangs:
                return False
        self.outcome = Died(self.end(LEAVE))
        return True

    def _waited(self, seconds: float) -> float:
        """Returns for how long its clock has not been heard where it runs."""
        beats = self._board.beats
        if beats != self._beats or not self._board.rings or _stopped(self.process.pid):
            self._beats, self._silent = beats, 0.0
        else:
            self._silent += seconds
        return self._silent

    def end(self, seconds: float) -> str:
        """Ends it, with all that it has begun, and returns how it came to its end.

        It has `seconds` to do so by itself.
        """
        if self._hangs:
            self.process.terminate()  # it writes down where it is
        self.connection.close()
        self.process.join(seconds)
        code = self.process.exitcode
        with contextlib.suppress(OSError, AttributeError):  # no group, or no groups here
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        what = self._board.what.decode(errors="ignore") + ": " if self._board.rings else ""
        how = "it does not come back, and cannot be interrupted" if self._hangs else _how(code)
        return what + how + _where(Path(self._words).read_text())


def _how(code: int | None) -> str:
    """Returns what a process with such an exit code has done."""
    if code is None or code >= 0:
        return "its process ended itself"
    name = signal.Signals(-code).name
    why = ", for want of memory or by somebody's hand" if name == "SIGKILL" else ""
    return f"its process died of {name}{why}"


def _stopped(pid: int) -> bool:
    """Whether somebody has stopped a worker; on macOS only from Python 3.13 on."""
    with contextlib.suppress(OSError, AttributeError):
        if sys.platform == "linux":
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
            return state.strip().startswith(("T", "t"))
        else:
            return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
    return False


def _where(words: str) -> str:
    """Returns where the main thread was: the last of those in a process's last words."""
    frames = _FRAME.findall(words.rpartition("most recent call first")[2])
    for file, line, name in frames:
        if file != deadlines.__file__:  # the clock's
            return f", in {Path(file).name}, line {line}, {name}"
    return ""


def _quickest() -> str:
    """Returns how processes are begun here; macOS has libraries of which no copy may be made."""
    room = len(os.fsencode(tempfile.gettempdir())) <= ROOM
    return "forkserver" if sys.platform == "linux" and room else "spawn"


def _imported() -> list[str]:
    """Returns what a process imports of which workers are copies: what this one has of ours."""
    names = [name for name in sys.modules if name.startswith("sts.")]
    return [*names, READY] if "sts.numerics.compiled" in names else names


def _serve(
    connection: Connection,
    board: deadlines.Board,
    words: str,
    environment: dict[str, str],
    begin: Begin,
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    _end_with_parent()
    os.environ.clear()
    os.environ.update(environment)
    file = Path(words).open("w")
    faulthandler.enable(file)
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGTERM, file, chain=True)
    deadlines.WATCH.board, deadlines.WATCH.copied = board, False
    if begin is not None:
        begin()
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            work, args = connection.recv()
            connection.send(_outcome(work, args))


def _outcome(work: Callable[..., Any], args: Any) -> Any:
    """Returns the result, or the exception; where that is not ours, with its traceback."""
    try:
        return work(*args)
    except StsError as error:
        return error
    except Exception as error:
        error.add_note(f"in a worker process:\n{traceback.format_exc()}")
        return error
    except BaseException as error:  # somebody's, such as SystemExit
        return StsError(f"{type(error).__name__}: {error}")


def _end_with_parent() -> None:
    """Has this process end when its parent has, however that was: nothing else tells it so.

    A thread sees to it, and on Linux the system, as compiled code may let no thread run.
    """
    parent: Any = multiprocessing.parent_process()

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()
    if sys.platform == "linux":
        fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, os.O_ASYNC)
