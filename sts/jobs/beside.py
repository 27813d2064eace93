"""Work that a copy of this process does beside it, on a second processor.

The copy has all that this process had when it was made, and nothing is sent to it; what it finds is
sent back. What comes of it is the same as of doing the work here.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any, TypeVar

R = TypeVar("R")


@contextlib.contextmanager
def beside(work: Callable[[], R], *, worth: bool = True) -> Iterator[Callable[[], R]]:
    """Yields what waits for the work and returns its result, or raises what it raises.

    Args:
      work: draws of no generator that is used after it was begun.
      worth: whether there is enough to do. If not, or where there is one processor, or processes
        cannot be copied, or the copy ended without a result, it is done here once waited for.
    """
    if not worth or sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        yield work
        return
    copies = multiprocessing.get_context("fork")
    here, there = copies.Pipe(duplex=False)
    copy = copies.Process(target=_answer, args=(work, there), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of copying where there are threads
        copy.start()
    there.close()

    def result() -> R:
        try:
            return here.recv()  # type: ignore[no-any-return]
        except EOFError:
            return work()

    try:
        yield result
    finally:
        here.close()
        copy.kill()  # a handler of signals that it has of this process might let it go on
        copy.join()


def _answer(work: Callable[[], Any], answer: Connection) -> None:
    # Whoever waits then does the work, and meets what is wrong with it.
    with contextlib.suppress(Exception, KeyboardInterrupt):
        answer.send(work())
