"""The importer `minari`: datasets exported by this package, and those of Gymnasium environments.

An exported dataset is restored exactly. Any other is replayed: its environment is made from the
spec, reset with each episode's seed, and compared with the recording at every step.
"""

import json
from pathlib import Path
from typing import Any

from sts.errors import DamagedData, NewerFormat, StsError
from sts.formats.minari import minari, sizes
from sts.formats.minari.record import FORMAT, KEY, VERSION, restore_trajectory
from sts.formats.minari.replayed import replay_dataset
from sts.storage.files import read_bytes
from sts.trajectories.trajectory import Trajectory

_MAX_BYTES = 2**26
"""Maximum size of a dataset's metadata, in bytes."""
_NO_THREAD = "Failed to launch worker thread"
"""Part of the message of Arrow if no memory is left for a thread."""


def read(path: Path, *, domain: str | None = None) -> list[Trajectory]:
    """Return a trajectory for each episode of the dataset in the folder `path`.

    Args:
      path: the dataset's folder, or the folder `data` in it.
      domain: of a `GymnasiumEnvironment` that replays another program's dataset, in place of the
        environment in its spec; or the `module:Class` that an exported dataset refers to.

    Raises:
      DamagedData: it is not a dataset, lacks what a replay needs, or was modified.
      NewerFormat: a later Minari, or a later version of this package, wrote it.
      ArgumentError: the environment cannot be replayed.
      ReplayMismatch: it does not replay identically; names the episode and the step.
    """
    folder = path if (path / "metadata.json").is_file() else path / "data"
    metadata = _read_metadata(path, folder)
    version = _format_version(path, metadata)
    try:
        if (file := folder / "main_data.hdf5").is_file():  # absent in Minari's other formats
            sizes.check_sizes(file, metadata["total_episodes"])
        dataset = minari.MinariDataset(folder)
        if version is None:
            return replay_dataset(path, dataset, domain)
        return [_restore_exported(path, episode, domain) for episode in dataset.iterate_episodes()]
    except (StsError, MemoryError):
        raise
    except Exception as error:  # a damaged file makes Minari and h5py raise almost anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        if _NO_THREAD in reason:
            raise MemoryError from error
        raise DamagedData(f"{path}: Minari cannot read this dataset: {reason}") from error


def _read_metadata(path: Path, folder: Path) -> dict[str, Any]:
    """Return the dataset's metadata; errors as of `read`."""
    if not path.is_dir():
        path.stat()
        raise DamagedData(f"{path}: expected the folder of a Minari dataset, found a file")
    file = folder / "metadata.json"
    if not file.is_file():
        raise DamagedData(f"{path} is not a Minari dataset: data/metadata.json is missing")
    try:
        metadata = json.loads(read_bytes(file, _MAX_BYTES))
        version = str(metadata["minari_version"])
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise DamagedData(f"{file}: not the metadata of a Minari dataset: {error!r:.80}") from None
    supported = minari.supported_dataset_versions
    if version not in supported:
        raise NewerFormat(
            f"{path}: written by Minari {version}; Minari {minari.__version__} is installed and "
            f"reads {min(supported)} to {max(supported)}: pip install --upgrade minari"
        )
    return dict(metadata)


def _format_version(path: Path, metadata: dict[str, Any]) -> int | None:
    """Return the version of this package's format, or None if another program wrote it."""
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


def _restore_exported(path: Path, episode: Any, domain: str | None) -> Trajectory:
    try:
        return restore_trajectory(episode.infos or {}, domain)
    except StsError as error:
        raise error.with_prefix(f"{path}: episode {episode.id}") from None
