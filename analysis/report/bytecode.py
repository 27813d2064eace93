"""Compiled templates, kept beside Python's own bytecode: compiling them takes half a second."""

from __future__ import annotations

import contextlib
import importlib.util
import marshal
import sys
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from sts.storage.files import write_atomically


class Bytecode(jinja2.BytecodeCache):
    """Templates of one folder, in its `__pycache__`; where that cannot be written, nothing is kept.

    What is read there is run, as Python does with modules.

    Attributes:
      folder: of the templates.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load_bytecode(self, bucket: Bucket) -> None:
        """Reads a template's code, if it was compiled of this source by these versions."""
        with contextlib.suppress(OSError, EOFError, ValueError, TypeError):
            data = self._path(bucket).read_bytes()
            if data.startswith(head := _head(bucket)):
                bucket.code = marshal.loads(data[len(head) :])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps a template's code."""
        if not sys.dont_write_bytecode:
            with contextlib.suppress(OSError):
                write_atomically(self._path(bucket), _head(bucket) + marshal.dumps(bucket.code))

    def _path(self, bucket: Bucket) -> Path:
        return Path(importlib.util.cache_from_source(str(self.folder / f"{bucket.key}.j2")))


def _head(bucket: Bucket) -> bytes:
    return b"%b %b %b\n" % (
        importlib.util.MAGIC_NUMBER,
        jinja2.__version__.encode(),
        bucket.checksum.encode(),
    )
