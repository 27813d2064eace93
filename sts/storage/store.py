"""The store: named bytes that come and go by four verbs, so that a bucket may stand behind it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from sts.errors import DamagedData
from sts.storage import files

_LARGEST = 2**32
"""Bytes of what is read at once."""


class Store(Protocol):
    """Where named bytes are kept; a name is a path with "/" between its parts."""

    def get(self, name: str) -> bytes:
        """Returns what is kept under a name.

        Raises:
          FileNotFoundError: nothing is.
        """
        ...

    def list(self, prefix: str) -> dict[str, int]:
        """Returns how many bytes are kept under each name below the folder `prefix`, in order."""
        ...

    def put_new(
        self, name: str, data: bytes, alike: Callable[[bytes, bytes], bool] = bytes.__eq__
    ) -> bool:
        """Keeps bytes under a name that nothing is kept under; returns whether that was so.

        Of several at once one succeeds. What is there already stays.

        Args:
          name: of what is put.
          data: the whole of it.
          alike: says whether what is there already holds the same as `data`.

        Raises:
          DamagedData: something else is there.
          OSError: it cannot be kept; nothing of it is then there.
        """
        ...

    def swap(self, name: str, data: bytes) -> None:
        """Keeps bytes under a name, in the place of what was there.

        Raises:
          OSError: it cannot be kept; what was there still is.
        """
        ...


class Folder:
    """A store in a folder of files; see `Store`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def get(self, name: str) -> bytes:
        """Returns what a file holds."""
        return files.regular_bytes(self.root / name, _LARGEST)

    def list(self, prefix: str) -> dict[str, int]:
        """Returns the size of each file below a folder; one that is not whole is none."""
        found: dict[str, int] = {}
        try:
            entries = sorted(os.scandir(self.root / prefix), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return found
        for entry in entries:
            name = f"{prefix}/{entry.name}"
            if entry.name.startswith("."):
                continue
            if files.leads_out(self.root / name):
                continue
            if entry.is_dir():
                found |= self.list(name)
            else:
                found[name] = entry.stat().st_size
        return found

    def put_new(
        self, name: str, data: bytes, alike: Callable[[bytes, bytes], bool] = bytes.__eq__
    ) -> bool:
        """Writes a file by temporary file, fsync and link."""
        if files.put_new(self.root / name, data):
            return True
        if not alike(self.get(name), data):
            raise DamagedData(
                f"{self.root / name}: expected what was made now, found something else under its "
                "name; move the file away and start again"
            )
        return False

    def swap(self, name: str, data: bytes) -> None:
        """Writes a file by temporary file, fsync and rename."""
        files.write_atomically(self.root / name, data)
