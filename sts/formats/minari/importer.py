"""The importer `minari`: datasets that we exported, and those of Gymnasium environments.

A dataset of ours comes back exactly. Another's is replayed: made by its environment's spec, reset
with each episode's seed, and held at every step against what was recorded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sts.errors import DamagedData, NewerFormat, StsError
from sts.formats.minari import minari, sizes
from sts.formats.minari.record import FORMAT, KEY, VERSION, trajectory_of
from sts.formats.minari.replayed import replayed
from sts.storage.files import regular_bytes
from sts.trajectories.types import Trajectory

_MOST_BYTES = 2**26
"""Bytes of what a dataset says of itself."""


def read(path: Path, *, domain: str | None = None) -> list[Trajectory]:
    """Return a trajectory for each episode of the dataset in the folder `path`.

    Args:
      path: the dataset's folder, or the folder `data` in it.
      domain: what replays another's dataset, a domain made of a `GymnasiumEnvironment`; else its
        spec says which environment. Of ours, the `module:Class` that it may name.

    Raises:
      DamagedData: it is no dataset, or says too little to be replayed, or was altered.
      NewerFormat: a later Minari, or a later version of ours, wrote it.
      ArgumentError: the environment is not one that can be replayed.
      ReplayMismatch: it does not replay identically; names the episode and the step.
    """
    folder = path if (path / "metadata.json").is_file() else path / "data"
    metadata = _metadata(path, folder)
    own = _format(path, metadata)
    try:
        if (file := folder / "main_data.hdf5").is_file():  # what Minari's other formats have not
            sizes.check(file, metadata["total_episodes"])
        dataset = minari.MinariDataset(folder)
        if own is None:
            return replayed(path, dataset, domain)
        return [_ours(path, episode, domain) for episode in dataset.iterate_episodes()]
    except (StsError, MemoryError):
        raise
    except Exception as error:  # a damaged file makes Minari and h5py raise almost anything
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise DamagedData(f"{path}: Minari cannot read this dataset: {what}") from error


def _metadata(path: Path, folder: Path) -> dict[str, Any]:
    """Return what the dataset says of itself; errors as of `read`."""
    if not path.is_dir():
        path.stat()
        raise DamagedData(f"{path}: expected the folder of a Minari dataset, found a file")
    file = folder / "metadata.json"
    if not file.is_file():
        raise DamagedData(f"{path} is no Minari dataset: expected data/metadata.json in it")
    try:
        found = json.loads(regular_bytes(file, _MOST_BYTES))
        version = str(found["minari_version"])
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise DamagedData(f"{file}: no metadata of Minari: {error!r:.80}") from None
    known = minari.supported_dataset_versions
    if version not in known:
        raise NewerFormat(
            f"{path}: written by Minari {version}; Minari {minari.__version__} is installed and "
            f"reads {min(known)} to {max(known)}: pip install --upgrade minari"
        )
    return dict(found)


def _format(path: Path, metadata: dict[str, Any]) -> int | None:
    """Return the version of our format, or None where another wrote the dataset."""
    if KEY not in metadata:
        return None
    name, _, number = str(metadata[KEY]).rpartition("/")
    if name != FORMAT or not number.isdigit():
        raise DamagedData(f"{path}: expected {KEY} {FORMAT}/N, found {metadata[KEY]!r:.40}")
    if int(number) > VERSION:
        raise NewerFormat(
            f"{path}: {FORMAT} format {number}; this version reads up to {VERSION}: update sts"
        )
    return int(number)


def _ours(path: Path, episode: Any, domain: str | None) -> Trajectory:
    try:
        return trajectory_of(episode.infos or {}, domain)
    except StsError as error:
        raise error.about(f"{path}: episode {episode.id}") from None
