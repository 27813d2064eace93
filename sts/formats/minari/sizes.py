"""Checks of the array sizes that an hdf5 file declares against the bytes it stores.

A damaged file may declare arrays of terabytes, whose allocation would exhaust memory. A malicious
one may link to other files, whose content would be read as its own.
"""

from pathlib import Path
from typing import Any

from sts.errors import DamagedData
from sts.formats.minari import h5py

MAX_COMPRESSION = 1032
"""Upper bound of the compression ratio of deflate."""
MAX_BYTES = 2**32
"""Maximum size of all arrays of a dataset, in bytes."""


def check_sizes(path: Path, episodes: object) -> None:
    """Check the file at `path`, and the number of `episodes` that its metadata state."""
    with h5py.File(path) as file:
        stored = len(file)
        _check_size(path, file)
    if type(episodes) is not int or not 0 <= episodes <= stored:
        raise DamagedData(
            f"{path}: expected at most {stored} episodes, as stored, found {episodes!r:.40}"
        )


def _check_size(path: Path, file: Any) -> None:
    total, visited, pending = 0, set(), [("", file)]
    while pending:
        parent_path, group = pending.pop()
        if (address := h5py.h5o.get_info(group.id).addr) in visited:
            raise DamagedData(
                f"{path}: {parent_path!r:.80} is linked from several places, or from itself"
            )
        visited.add(address)
        for name in group:
            hdf5_path = f"{parent_path}{name}"
            kind = group.id.links.get_info(name.encode()).type
            if kind != h5py.h5l.TYPE_HARD:
                raise DamagedData(
                    f"{path}: {hdf5_path!r:.80} is a soft or external link, which is not allowed"
                )
            member = group[name]
            if isinstance(member, h5py.Dataset):
                total += _size(path, hdf5_path, member.id)
            elif isinstance(member, h5py.Group):
                pending.append((f"{hdf5_path}/", member))
            if total > MAX_BYTES:
                raise DamagedData(
                    f"{path}: expected at most {MAX_BYTES} bytes unpacked, found more"
                )


def _size(path: Path, name: str, dataset: Any) -> int:
    """Return the bytes of an array; raise DamagedData if fewer are stored than that needs."""
    properties = dataset.get_create_plist()
    if properties.get_external_count() or properties.get_layout() == h5py.h5d.VIRTUAL:
        raise DamagedData(f"{path}: {name!r:.80} is stored in another file, which is not allowed")
    size = int(dataset.get_space().get_simple_extent_npoints() * dataset.get_type().get_size())
    stored = dataset.get_storage_size()
    packed = size > stored and properties.get_nfilters()
    if size > stored * (MAX_COMPRESSION if packed else 1):
        raise DamagedData(f"{path}: {name} declares more bytes than are stored")
    return size
