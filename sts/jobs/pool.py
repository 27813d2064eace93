"""Worker processes, each at one task at a time.

A worker that ends, or that makes no progress for STS_PATIENCE seconds if it is limited, costs the
task that it was at and no other: another takes its place.

Workers are copies of a process that has imported the modules of ours that are imported here, and
has done nothing since: only the first has to wait for that. Where Python has no such process, and
if asked for, each worker begins as a new interpreter.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, ParamSpec, Self, TypeVar

from sts.errors import StsError
from sts.jobs import deadlines, plain
from sts.jobs.frames import end_with_parent
from sts.jobs.processes import POLL_INTERVAL_S, Process, wait_for_message
from sts.jobs.processes import WorkerDied as WorkerDied

R = TypeVar("R")
P = ParamSpec("P")
MAX_TEMPORARY_PATH_BYTES = (
    70  # bytes of the path of the folder for temporary files that leave a socket's name room
)
WARM_UP_MODULE = "sts.numerics.ready"  # is imported there alone


class _Task(NamedTuple):
    """A function and its arguments, and whose code it runs if that is not ours."""

    key: Any
    work: Callable[..., Any]
    args: tuple[Any, ...]

    @property
    def owner(self) -> str:
        return getattr(self.work, "owner", "")

    def run(self) -> Any:
        try:
            return self.work(*self.args)
        except StsError as error:
            return error


class Pool:
    """At most `width` processes; what is left when the context ends is not done."""

    def __init__(
        self, width: int, *, inside: bool = False, limited: bool = False, method: str = ""
    ) -> None:
        """Take how many processes there may be; they are begun when they are needed.

        Args:
          width: how many.
          inside: whether tasks that run only our own code are done in this process.
          limited: whether every worker has to make progress; one that runs the code of an owner
            has to in any case.
          method: "spawn" for processes that share no more than their code, so that the hashes of
            texts differ too; else they are begun in the quickest way that there is.

        Raises:
          ArgumentError: STS_PATIENCE is not a positive number.
        """
        self.width = width
        self._inside, self._limited, self._method = inside, limited, method or _quickest_method()
        self._patience = deadlines.read_timeout()
        self._waiting: deque[_Task] = deque()
        self._workers: list[_Worker] = []
        self._ended_forks = 0

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the processes at once."""
        for worker in self._workers:
            worker.end()

    @property
    def ended_forks(self) -> int:
        """How many copies of its processes have been ended."""
        return self._ended_forks + sum(worker.ended_forks for worker in self._workers)

    def submit(self, key: Any, work: Callable[..., Any], *args: Any) -> None:
        """Have `work(*args)` done, by a process that has not run the code of another owner."""
        self._waiting.append(_Task(key, work, args))
        self._hand_out()

    def completed(self) -> Iterator[tuple[Any, Any]]:
        """Yield each key with what came of it, as they come; more may be submitted meanwhile.

        That is the result, or an `StsError`: `Died` if the process has ended, or was ended.

        Raises:
          Exception: any other that was raised in a process which ran only our own code.
        """
        while self._waiting or any(worker.task for worker in self._workers):
            if self._runs_next_here():
                task = self._waiting.popleft()
                yield task.key, task.run()
                continue
            self._hand_out()
            busy = [worker for worker in self._workers if worker.task]
            wait_for_message(*busy)
            if self._limited:
                deadlines.report_progress()  # if this process is a worker, too, and limited by its parent
            for worker in busy:
                if came := worker.outcome():
                    self._hand_out()
                    yield came

    def ask(self, work: Callable[P, R], *args: P.args, **_: P.kwargs) -> R:
        """Return `work(*args)`, done in a process while nothing else is, or raise its error."""
        self.submit(None, work, *args)
        ((_, outcome),) = self.completed()
        if isinstance(outcome, StsError):
            raise outcome
        result: R = outcome
        return result

    def _runs_next_here(self) -> bool:
        return bool(self._inside and self._waiting and not self._waiting[0].owner)

    def _hand_out(self) -> None:
        while self._waiting and not self._runs_next_here():
            worker = self._get_free_worker(self._waiting[0].owner)
            if worker is None:
                return
            worker.give(self._waiting.popleft())

    def _get_free_worker(self, owner: str) -> _Worker | None:
        """Return a worker of an owner that is free, a new one if there is room, or None."""
        for worker in [one for one in self._workers if not one.task and not one.is_alive]:
            self._dismiss(worker)
        free = [worker for worker in self._workers if not worker.task]
        own = [worker for worker in free if worker.owner == owner]
        if own:
            return own[0]
        if len(self._workers) >= self.width:
            if not free:
                return None
            self._dismiss(free[0])
        patience = self._patience if self._limited or owner else float("inf")
        self._workers.append(_Worker(self._method, owner, patience))
        return self._workers[-1]

    def _dismiss(self, worker: _Worker) -> None:
        worker.end()
        self._ended_forks += worker.ended_forks
        self._workers.remove(worker)


def executor(workers: int, tasks: int, *, apart: bool = False) -> Pool:
    """Return what does so many tasks: this process for one worker, else as many as are needed.

    Tasks that may end their process or hang in it are done `apart`, by one worker too; so is each
    task that has an owner.
    """
    width = max(1, min(workers, tasks))
    return Pool(width, inside=width == 1 and not apart, limited=apart)


class _Worker(Process):
    """A process, whose code it may run, and the task that it is at."""

    def __init__(self, method: str, owner: str, patience: float) -> None:
        context: Any = multiprocessing.get_context(method)
        if method == "forkserver":  # which is told once, before its first worker
            context.set_forkserver_preload(_preloaded_modules())
        ours, theirs = context.Pipe()
        given = theirs, dict(os.environ), not owner
        super().__init__(ours, _start_process(context, given), patience)
        theirs.close()
        self.owner = owner
        self.task: _Task | None = None

    def give(self, task: _Task) -> None:
        self.task = task
        self.send(pickle.dumps((task.work, task.args)))

    def outcome(self) -> tuple[Any, Any] | None:
        """Return the key of its task and what came of it, None if it is still at it.

        Raises:
          Exception: it was raised there, by our own code.
        """
        try:
            data = self.poll_answer()
            if data is None:
                return None
            came, raised = plain.decode(data)
        except WorkerDied as error:
            came, raised = error, False
        except ValueError as error:
            self.end()
            came, raised = WorkerDied(f"its process answered what cannot be read: {error}"), False
        key, self.task = self.task.key if self.task else None, None
        own = raised and not self.owner and not isinstance(came, StsError)
        if own and isinstance(came, Exception):
            raise came
        return key, came


def _start_process(context: Any, given: tuple[Any, ...]) -> Any:
    """Return a process that serves; a server of copies that has just died is begun again."""
    begun = context.Process(target=_serve, args=given)
    try:
        begun.start()
    except (ConnectionError, EOFError, FileNotFoundError):
        time.sleep(POLL_INTERVAL_S)  # until its end can be seen
        begun = context.Process(target=_serve, args=given)
        begun.start()
    return begun


def _quickest_method() -> str:
    """Return how processes are begun here; macOS has libraries of which no copy may be made."""
    room = len(os.fsencode(tempfile.gettempdir())) <= MAX_TEMPORARY_PATH_BYTES
    return "forkserver" if sys.platform == "linux" and room else "spawn"


def _preloaded_modules() -> list[str]:
    """Return what a process imports of which workers are copies: the modules of ours here."""
    names = [name for name in sys.modules if name.startswith("sts.")]
    return [*names, WARM_UP_MODULE] if "sts.numerics.compiled" in names else names


def _serve(connection: Connection, environment: dict[str, str], ours: bool) -> None:
    """Do tasks until the parent has gone."""
    os.setpgid(0, 0)  # what it begins ends with it, and Ctrl-C is the parent's
    parent: Any = multiprocessing.parent_process()
    end_with_parent(parent.sentinel)
    os.dup2(2, 1)  # what any program prints there is not mixed with what `sts` prints
    os.environ.clear()
    os.environ.update(environment)
    deadlines.PROGRESS_STATE.send = connection.send_bytes
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send_bytes(_answer(connection.recv_bytes(), ours=ours))


def _answer(request: bytes, *, ours: bool) -> bytes:
    """Return what comes of a task, which the parent has pickled, and whether it was raised."""
    try:
        work, args = pickle.loads(request)
        return plain.encode((work(*args), False))
    except BaseException as error:  # a user's too, such as SystemExit or KeyboardInterrupt
        found = plain.make_sendable(error, ours=ours)
    try:
        return plain.encode((found, True))
    except TypeError:  # what the error holds besides its line cannot be sent
        return plain.encode((StsError(str(found)), True))
