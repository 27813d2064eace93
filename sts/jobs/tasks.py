"""Working tasks off, in this process or in several beside it, so that a bad one costs no other."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from sts.errors import StsError, Unavailable
from sts.jobs.executors import Executor

ENOUGH = 3
"""How many parts of an owner's tasks must fail, and half of all, before no more are tried.

Each may have to be waited for, as where a world hangs.
"""
T = TypeVar("T")
R = TypeVar("R")


class NotTried(StsError):
    """Too much of the same owner had failed."""


def work_off(
    tasks: Sequence[T],
    perform: Callable[[T], R],
    *,
    parts: Callable[[T], Sequence[T]],
    owner: Callable[[T], str],
    there: Executor,
) -> Iterator[tuple[T, R | StsError]]:
    """Yields each task with its result, as they come; where one fails, each of its parts.

    A part that fails comes with its error: that of `perform`, or `Died` where the process that it
    was done in has. Of an owner for whom too much has failed (`ENOUGH`) nothing more is done, and
    what is left comes with `NotTried`. Errors other than `StsError` are not caught.

    Args:
      tasks: to do. Like their parts and results, they are sent between processes.
      perform: does a task or a part.
      parts: what a task consists of; a part consists of itself.
      owner: whose a task is.
      there: does them.
    """
    good, bad = Counter[str](), Counter[str]()  # parts of each owner's
    waiting = deque(deque([task]) for task in tasks)
    numbers, busy = itertools.count(), dict[int, deque[T]]()

    def hand_out() -> list[tuple[T, R | StsError]]:
        """Has as much begun as there is room for; returns what is not to be tried."""
        left: list[tuple[T, R | StsError]] = []
        while waiting and len(busy) < there.width:
            chain = waiting.popleft()
            who = owner(chain[0])
            if bad[who] >= max(ENOUGH, good[who]):
                left += [(task, NotTried()) for task in chain]
            else:
                busy[number := next(numbers)] = chain
                there.submit(number, perform, chain[0])
        return left

    yield from hand_out()
    for number, outcome in there.completed():
        if number not in busy:  # done twice
            continue
        chain = busy.pop(number)
        task = chain.popleft()
        pieces, came = parts(task), []
        if isinstance(outcome, StsError) and len(pieces) > 1:
            chain.extendleft(reversed(pieces))
        else:
            came = [(task, outcome)]
            (bad if isinstance(outcome, StsError) else good)[owner(task)] += len(pieces)
        if chain:
            waiting.appendleft(chain)
        yield from came + hand_out()
    if busy:
        raise Unavailable(f"the executor has ended with {len(busy)} tasks not done; start again")
