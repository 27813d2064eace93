"""A key-value store of bytes in a folder.

Names are relative paths with "/". Its four operations could also be implemented by object storage.
"""

import os
from collections.abc import Callable
from pathlib import Path

from sts.errors import DamagedData
from sts.storage import files

_MAX_BYTES = 2**32
"""Maximum size of a value."""


class KeyValueStore:
    """A key-value store of bytes, with one file per name."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def get(self, name: str) -> bytes:
        """Return the bytes stored under a name; raise FileNotFoundError if it does not exist."""
        return files.read_bytes(self.root / name, _MAX_BYTES)

    def list(self, prefix: str) -> dict[str, int]:
        """Return the size in bytes of each name in the folder `prefix`, in order.

        Incomplete files are skipped.
        """
        sizes: dict[str, int] = {}
        try:
            entries = sorted(os.scandir(self.root / prefix), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return sizes
        for entry in entries:
            name = f"{prefix}/{entry.name}"
            if entry.name.startswith(".") or files.is_outside_link(self.root / name):
                continue
            if entry.is_dir():
                sizes |= self.list(name)
            else:
                sizes[name] = entry.stat().st_size
        return sizes

    def put_new(
        self, name: str, data: bytes, alike: Callable[[bytes, bytes], bool] = bytes.__eq__
    ) -> None:
        """Store bytes under a new name; change nothing if the name exists with the same content.

        Of several concurrent calls exactly one stores its bytes. `alike` returns True if the
        existing bytes, its first argument, have the same content.

        Raises:
          DamagedData: the name exists with other content.
          OSError: the bytes cannot be written; nothing is stored.
        """
        if not files.write_new(self.root / name, data) and not alike(self.get(name), data):
            raise DamagedData(
                f"{self.root / name} already exists with other content; move the file away and "
                "start again"
            )

    def replace(self, name: str, data: bytes) -> None:
        """Store bytes under a name, replacing existing ones; an OSError leaves these unchanged."""
        files.write_atomically(self.root / name, data)
