"""Holds what an hdf5 file tells of its arrays against what is stored in it.

A damaged file may tell of arrays of terabytes, and who believes it runs out of memory. One that was
made to do harm may also lead to other files, whose content would be taken for its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sts.errors import DamagedData
from sts.formats.minari import h5py

PACKED = 1032
"""How many times smaller than its array a compressed one can be: the most that deflate can do."""
MOST = 2**32
"""Bytes that all arrays of a dataset may come to, each counted wherever it stands."""


def check(path: Path, episodes: Any) -> None:
    """Hold the file at `path`, and `episodes`, how many its metadata tell of, against its bytes."""
    with h5py.File(path) as file:
        found = len(file)
        _check(path, file)
    if type(episodes) is not int or not 0 <= episodes <= found:
        raise DamagedData(f"{path}: expected {found} episodes, as it has, found {episodes!r:.40}")


def _check(path: Path, file: Any) -> None:
    total, met, left = 0, set(), [("", file)]
    while left:
        above, group = left.pop()
        if (address := h5py.h5o.get_info(group.id).addr) in met:
            raise DamagedData(f"{path}: {above!r:.80} stands in several places, or in itself")
        met.add(address)
        for name in group:
            place = f"{above}{name}"
            kind = group.id.links.get_info(name.encode()).type
            if kind != h5py.h5l.TYPE_HARD:
                raise DamagedData(
                    f"{path}: {place!r:.80} is a link to elsewhere, which is not read"
                )
            one = group[name]
            if isinstance(one, h5py.Dataset):
                total += _size(path, place, one.id)
            elif isinstance(one, h5py.Group):
                left.append((f"{place}/", one))
            if total > MOST:
                raise DamagedData(f"{path}: expected at most {MOST} bytes unpacked, found more")


def _size(path: Path, place: str, one: Any) -> int:
    """Return the bytes of an array; refuses one that is larger than what is stored of it."""
    made = one.get_create_plist()
    if made.get_external_count() or made.get_layout() == h5py.h5d.VIRTUAL:
        raise DamagedData(f"{path}: {place!r:.80} is kept in another file, which is not read")
    size = int(one.get_space().get_simple_extent_npoints() * one.get_type().get_size())
    stored = one.get_storage_size()
    packed = size > stored and made.get_nfilters()
    if size > stored * (PACKED if packed else 1):
        raise DamagedData(f"{path}: {place} is larger than what is stored of it")
    return size
