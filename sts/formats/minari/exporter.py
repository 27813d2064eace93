"""The exporter `minari`: trajectories as a Minari dataset of one player's episodes.

OUT is the dataset's own folder, `NAME-vN`; pass the folder above it to Minari as
`MINARI_DATASETS_PATH`. The user's other datasets are not touched.
"""

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

from sts.domains import Domain, action_space, load_domain, reward_values
from sts.domains.adapter import EnvironmentDomain
from sts.domains.gymnasium import GymnasiumEnvironment, flatten_observation
from sts.errors import ArgumentError
from sts.formats.minari import minari
from sts.formats.minari.record import FORMAT, KEY, VERSION, encode_infos
from sts.storage.files import create_folder
from sts.trajectories.observed import ObservedTrajectory, Progress, iter_observations
from sts.trajectories.trajectory import Trajectory

_OVERRIDABLE = ("reset", "step", "observe")
"""Methods whose overriding makes an environment differ from the one that Gymnasium makes."""


def write(
    path: Path,
    trajectories: Sequence[Trajectory],
    *,
    player: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Write a dataset folder with one episode a trajectory, for player `player`, or 0.

    Raises:
      ArgumentError: the folder's name is not a dataset's, or a trajectory has no steps.
      ArgumentError, ReplayMismatch, StsError: as `observed`.
    """
    if not (match := DATASET_ID_RE.fullmatch(path.name)) or match["version"] is None:
        raise ArgumentError(f"expected a folder named NAME-vN, as Minari does, found {path.name!r}")
    for t in trajectories:
        if not t.episode.steps:
            raise ArgumentError(
                f"trajectory {t.id} ({t.source}) has 0 steps, which Minari does not allow"
            )
    path = path.absolute()  # Minari needs an absolute path
    with create_folder(path) as unfinished:
        _write_dataset(unfinished / "data", path.name, trajectories, player or 0, progress)


def _write_dataset(
    folder: Path,
    name: str,
    trajectories: Sequence[Trajectory],
    player: int,
    progress: Progress | None,
) -> None:
    replays = iter_observations(trajectories, player, progress)
    first = next(replays)
    players = dict.fromkeys(t.players[player].name for t in trajectories)
    domain = load_domain(first.trajectory.episode.domain)
    exported = _action_space(domain)
    known_spaces, spec = _native_spaces(domain, trajectories, exported)
    spaces = {name: _space(a, known_spaces.get(name)) for name, a in first.values.items()}
    storage = MinariStorage.new(
        folder,
        observation_space=Dict(spaces),
        action_space=exported,
        env_spec=spec,
        data_format="hdf5",
        jpeg_encoding=False,
    )
    names = ", ".join(domain.action_names) or action_space(domain).describe()
    storage.update_metadata(
        {
            "dataset_id": name,
            "minari_version": minari.__version__,
            "algorithm_name": ", ".join(players),
            "description": f"{domain.name}, player {player}; actions: {names}",
            KEY: f"{FORMAT}/{VERSION}",
            "sts_domain": domain.name,
            "sts_role": player,
        }
    )
    storage.update_episodes(_buffer(replay, player) for replay in (first, *replays))


def _action_space(domain: Domain) -> Space[Any]:
    """Return the action space of a player; the environment's own if it is not discrete."""
    if domain.action_names:
        return Discrete(len(domain.action_names))
    environment: Any = (
        domain.create_environment() if isinstance(domain, EnvironmentDomain) else None
    )
    if isinstance(environment, GymnasiumEnvironment):
        native: Space[Any] = environment.live.action_space
        return native
    space = action_space(domain)
    return Box(space.low, space.high, dtype=space.dtype.type)


def _buffer(replay: ObservedTrajectory, player: int) -> EpisodeBuffer:
    episode = replay.trajectory.episode
    domain, actions = load_domain(episode.domain), episode.actions[:, player]
    last = np.arange(1, episode.steps + 1) == episode.steps
    ended = replay.ended[1:]
    return EpisodeBuffer(
        observations=replay.values,
        actions=actions.astype(np.int64) if domain.action_names else actions,
        rewards=reward_values(domain, episode.rewards[:, player]),
        terminations=ended,
        truncations=last & ~ended,
        infos=encode_infos(replay.trajectory, player),
    )


def _native_spaces(
    domain: Domain, trajectories: Sequence[Trajectory], exported: Space[Any]
) -> tuple[dict[str, Space[Any]], EnvSpec | None]:
    """Return the observation spaces by name, and the spec, of the trajectories' environment.

    There are none if it is not an unchanged Gymnasium environment, or not the same for all of them.
    The spec is left out if its actions are numbered differently or it cannot be written as JSON.
    """
    first: tuple[Space[Any], Space[Any], str | None] | None = None
    for t in trajectories:
        environment: Any = (
            domain.restore_environment(t.episode.state)
            if isinstance(domain, EnvironmentDomain)
            else None
        )
        if not isinstance(environment, GymnasiumEnvironment) or any(
            getattr(type(environment), name) is not getattr(GymnasiumEnvironment, name)
            for name in _OVERRIDABLE
        ):
            return {}, None
        live = environment.live
        current = live.observation_space, live.action_space, _spec(live.spec)
        first = first or current
        if current != first:
            return {}, None
    assert first is not None  # observed rejects an empty sequence
    space, native_actions, spec = first
    spaces = {name.replace("/", "."): part for name, part in flatten_observation("", space)}
    return spaces, EnvSpec.from_json(spec) if spec and native_actions == exported else None


def _spec(spec: EnvSpec | None) -> str | None:
    """Return a spec as JSON without its render mode; None if it cannot be written as JSON."""
    if spec is None:
        return None
    kwargs = {key: value for key, value in spec.kwargs.items() if key != "render_mode"}
    try:
        return replace(spec, kwargs=kwargs).to_json()
    except (TypeError, ValueError):
        return None


def _space(array: NDArray[Any], native: Space[Any] | None) -> Space[Any]:
    """Return the space of one row of `array`: the environment's own, or any value of its type."""
    if native is not None and (native.shape, native.dtype) == (array.shape[1:], array.dtype):
        return native
    kind = array.dtype.kind
    low, high = (0, 1) if kind == "b" else (-np.inf, np.inf)
    if kind in "iu":
        low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
    return Box(low, high, array.shape[1:], array.dtype.type)
