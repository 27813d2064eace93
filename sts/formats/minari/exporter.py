"""The exporter `minari`: trajectories as a Minari dataset of one participant's episodes.

OUT is the dataset's own folder, `NAME-vN`; the folder above it can be given to Minari as
`MINARI_DATASETS_PATH`, and the user's own datasets are not touched.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.spaces import Box, Dict, Discrete, Space
from minari.data_collector import EpisodeBuffer
from minari.dataset.minari_dataset import DATASET_ID_RE
from minari.dataset.minari_storage import MinariStorage
from numpy.typing import NDArray

from sts.domains import Domain, action_space, domain, reward_values
from sts.domains.adapted import Adapted
from sts.domains.gymnasium import GymnasiumEnvironment, flat
from sts.errors import ArgumentError
from sts.formats.minari import minari
from sts.formats.minari.record import FORMAT, KEY, VERSION, infos
from sts.storage.files import beside
from sts.trajectories.observed import Observed, Progress, observed
from sts.trajectories.types import Trajectory

_OWN = ("reset", "step", "observe")
"""What a class of one's own may do otherwise than the environment that Gymnasium makes."""


def write(
    path: Path,
    trajectories: Sequence[Trajectory],
    *,
    role: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Write the dataset folder `path` with an episode a trajectory, as participant `role`, or 0.

    Raises:
      ArgumentError: the folder's name is no dataset's, or a trajectory has no steps.
      ArgumentError, ReplayMismatch, StsError: as `observed`.
    """
    if not (found := DATASET_ID_RE.fullmatch(path.name)) or found["version"] is None:
        raise ArgumentError(f"expected a folder named NAME-vN, as Minari does, found {path.name!r}")
    for t in trajectories:
        if not t.episode.steps:
            raise ArgumentError(f"trajectory {t.id} ({t.source}): Minari has no episode of 0 steps")
    path = path.absolute()  # Minari does not find its own files by a relative path
    with beside(path) as making:
        _fill(making / "data", path.name, trajectories, role or 0, progress)
        making.chmod(0o755)
        os.rename(making, path)


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
    actions = _actions(world)
    own, spec = _gymnasium(world, trajectories, actions)
    spaces = {name: _space(a, own.get(name)) for name, a in first.values.items()}
    storage = MinariStorage.new(
        folder,
        observation_space=Dict(spaces),
        action_space=actions,
        env_spec=spec,
        data_format="hdf5",
        jpeg_encoding=False,
    )
    storage.update_metadata(
        {
            "dataset_id": name,
            "minari_version": minari.__version__,
            "algorithm_name": ", ".join(players),
            "description": f"{world.name}, participant {role}; actions: {_named(world)}",
            KEY: f"{FORMAT}/{VERSION}",
            "sts_domain": world.name,
            "sts_role": role,
        }
    )
    storage.update_episodes(_buffer(one, role) for one in (first, *every))


def _named(world: Domain) -> str:
    return ", ".join(world.moves) or action_space(world).text()


def _actions(world: Domain) -> Space[Any]:
    """Return the space of what a participant does; the environment's own if it is no choice."""
    if world.moves:
        return Discrete(len(world.moves))
    one: Any = world.new() if isinstance(world, Adapted) else None
    if isinstance(one, GymnasiumEnvironment):
        own: Space[Any] = one.live.action_space
        return own
    space = action_space(world)
    return Box(space.low, space.high, dtype=space.dtype.type)


def _buffer(one: Observed, role: int) -> EpisodeBuffer:
    episode = one.trajectory.episode
    world, moves = domain(episode.domain), episode.moves[:, role]
    last = np.arange(1, episode.steps + 1) == episode.steps
    ended = one.ended[1:]
    return EpisodeBuffer(
        observations=one.values,
        actions=moves.astype(np.int64) if world.moves else moves,
        rewards=reward_values(world, episode.rewards[:, role]),
        terminations=ended,
        truncations=last & ~ended,
        infos=infos(one.trajectory),
    )


def _gymnasium(
    world: Domain, trajectories: Sequence[Trajectory], actions: Space[Any]
) -> tuple[dict[str, Space[Any]], EnvSpec | None]:
    """Return the spaces by name, and the spec, of the environment that all were played in.

    There are none where it is not Gymnasium's as it stands, or not the same for all of them. The
    spec is left out where its actions are numbered otherwise or JSON cannot hold it.
    """
    first: tuple[Space[Any], Space[Any], str | None] | None = None
    for t in trajectories:
        one: Any = world.environment(t.episode.state) if isinstance(world, Adapted) else None
        if not isinstance(one, GymnasiumEnvironment) or any(
            getattr(type(one), name) is not getattr(GymnasiumEnvironment, name) for name in _OWN
        ):
            return {}, None
        found = one.live.observation_space, one.live.action_space, _spec(one.live.spec)
        first = first or found
        if found != first:
            return {}, None
    assert first is not None  # observed refuses to be given no trajectories
    space, taken, spec = first
    own = {name.replace("/", "."): one for name, one in flat("", space)}
    return own, EnvSpec.from_json(spec) if spec and taken == actions else None


def _spec(spec: EnvSpec | None) -> str | None:
    """Return a spec as JSON, but for how its environment renders; None where JSON has no such."""
    if spec is None:
        return None
    kwargs = {key: value for key, value in spec.kwargs.items() if key != "render_mode"}
    try:
        return replace(spec, kwargs=kwargs).to_json()
    except (TypeError, ValueError):
        return None


def _space(array: NDArray[Any], own: Space[Any] | None) -> Space[Any]:
    """Return the space of one row of `array`: the environment's own, or any value of its type."""
    if own is not None and (own.shape, own.dtype) == (array.shape[1:], array.dtype):
        return own
    kind = array.dtype.kind
    low, high = (0, 1) if kind == "b" else (-np.inf, np.inf)
    if kind in "iu":
        low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
    return Box(low, high, array.shape[1:], array.dtype.type)
