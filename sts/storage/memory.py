"""A memory limit for reading untrusted files, which may decompress to any size."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sts.errors import DamagedData

_PROCESS_MEMORY = Path("/proc/self/statm")
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


def memory_limit() -> int:
    """Return half of the memory of the machine or container, in bytes."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        total = min(total, int(_CONTAINER_LIMIT.read_text()))
    except (OSError, ValueError):  # no container, or one without a limit
        pass
    return total // 2


@contextmanager
def limit_memory(what: str) -> Iterator[None]:
    """Limit memory to `memory_limit` in a context (on Linux); raise DamagedData if exceeded."""
    before, most = resource.getrlimit(resource.RLIMIT_AS), memory_limit()
    try:
        used = int(_PROCESS_MEMORY.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        limits = [limit for limit in before if limit != resource.RLIM_INFINITY]
        limit = min((used + most, *limits))
        resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    except (OSError, ValueError):
        pass
    try:
        yield
    except MemoryError:
        raise DamagedData(
            f"{what}: reading it needs more than {most / 2**30:.1f} GiB, half of the memory of "
            "this machine; use a smaller file or a larger machine"
        ) from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
