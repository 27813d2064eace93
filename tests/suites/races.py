"""Calls at the same time, and calls that end when a file is changed."""

import itertools
import os
import shutil
import threading
from collections.abc import Callable

import pytest

from sts.errors import StsError


def run_together(*calls: Callable[[], object]) -> list[object]:
    """Return what each call returns, or the error of ours that it raises."""
    outcomes: list[object] = [None] * len(calls)

    def run(i: int) -> None:
        try:
            outcomes[i] = calls[i]()
        except StsError as error:
            outcomes[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


class Killed(BaseException):
    """The process ended here."""


def killed_after(moment: int, patch: pytest.MonkeyPatch) -> Callable[[], bool]:
    """End the process, as far as files see, at that call which changes one, before it is made.

    Returns whether there were fewer calls than that.
    """
    calls = itertools.count()
    dead: list[bool] = []

    def watched(real: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object, **named: object) -> object:
            if dead or next(calls) == moment:
                dead.append(True)
                raise Killed
            return real(*given, **named)

        return call

    for name in ("fsync", "rename", "replace", "link", "mkdir", "rmdir", "unlink"):
        patch.setattr(os, name, watched(getattr(os, name)))
    real = shutil.rmtree
    patch.setattr(shutil, "rmtree", lambda *given, **named: None if dead else real(*given, **named))
    return lambda: not dead
