"""The exporter `minari`: trajectories as a Minari dataset of one participant's episodes.

OUT is the dataset's own folder, `NAME-vN`; the folder above it can be given to Minari as
`MINARI_DATASETS_PATH`, and the user's own datasets are not touched.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space
from minari.data_collector import EpisodeBuffer
from minari.dataset.minari_dataset import DATASET_ID_RE
from minari.dataset.minari_storage import MinariStorage
from numpy.typing import NDArray

from sts.domains import domain
from sts.errors import ArgumentError
from sts.minari import minari
from sts.minari.record import FORMAT, KEY, VERSION, infos
from sts.trajectories.observed import Observed, Progress, observed
from sts.trajectories.types import Trajectory


def write(
    path: Path,
    trajectories: Sequence[Trajectory],
    *,
    role: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Writes the dataset folder `path` with an episode a trajectory, as participant `role`, or 0.

    Raises:
      ArgumentError: the folder's name is no dataset's, a trajectory has no steps, or as `observed`.
      ReplayMismatch: a trajectory does not replay as recorded.
    """
    if not (found := DATASET_ID_RE.fullmatch(path.name)) or found["version"] is None:
        raise ArgumentError(f"expected a folder named NAME-vN, as Minari does, found {path.name!r}")
    for t in trajectories:
        if not t.episode.steps:
            raise ArgumentError(f"trajectory {t.id} ({t.source}): Minari has no episode of 0 steps")
    path.parent.mkdir(parents=True, exist_ok=True)
    above = path.parent.absolute()  # Minari does not find its own files by a relative path
    making = Path(tempfile.mkdtemp(dir=above, prefix=f".{path.name}.", suffix=".part"))
    try:
        _fill(making / "data", path.name, trajectories, role or 0, progress)
        making.chmod(0o755)
        os.rename(making, path)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise


def _fill(
    folder: Path,
    name: str,
    trajectories: Sequence[Trajectory],
    role: int,
    progress: Progress | None,
) -> None:
    every = observed(trajectories, role, progress)
    first = next(every)
    players = dict.fromkeys(t.participants[role].name for t in trajectories)
    world = domain(first.trajectory.episode.domain)
    storage = MinariStorage.new(
        folder,
        observation_space=Dict({name: _space(a) for name, a in first.values.items()}),
        action_space=Discrete(len(world.moves)),
        data_format="hdf5",
        jpeg_encoding=False,
    )
    storage.update_metadata(
        {
            "dataset_id": name,
            "minari_version": minari.__version__,
            "algorithm_name": ", ".join(players),
            "description": f"{world.name}, participant {role}; actions: {', '.join(world.moves)}",
            KEY: f"{FORMAT}/{VERSION}",
            "sts_domain": world.name,
            "sts_role": role,
        }
    )
    storage.update_episodes(_buffer(one, role) for one in (first, *every))


def _buffer(one: Observed, role: int) -> EpisodeBuffer:
    episode = one.trajectory.episode
    last = np.arange(1, episode.steps + 1) == episode.steps
    ended = one.ended[1:]
    return EpisodeBuffer(
        observations=one.values,
        actions=episode.moves[:, role].astype(np.int64),
        rewards=episode.rewards[:, role] * domain(episode.domain).reward_unit,
        terminations=ended,
        truncations=last & ~ended,
        infos=infos(one.trajectory),
    )


def _space(array: NDArray[Any]) -> Space[Any]:
    """Returns the space of one row of `array`: any value of its type."""
    kind = array.dtype.kind
    low, high = (0, 1) if kind == "b" else (-np.inf, np.inf)
    if kind in "iu":
        low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
    return Box(low, high, array.shape[1:], array.dtype.type)
