"""Waiting for conditions: the one place where tests of pages and servers let time pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 180
"""Seconds after which a server or a page counts as hanging, on a busy machine too."""
LOOK = 0.02
"""Seconds between two looks."""


def wait_until(look: Callable[[], T], what: str = "the condition holds") -> T:
    """Return what `look` returns, once that is true.

    Raises:
      AssertionError: it is not after `PATIENCE`; the message says what was waited for.
    """
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < end, f"{what}: not within {PATIENCE} s"
        time.sleep(LOOK)
    return found
