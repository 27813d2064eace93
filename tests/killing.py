"""A process that ends itself at a write, as far as files see."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any


def dying(last: int) -> None:
    """Has this process killed at its `last` call, from 1, that keeps a file or gives it a name."""
    writes = 0

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            nonlocal writes
            writes += 1
            if writes == last:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given)

        return call

    for name in ("fsync", "link", "replace"):
        setattr(os, name, counted(getattr(os, name)))
