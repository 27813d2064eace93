"""How much memory this process may still take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from sts.errors import ArgumentError

_ROOT = Path("/")
_MIB = 2**20


def check(name: str, needed: int, for_what: str, lower: str) -> None:
    """Raise ArgumentError when agent `name` needs more bytes than can be had.

    `for_what` says what the bytes are for, and `lower` what the user can lower.
    """
    free = available()
    if free is not None and needed > free:
        raise ArgumentError(
            f"{name} needs {-(-needed // _MIB)} MiB of memory for {for_what}, found "
            f"{free // _MIB} MiB; lower {lower}"
        )


def available(root: Path = _ROOT) -> int | None:
    """Return the bytes that can be had, the least of what is known; None where nothing is.

    Linux says what is free on the machine, and what the control groups of this process, the memory
    limits of containers, leave of it. Elsewhere the machine's whole memory counts.
    """
    known = [*_machine(root), *_groups(root)]
    return min(known) if known else _installed()


def _machine(root: Path) -> Iterator[int]:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024


def _groups(root: Path) -> Iterator[int]:
    """Yields what each memory limit above this process leaves, in both versions of the files."""
    for line in _lines(root / "proc/self/cgroup"):
        _, kinds, path = line.split(":", 2)
        if kinds not in ("", "memory"):
            continue
        folder = root / "sys/fs/cgroup" / kinds
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
        limit, usage = names if kinds else ("memory.max", "memory.current")
        group = folder / path.lstrip("/")
        for place in (group, *group.parents):
            if place.is_relative_to(folder):
                yield from _left(place, limit, usage)


def _left(place: Path, limit: str, usage: str) -> Iterator[int]:
    """Yields the limit less what is used; cached files that can be dropped are not counted."""
    most, used = _number(place / limit), _number(place / usage)
    if most is not None and used is not None:
        lines = _lines(place / "memory.stat")
        idle = [int(line.split()[1]) for line in lines if "inactive_file" in line]
        yield max(0, most - used + max(idle, default=0))


def _number(path: Path) -> int | None:
    lines = _lines(path)
    return int(lines[0]) if lines and lines[0].isdigit() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def _installed() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
