"""Processes that work beside this one."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from sts.errors import Unavailable


class WorkerDied(Unavailable):
    """A process of a pool has ended, and with it the pool."""


@contextlib.contextmanager
def pool(workers: int, begin: Callable[[], None] | None = None) -> Iterator[ProcessPoolExecutor]:
    """Yields a pool of `workers` fresh processes; an error ends what has not begun.

    Each calls `begin` before anything else.

    Raises:
      WorkerDied: a process did, of memory for example.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        workers, mp_context=context, initializer=_begin, initargs=(begin,)
    ) as executor:
        try:
            yield executor
        except BrokenProcessPool:
            raise WorkerDied(
                f"one of {workers} worker processes died: it was ended, or wanted memory (go on "
                "with fewer --workers)"
            ) from None
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise


def _begin(more: Callable[[], None] | None) -> None:
    """Leaves Ctrl-C to the parent, where each worker would print a traceback, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if more is not None:
        more()


def _end_with_parent() -> None:
    """Ends this process when its parent has ended, however that was: nothing tells it so."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
