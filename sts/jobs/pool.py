"""Pool of worker processes that run one task at a time.

If a worker dies, or makes no progress for STS_PATIENCE seconds if it has a timeout, only its task
fails, and a new worker replaces it.

Workers are forks of a server process (`forkserver`) that has imported the same modules of this
distribution as this process, so they start fast. If that is not available, or on request, each
worker is a new interpreter (`spawn`).
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.forkserver
import os
import pickle
import sys
import tempfile
import time
import types
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, ParamSpec, Self, TypeVar

from sts.errors import StsError
from sts.jobs import answers, deadlines
from sts.jobs.frames import end_with_parent
from sts.jobs.processes import POLL_INTERVAL_S, Process, wait_for_message
from sts.jobs.processes import WorkerDied as WorkerDied

R = TypeVar("R")
P = ParamSpec("P")
MAX_TEMPORARY_PATH_BYTES = 70  # of the temporary folder: paths of Unix sockets are short
START_S = 0.7
"""Time that the fork server takes to import what is imported here, measured on two cores."""
SPAWN_S = 60.0
"""Time that a new interpreter may take to start and import, in addition to the timeout."""
MIN_TASKS_PER_WORKER = 4  # for which the first task, done here, tells how long the others take
_HASH_SEED = "PYTHONHASHSEED"
WARM_UP_MODULE = "sts.numerics.warm_up"  # imported only by the server process


class _Task(NamedTuple):
    """A function and its arguments; `owner` identifies third-party code that it runs."""

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
    """A pool of at most `width` processes; leaving its context drops unfinished tasks."""

    def __init__(
        self,
        width: int,
        *,
        inside: bool = False,
        expected: int = 0,
        limited: bool = False,
        method: str = "",
    ) -> None:
        """Create a pool, whose processes are started when needed.

        Args:
          width: the maximum number of processes.
          inside: True to run tasks without an owner in this process.
          expected: number of tasks, if the first without an owner is to run in this process. If the
            others take less than twice what starting workers takes, they run here too; else this
            process goes on until workers can start.
          limited: True to apply the timeout to all workers, not only to those with an owner.
          method: "spawn" for new interpreters, in which hashes of text differ too, even if
            PYTHONHASHSEED is set; by default, the fastest method available.

        Raises:
          ArgumentError: STS_PATIENCE is not a positive number.
        """
        self.width = width
        self._limited, self._method = limited, method or _quickest_method()
        self._expected = expected
        self._inside_until = float("inf") if inside or expected else 0.0
        self._patience = deadlines.read_timeout()
        self._waiting: deque[_Task] = deque()
        self._workers: list[_Worker] = []
        self._ended_forks = 0

    def __enter__(self) -> Self:
        """Return the pool."""
        return self

    def __exit__(self, *error: object) -> None:
        """Kill the processes."""
        for worker in self._workers:
            worker.end()

    @property
    def ended_forks(self) -> int:
        """The number of forks of its processes that were ended."""
        return self._ended_forks + sum(worker.ended_forks for worker in self._workers)

    def submit(self, key: Any, work: Callable[..., Any], *args: Any) -> None:
        """Schedule `work(*args)`, in a process that has not run the code of another owner."""
        self._waiting.append(_Task(key, work, args))
        self._hand_out()

    def completed(self) -> Iterator[tuple[Any, Any]]:
        """Yield the key and result of each task, in order of completion; more may be submitted.

        The result is an `StsError` if the task raised one, `WorkerDied` if its process died.

        Raises:
          Exception: any other exception of a task without an owner.
        """
        while self._waiting or any(worker.task for worker in self._workers):
            if self._runs_next_here():
                task, began = self._waiting.popleft(), time.perf_counter()
                outcome = task.run()
                self._decide_on_workers(time.perf_counter() - began)
                yield task.key, outcome
                continue
            self._hand_out()
            busy = [worker for worker in self._workers if worker.task]
            wait_for_message(*busy)
            if self._limited:
                deadlines.report_progress()  # this process may itself be a worker with a timeout
            yield from self.poll()

    def poll(self) -> Iterator[tuple[Any, Any]]:
        """Yield what `completed` yields, of tasks in processes that are done; wait for none."""
        for worker in [worker for worker in self._workers if worker.task]:
            if finished := worker.outcome():
                self._hand_out()
                yield finished

    def run_task(self, work: Callable[P, R], *args: P.args, **_: P.kwargs) -> R:
        """Run `work(*args)` in a process and return its result, or raise its error.

        There must be no other pending tasks.
        """
        self.submit(None, work, *args)
        ((_, outcome),) = self.completed()
        if isinstance(outcome, StsError):
            raise outcome
        result: R = outcome
        return result

    def _runs_next_here(self) -> bool:
        inside = time.perf_counter() < self._inside_until
        return bool(inside and self._waiting and not self._waiting[0].owner)

    def _decide_on_workers(self, seconds: float) -> None:
        """Start workers if the other tasks take long enough, given the `seconds` of the first."""
        if self._expected and seconds * (self._expected - 1) >= 2 * START_S:
            if self._method == "forkserver":
                _start_fork_server(multiprocessing.get_context(self._method))
            self._inside_until = time.perf_counter() + START_S
        self._expected = 0

    def _hand_out(self) -> None:
        while self._waiting and not self._runs_next_here():
            worker = self._get_free_worker(self._waiting[0].owner)
            if worker is None:
                return
            worker.give(self._waiting.popleft())

    def _get_free_worker(self, owner: str) -> _Worker | None:
        """Return an idle worker for an owner, a new one if the pool is not full, or None."""
        for dead in [worker for worker in self._workers if not worker.task and not worker.is_alive]:
            self._dismiss(dead)
        free = [worker for worker in self._workers if not worker.task]
        same_owner = [worker for worker in free if worker.owner == owner]
        if same_owner:
            return same_owner[0]
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


def create_pool(workers: int, tasks: int, *, isolated: bool = False) -> Pool:
    """Create a pool for a number of tasks; one worker means this process.

    Many tasks begin in this process, and get workers only if that saves time. With `isolated`, for
    tasks that may kill or hang their process, or if a task has an owner, even one worker is a
    process of its own.
    """
    width = max(1, min(workers, tasks))
    expected = tasks if width > 1 and not isolated and tasks >= MIN_TASKS_PER_WORKER * width else 0
    return Pool(width, inside=width == 1 and not isolated, expected=expected, limited=isolated)


class _Worker(Process):
    """A worker process, with the owner of its code and its current task."""

    def __init__(self, method: str, owner: str, patience: float) -> None:
        context: Any = multiprocessing.get_context(method)
        if method == "forkserver":
            _start_fork_server(context)
        ours, theirs = context.Pipe()
        with _other_hash_seed() if method == "spawn" else contextlib.nullcontext():
            arguments = theirs, dict(os.environ), not owner
            super().__init__(ours, _start_process(context, arguments), patience)
        theirs.close()
        self.owner = owner
        self.task: _Task | None = None
        self._start_s = SPAWN_S if method == "spawn" else 0.0

    def give(self, task: _Task) -> None:
        self.task = task
        self.send(pickle.dumps((task.work, task.args)))
        self.allow_silence(self._start_s)
        self._start_s = 0.0

    def outcome(self) -> tuple[Any, Any] | None:
        """Return the key and result of its task, or None; raise exceptions of tasks of ours."""
        try:
            data = self.poll_answer()
            if data is None:
                return None
            result, raised = answers.decode(data)
        except WorkerDied as error:
            result, raised = error, False
        except ValueError as error:
            self.end()
            result, raised = WorkerDied(f"its process sent an invalid answer: {error}"), False
        key, self.task = self.task.key if self.task else None, None
        is_bug = raised and not self.owner and not isinstance(result, StsError)
        if is_bug and isinstance(result, Exception):
            raise result
        return key, result


@contextlib.contextmanager
def _other_hash_seed() -> Iterator[None]:
    """Open a context whose new processes hash texts otherwise than this one; else it is random."""
    seed = os.environ.get(_HASH_SEED, "")
    if not seed.isdecimal():
        yield
        return
    os.environ[_HASH_SEED] = str((int(seed) + 1) % 2**32)
    try:
        yield
    finally:
        os.environ[_HASH_SEED] = seed


def _start_fork_server(context: Any) -> None:
    """Start the process that workers are forked from, unless it runs; do not wait for it."""
    context.set_forkserver_preload(_preloaded_modules())
    multiprocessing.forkserver.ensure_running()


def _start_process(context: Any, arguments: tuple[Any, ...]) -> Any:
    """Start a worker process; if the fork server has just died, start both again."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")  # a user's script must not run again
    try:
        process = context.Process(target=_serve, args=arguments)
        try:
            process.start()
        except (ConnectionError, EOFError, FileNotFoundError):
            time.sleep(POLL_INTERVAL_S)  # until Python notices that the server has died
            process = context.Process(target=_serve, args=arguments)
            process.start()
    finally:
        sys.modules["__main__"] = main
    return process


def _quickest_method() -> str:
    """Return the fastest start method; forks are not safe with some libraries of macOS."""
    room = len(os.fsencode(tempfile.gettempdir())) <= MAX_TEMPORARY_PATH_BYTES
    return "forkserver" if sys.platform == "linux" and room else "spawn"


def _preloaded_modules() -> list[str]:
    """Return the modules that the fork server imports: those of `sts` imported here."""
    names = [name for name in sys.modules if name.startswith("sts.")]
    return [*names, WARM_UP_MODULE] if "sts.numerics.compiled" in names else names


def _serve(connection: Connection, environment: dict[str, str], ours: bool) -> None:
    """Run tasks until the parent has ended."""
    os.setpgid(0, 0)  # its descendants can be killed with it, and Ctrl-C reaches the parent only
    parent: Any = multiprocessing.parent_process()
    end_with_parent(parent.sentinel)
    os.dup2(2, 1)  # standard output is reserved for `sts`
    os.environ.clear()
    os.environ.update(environment)
    deadlines.PROGRESS_STATE.send = connection.send_bytes
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send_bytes(_answer(connection.recv_bytes(), ours=ours))


def _answer(request: bytes, *, ours: bool) -> bytes:
    """Run a task pickled by the parent; return its encoded result, and whether it was raised."""
    try:
        work, args = pickle.loads(request)
        return answers.encode((work(*args), False))
    except BaseException as error:  # user code may also raise SystemExit
        sendable = answers.make_sendable(error, ours=ours)
    try:
        return answers.encode((sendable, True))
    except TypeError:  # the error has attributes that cannot be encoded
        return answers.encode((StsError(str(sendable)), True))
