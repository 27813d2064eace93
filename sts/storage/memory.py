"""How much memory may be taken to read a file of somebody else's.

A small file can unpack to anything, and what it says of its size can be wrong. So whatever reads
one has a limit of its own, beyond which it is refused in a line and nothing else is killed.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sts.errors import DamagedData

_PROCESS_MEMORY = Path("/proc/self/statm")
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


def allowance() -> int:
    """Return the bytes that reading may take: half of the memory of the machine, or container."""
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        there = min(there, int(_CONTAINER_LIMIT.read_text()))
    except (OSError, ValueError):  # no container, or one without a limit
        pass
    return there // 2


@contextmanager
def bounded(what: str) -> Iterator[None]:
    """Raise DamagedData about `what` if a block takes more memory than `allowance` (on Linux)."""
    before, most = resource.getrlimit(resource.RLIMIT_AS), allowance()
    try:
        taken = int(_PROCESS_MEMORY.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        limit = min((taken + most, *(one for one in before if one != resource.RLIM_INFINITY)))
        resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    except (OSError, ValueError):
        pass
    try:
        yield
    except MemoryError:
        raise DamagedData(
            f"{what}: expected what can be read in {most / 2**30:.1f} GiB of memory, half of what "
            "this machine has, found more"
        ) from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
