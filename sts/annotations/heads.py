"""The ends of chains, kept in a file beside the database, so that a lost end of one is found.

A line is appended after each transaction that has lengthened a chain: whose it is, the number of
its last record and that record's digest. The file may lag behind the database, never lead it: who
dies between the two leaves out lines, and each line that is there names a record that must be.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from sts.storage.chains import Link

FILE = "annotations.heads"


def append(path: Path, heads: Mapping[str, Link]) -> None:
    """Appends the ends of some chains, by whose they are; a file that cannot be written lags."""
    if not heads:
        return
    text = "".join(f"{who} {number} {digest}\n" for who, (number, digest) in heads.items())
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            size = os.fstat(file).st_size
            if size and os.pread(file, 1, size - 1) != b"\n":
                text = f"\n{text}"  # what a cut of power has left of a line spoils no other
            os.write(file, text.encode())
        finally:
            os.close(file)


def read(path: Path) -> Iterator[tuple[str, Link]]:
    """Yields every end that was kept, by whose it is, in the order of time.

    What is no whole line, as a cut of power may leave it, is passed over.
    """
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        for line in file:
            cells = line.decode("ascii", "replace").split()
            if len(cells) == 3 and cells[1].isdecimal() and len(cells[2]) == 64:
                yield cells[0], Link(int(cells[1]), cells[2])
