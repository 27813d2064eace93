"""Work that a copy of this process does at the same time, on a second processor."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import TypeVar

R = TypeVar("R")


@contextlib.contextmanager
def beside(work: Callable[[], R], *, worth: bool = True) -> Iterator[Callable[[], R]]:
    """Yield what waits for the work and returns its result, or raises what it raises.

    The copy has all that this process has, and nothing is sent to it. If it is not worth a copy, or
    there is one processor, or processes cannot be copied, or the copy ended without a result, the
    work is done here once it is waited for. It draws of no generator that is used afterwards.
    """
    if not worth or sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        yield work
        return
    copies = multiprocessing.get_context("fork")
    here, there = copies.Pipe(duplex=False)

    def answer() -> None:
        # Whoever waits then does the work, and meets what is wrong with it.
        with contextlib.suppress(Exception, KeyboardInterrupt):
            there.send(work())

    copy = copies.Process(target=answer, daemon=True)
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
