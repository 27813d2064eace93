"""Processes that work beside this one."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from sts.errors import Unavailable


@contextlib.contextmanager
def pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Yields a pool of `workers` fresh processes; an error ends what has not begun.

    Raises:
      Unavailable: a process died, of memory for example.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_deaf) as executor:
        try:
            yield executor
        except BrokenProcessPool:
            raise Unavailable(
                f"one of {workers} worker processes died, perhaps for want of memory; what was "
                "finished is kept, go on with fewer --workers"
            ) from None
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise


def _deaf() -> None:
    """Leaves Ctrl-C to the parent; each worker would print a traceback of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
