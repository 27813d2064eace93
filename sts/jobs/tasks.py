"""Working tasks off, in this process or in several beside it, so that a bad one costs no other."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from sts.errors import StsError, Unavailable
from sts.jobs.executors import Executor, Owned
from sts.jobs.processes import WorkerDied, WorkerHung

MIN_FAILURES = 3
"""How many parts of an owner's tasks must fail, and half of all, before no more are tried.

Each may have to be waited for, as where a world hangs.
"""
T = TypeVar("T")
R = TypeVar("R")


class NotTried(StsError):
    """Too much of the same owner had failed."""


class _Attempts(Generic[T]):
    """Tasks that are done one after the other: one, or the parts of one that has failed.

    Attributes:
      tasks: still to do.
      error: of the first attempt, once something is tried again.
      failed: whether something failed for good.
    """

    def __init__(self, task: T) -> None:
        self.tasks, self.failed = deque([task]), False
        self.error: StsError | None = None

    def take(self, outcome: object, parts: Callable[[T], Sequence[T]]) -> T | None:
        """Take what came of the first task; return that task, or None if it is tried again."""
        task, error = self.tasks.popleft(), outcome if isinstance(outcome, StsError) else None
        again: Sequence[T] = ()
        if isinstance(error, WorkerDied) and self.error is None:
            again = (task,)
        elif error is not None and not isinstance(error, WorkerHung) and len(parts(task)) > 1:
            again = parts(task)
        if again:
            self.error = error
            self.tasks.extendleft(reversed(again))
            return None
        self.failed |= error is not None
        return task


def work_off(
    tasks: Sequence[T],
    perform: Callable[[T], R],
    *,
    parts: Callable[[T], Sequence[T]],
    owner: Callable[[T], str],
    there: Executor,
    apart: Callable[[T], str] = lambda _: "",
    mention: Callable[[T, StsError], None] = lambda task, error: None,
) -> Iterator[tuple[T, R | StsError]]:
    """Yield each task with its result, as they come; if one fails, each of its parts.

    A task whose process has died is done once more, as a whole. If it fails again, or failed
    otherwise, each of its parts is done once; but a task that made no progress twice is given up.
    What fails then comes with its error: that of `perform`, or `Died`. Of an owner for whom too
    much has failed (`MIN_FAILURES`) nothing more is done, and what is left comes with `NotTried`. Errors
    other than `StsError` are not caught.

    Args:
      tasks: to do. Like their parts and results, they are sent between processes.
      perform: does a task or a part.
      parts: what a task consists of; a part consists of itself.
      owner: whose a task is.
      there: does them.
      apart: names the users whose code a task runs; "" for none.
      mention: called with a part of a task, and the error of a first attempt that was made good.
    """
    good, bad = Counter[str](), Counter[str]()  # parts of each owner's
    waiting = deque(_Attempts(task) for task in tasks)
    numbers, busy = itertools.count(), dict[int, _Attempts[T]]()

    def hand_out() -> Iterator[tuple[T, R | StsError]]:
        """Have as much begun as there is room for; yield what is not to be tried."""
        while waiting and len(busy) < there.width:
            chain = waiting.popleft()
            first = chain.tasks[0]
            who, users = owner(first), apart(first)
            if bad[who] >= max(MIN_FAILURES, good[who]):
                yield from ((task, NotTried()) for task in chain.tasks)
            else:
                busy[number := next(numbers)] = chain
                work: Callable[..., Any] = Owned(perform, users) if users else perform
                there.submit(number, work, first)

    yield from hand_out()
    for number, outcome in there.completed():
        if number not in busy:  # done twice
            continue
        chain = busy.pop(number)
        task = chain.take(outcome, parts)
        if chain.tasks:
            waiting.appendleft(chain)
        came: list[tuple[T, R | StsError]] = []
        if task is not None:
            came = [(task, outcome)]
            (bad if isinstance(outcome, StsError) else good)[owner(task)] += len(parts(task))
            if not chain.tasks and chain.error is not None and not chain.failed:
                mention(task, chain.error)
        yield from [*came, *hand_out()]
    if busy:
        raise Unavailable(f"the executor has ended with {len(busy)} tasks not done; start again")
