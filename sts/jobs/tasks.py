"""Fault-tolerant execution of tasks: failed tasks are retried in parts, others are unaffected."""

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from sts.errors import StsError, Unavailable
from sts.jobs.executors import Executor, OwnedTask
from sts.jobs.processes import WorkerDied, WorkerHung

MIN_FAILURES = 3
"""Failed parts of an owner's tasks after which the rest is skipped, if at least half have failed.

Each failure may take a whole timeout.
"""
T = TypeVar("T")
R = TypeVar("R")


class TaskSkipped(StsError):
    """A task that was skipped because too many tasks of its owner had failed."""


class _Attempts(Generic[T]):
    """The attempts at one task: the task itself, or its parts after it has failed.

    Attributes:
      tasks: remaining, in order.
      error: of the first attempt, if there was a retry.
      failed: True if a task or part failed finally.
    """

    def __init__(self, task: T) -> None:
        self.tasks, self.failed = deque([task]), False
        self.error: StsError | None = None

    def take(self, outcome: object, split: Callable[[T], Sequence[T]]) -> T | None:
        """Record the outcome of the first task; return the task, or None if it is retried."""
        task, error = self.tasks.popleft(), outcome if isinstance(outcome, StsError) else None
        again: Sequence[T] = ()
        if isinstance(error, WorkerDied) and self.error is None:
            again = (task,)
        elif error is not None and not isinstance(error, WorkerHung) and len(split(task)) > 1:
            again = split(task)
        if again:
            self.error = error
            self.tasks.extendleft(reversed(again))
            return None
        self.failed |= error is not None
        return task


def run_tasks(
    tasks: Sequence[T],
    perform: Callable[[T], R],
    *,
    split: Callable[[T], Sequence[T]],
    owner: Callable[[T], str],
    executor: Executor,
    isolation_key: Callable[[T], str] = lambda _: "",
    on_recovery: Callable[[T, StsError], None] = lambda task, error: None,
) -> Iterator[tuple[T, R | StsError]]:
    """Yield each task with its result, in order of completion; of a failed task, each part.

    A task whose process died is retried once as a whole. If it fails again, or failed otherwise,
    each of its parts is tried once, except that a task which hung twice is given up. A failure is
    yielded as an error, that of `perform` or `WorkerDied`. If too many tasks of an owner fail (see
    `MIN_FAILURES`), the rest are yielded with `TaskSkipped`. Other errors than `StsError`
    propagate.

    Args:
      tasks: to run. They, their parts and results are sent between processes.
      perform: runs a task or a part.
      split: returns the parts of a task; a part consists of itself.
      owner: returns the owner of a task.
      executor: where they run.
      isolation_key: returns the name of the third-party code that a task runs; "" for none.
      on_recovery: called with a task or part that succeeded after a retry, and the first error.
    """
    good, bad = Counter[str](), Counter[str]()  # parts of each owner's
    waiting = deque(_Attempts(task) for task in tasks)
    numbers, busy = itertools.count(), dict[int, _Attempts[T]]()

    def hand_out() -> Iterator[tuple[T, R | StsError]]:
        """Submit tasks until the executor is full; yield those that are skipped."""
        while waiting and len(busy) < executor.width:
            chain = waiting.popleft()
            first = chain.tasks[0]
            task_owner, code_owner = owner(first), isolation_key(first)
            if bad[task_owner] >= max(MIN_FAILURES, good[task_owner]):
                yield from ((task, TaskSkipped()) for task in chain.tasks)
            else:
                busy[number := next(numbers)] = chain
                work: Callable[..., Any] = OwnedTask(perform, code_owner) if code_owner else perform
                executor.submit(number, work, first)

    yield from hand_out()
    for number, outcome in executor.completed():
        if number not in busy:  # a duplicate result
            continue
        chain = busy.pop(number)
        task = chain.take(outcome, split)
        if chain.tasks:
            waiting.appendleft(chain)
        finished: list[tuple[T, R | StsError]] = []
        if task is not None:
            finished = [(task, outcome)]
            (bad if isinstance(outcome, StsError) else good)[owner(task)] += len(split(task))
            if not chain.tasks and chain.error is not None and not chain.failed:
                on_recovery(task, chain.error)
        yield from [*finished, *hand_out()]
    if busy:
        raise Unavailable(f"the executor stopped with {len(busy)} tasks unfinished; start again")
