"""The journal of a live session: a file of events, each written before it is shown.

What people write, mark or end is on disk before it is acknowledged. Steps are only written, so that
a slow disk does not delay the clock: if the machine loses power, the journal may lack those after
the last other event. It has one JSON object a line. Their digests form a chain, so that altered or
lost lines are found; the end of a line that was cut off by a crash is not an event, and is removed
when the journal is opened again.
"""

import errno
import fcntl
import functools
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sts.errors import DamagedData, Unavailable
from sts.storage.chains import START, Link, next_link
from sts.storage.files import canonical_json, open_regular, parse_versioned_json, read_bytes

FORMAT, ERASED_FORMAT = "journal/1", "erased-journal/1"
MAX_BYTES = 2**28
"""Maximum size of a journal: 100 hours of steps."""
Event = Mapping[str, Any]
"""An event: its `kind`, and fields that depend on it."""


class Journal:
    """The open journal of a session; only one process can have it open."""

    def __init__(self, path: Path, *, new: bool) -> None:
        """Create a journal, or open one and read its `events`.

        Raises:
          Unavailable: it exists or is missing, another process has it open, or the disk fails.
          DamagedData: an event was altered.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._file = os.open(path, flags | (os.O_CREAT | os.O_EXCL if new else 0), 0o600)
        except OSError as error:
            raise Unavailable(f"{path}: {error.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            raw = read_bytes(path, MAX_BYTES)
            self.events, self._end = _decode(path, raw)
            self._size = raw.rfind(b"\n") + 1
            os.ftruncate(self._file, self._size)
        except OSError as error:
            os.close(self._file)
            is_held = error.errno == errno.EWOULDBLOCK
            reason = "another process has it open" if is_held else error.strerror
            raise Unavailable(f"{path}: {reason}") from None
        except DamagedData:
            os.close(self._file)
            raise
        self.path = path

    def append(self, kind: str, *, sync: bool = True, **fields: Any) -> None:
        """Append an event; if `sync` is true, it and all before it are on disk when this returns.

        Raises:
          Unavailable: the disk is full or fails; the journal is as before.
        """
        event = {"kind": kind, **fields}
        link = next_link(self._end, [event])
        line = canonical_json(event | {"digest": link.digest}) + b"\n"
        try:
            if os.write(self._file, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if sync:
                os.fdatasync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise Unavailable(f"{self.path}: {error.strerror}") from None
        self.events.append(event)
        self._end, self._size = link, self._size + len(line)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read_events(path: Path) -> list[Event]:
    """Read the events of a journal that another process may have open.

    Raises:
      DamagedData: an event was altered.
      OSError: the file cannot be read.
    """
    return _decode(path, read_bytes(path, MAX_BYTES))[0]


def is_open(path: Path) -> bool:
    """Return True if a process has a journal open."""
    with open_regular(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def encode_events(events: Iterable[Event]) -> bytes:
    """Return the bytes of a journal with these events."""
    lines, end = [], START
    for event in events:
        end = next_link(end, [event])
        lines.append(canonical_json({**event, "digest": end.digest}) + b"\n")
    return b"".join(lines)


def compute_digest(events: Iterable[Event]) -> str:
    """Return the last digest of the chain of events."""
    return functools.reduce(lambda end, event: next_link(end, [event]), events, START).digest


def _decode(path: Path, raw: bytes) -> tuple[list[Event], Link]:
    """Return the events and the last link of their chain."""
    events: list[Event] = []
    end = START
    for line in raw.split(b"\n")[:-1]:
        try:
            event = parse_versioned_json(line.decode(), dict)
            digest = event.pop("digest")
            link = next_link(end, [event])
        except (ValueError, KeyError):
            raise DamagedData(f"{path}: event {len(events) + 1} cannot be read") from None
        if link.digest != digest or not isinstance(event.get("kind"), str):
            raise DamagedData(f"{path}: event {len(events) + 1} was altered, or one before it lost")
        events.append(event)
        end = link
    return events, end
