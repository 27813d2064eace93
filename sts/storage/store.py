"""The store: named bytes in a folder, which come and go by four verbs.

A name is a path with "/" between its parts. No other verb is needed, so a bucket may take the
folder's place.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from sts.errors import DamagedData
from sts.storage import files

_MAX_BYTES = 2**32
"""Bytes of what is read at once."""


class Store:
    """Named bytes in the files of a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def get(self, name: str) -> bytes:
        """Return what is kept under a name.

        Raises:
          FileNotFoundError: nothing is.
        """
        return files.regular_bytes(self.root / name, _MAX_BYTES)

    def list(self, prefix: str) -> dict[str, int]:
        """Return how many bytes are kept under each name below the folder `prefix`, in order.

        A file that is not whole is left out.
        """
        found: dict[str, int] = {}
        try:
            entries = sorted(os.scandir(self.root / prefix), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return found
        for entry in entries:
            name = f"{prefix}/{entry.name}"
            if entry.name.startswith(".") or files.is_outside_link(self.root / name):
                continue
            if entry.is_dir():
                found |= self.list(name)
            else:
                found[name] = entry.stat().st_size
        return found

    def put_new(
        self, name: str, data: bytes, alike: Callable[[bytes, bytes], bool] = bytes.__eq__
    ) -> bool:
        """Keep bytes under a name that nothing is kept under; return whether that was so.

        Of several at once one succeeds. What is there already stays.

        Args:
          name: of what is put.
          data: the whole of it.
          alike: says whether what is there already holds the same as `data`.

        Raises:
          DamagedData: something else is there.
          OSError: it cannot be kept; nothing of it is then there.
        """
        if files.put_new(self.root / name, data):
            return True
        if not alike(self.get(name), data):
            raise DamagedData(
                f"{self.root / name}: expected what was made now, found something else under its "
                "name; move the file away and start again"
            )
        return False

    def swap(self, name: str, data: bytes) -> None:
        """Keep bytes under a name, in the place of what was there.

        Raises:
          OSError: it cannot be kept; what was there still is.
        """
        files.write_atomically(self.root / name, data)
