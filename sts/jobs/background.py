"""Background work in a fork of this process."""

import contextlib
import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import TypeVar

R = TypeVar("R")


@contextlib.contextmanager
def run_in_background(work: Callable[[], R], *, worth: bool = True) -> Iterator[Callable[[], R]]:
    """Run `work` in a fork of this process; yield a function that waits and returns its result.

    The work runs in this process instead, when the result is requested, if `worth` is False, there
    is one processor, the system is not Linux, or the fork failed. So `work` must not change state
    that is used afterwards, such as random generators.
    """
    if not worth or sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        yield work
        return
    forks = multiprocessing.get_context("fork")
    receiver, sender = forks.Pipe(duplex=False)

    def answer() -> None:
        # After an error, the parent repeats the work and raises the error.
        with contextlib.suppress(Exception, KeyboardInterrupt):
            sender.send(work())

    fork = forks.Process(target=answer, daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forks of a process with threads
        fork.start()
    sender.close()

    def result() -> R:
        try:
            return receiver.recv()  # type: ignore[no-any-return]
        except EOFError:
            return work()

    try:
        yield result
    finally:
        receiver.close()
        fork.kill()  # an inherited signal handler could ignore a gentler signal
        fork.join()
