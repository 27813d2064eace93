"""Holds the sizes that an hdf5 file tells of against what is stored in it.

A damaged file may tell of arrays of terabytes, and who believes it runs out of memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sts.errors import DamagedData
from sts.formats.minari import h5py

PACKED = 1032
"""How many times smaller than its array a compressed one can be: the most that deflate can do."""


def check(path: Path, episodes: Any) -> None:
    """Holds the file at `path`, and `episodes`, how many its metadata tell of, against its bytes.

    Raises:
      DamagedData: it tells of more than there is.
    """
    with h5py.File(path) as file:
        found = len(file)
        larger = h5py.h5o.visit(file.id, lambda *one: _larger(file.id, *one), info=True)
    if larger is not None:
        raise DamagedData(f"{path}: {larger.decode()} is larger than what is stored of it")
    if type(episodes) is not int or not 0 <= episodes <= found:
        raise DamagedData(f"{path}: expected {found} episodes, as it has, found {episodes!r:.40}")


def _larger(file: Any, name: bytes, info: Any) -> bytes | None:
    """Returns the name of an array that is larger than what is stored of it, which ends a visit."""
    if info.type != h5py.h5o.TYPE_DATASET:
        return None
    one = h5py.h5d.open(file, name)
    size = one.get_space().get_simple_extent_npoints() * one.get_type().get_size()
    stored = one.get_storage_size()
    packed = size > stored and one.get_create_plist().get_nfilters()
    return name if size > stored * (PACKED if packed else 1) else None
