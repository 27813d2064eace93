"""Replay of Minari datasets of Gymnasium environments, by seed and actions."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gymnasium.envs.registration import EnvSpec, registry
from gymnasium.spaces import Space
from minari.dataset.minari_storage import is_image_space
from numpy.typing import NDArray

from sts.domains import ActionSpace, Domain, Worlds, action_space, load_domain, reward_values
from sts.domains.adapter import EnvironmentDomain
from sts.domains.envelope import add_envelope
from sts.domains.gymnasium import GymnasiumEnvironment, convert_action_space, flatten_observation
from sts.domains.gymnasium import make_environment_class as gymnasium_named
from sts.domains.rewards import InvalidRewards
from sts.engine.lockstep import Script, play_episodes
from sts.episodes import Episode
from sts.errors import ArgumentError, DamagedData, ReplayMismatch
from sts.jobs.deadlines import guard_call
from sts.provenance import collect_provenance
from sts.trajectories.trajectory import Player, Trajectory, make_trajectory


class RecordedEpisode(NamedTuple):
    """One recorded episode."""

    label: str  # names it in errors
    actions: NDArray[Any]  # [T, ...], as the environment took them.
    rewards: NDArray[np.float64]  # float64[T]
    ended: NDArray[np.bool_]  # bool[T], True if it was terminated or truncated there
    terminated: NDArray[np.bool_]  # bool[T]
    seen: dict[str, Any]  # observations by name, arrays [T + 1, ...].


def replay_dataset(path: Path, dataset: Any, domain: str | None) -> list[Trajectory]:
    """Return a trajectory for each episode of a dataset; errors as of `importer.read`."""
    space, spec = dataset.action_space, dataset.env_spec
    try:
        declared = convert_action_space(space)
    except ArgumentError as error:
        raise DamagedData(f"{path}: {error}") from None
    if spec is None:
        raise DamagedData(f"{path}: the dataset has no environment spec, so it cannot be replayed")
    with _explain_errors(str(path), domain):
        name, environment = _load_environment(spec, domain)
        settings = _settings(spec)
        with guard_call(f"{name} cannot be reset", ArgumentError):
            environment.reset(0, **settings)
    wrapped = ", ".join(wrapper.name for wrapper in spec.additional_wrappers)
    hint = f" (recorded through {wrapped}, which the replay does not apply)" if wrapped else ""
    current, recorded_space = environment.live.observation_space, dataset.observation_space
    if current != recorded_space:
        hint += f" ({name} observes {_short(current)}, the recording {_short(recorded_space)})"
    player = Player("agent", dataset.storage.metadata.get("algorithm_name") or dataset.id)
    shared = collect_provenance() | {"dataset": dataset.id, "minari": dataset.minari_version}
    jpeg = dataset.storage.jpeg_encoding  # its images differ from the environment's
    lossy = {
        name
        for name, part in flatten_observation("", recorded_space)
        if jpeg and is_image_space(part)
    }
    metadatas = dataset.storage.get_episode_metadata(dataset.episode_indices)
    trajectories = []
    for metadata, episode in zip(metadatas, dataset.iterate_episodes(), strict=True):
        label = f"{path}: episode {episode.id}"
        seed = _seed(label, metadata)
        recorded = RecordedEpisode(
            label,
            _convert_actions(
                label, np.asarray(episode.actions), declared, getattr(space, "start", 0)
            ),
            np.asarray(episode.rewards, np.float64),
            np.asarray(episode.terminations) | np.asarray(episode.truncations),
            np.asarray(episode.terminations, np.bool_),
            {
                name: array
                for name, array in flatten_observation("", episode.observations)
                if name not in lossy
            },
        )
        with guard_call(f"{label}: {name} cannot be reset"):
            environment.reset(seed, **settings)
            state = environment.state()
        with _explain_errors(label, domain):
            replay = _replay_episode(name, state, recorded, declared, hint)
        trajectories.append(
            make_trajectory(
                replay,
                (player,),
                source=f"minari {dataset.id} episode {episode.id}",
                provenance=shared | {"episode": int(episode.id), "seed": seed},
            )
        )
    return trajectories


@contextlib.contextmanager
def _explain_errors(where: str, domain: str | None) -> Iterator[None]:
    """Name the place in errors about an environment, with a remedy."""
    try:
        yield
    except (ArgumentError, InvalidRewards) as error:
        hint = "" if domain else "; use --domain module:Class to give a class of your own"
        raise ArgumentError(f"{where}: {error}{hint}") from error


def _short(space: Space[Any]) -> str:
    if space.shape is None:
        return f"{' '.join(str(space).split()):.120}"
    return f"{type(space).__name__}{list(space.shape)} of {space.dtype}"


def _load_environment(spec: EnvSpec, domain: str | None) -> tuple[str, GymnasiumEnvironment]:
    """Return the domain's name and the environment that replay a dataset."""
    if domain is not None:
        world = load_domain(domain)
        environment: Any = (
            world.create_environment() if isinstance(world, EnvironmentDomain) else None
        )
        if not isinstance(environment, GymnasiumEnvironment):
            raise ArgumentError(f"--domain {domain}: expected a GymnasiumEnvironment")
        return domain, environment
    package = str(spec.entry_point).partition(":")[0].partition(".")[0]
    id = spec.id if spec.id in registry else f"{package}:{spec.id}"
    return f"gymnasium:{id}", gymnasium_named(id)()


def _settings(spec: EnvSpec) -> dict[str, Any]:
    """Return the arguments of `gymnasium.make` that differ from the defaults of the id."""
    settings = {key: value for key, value in spec.kwargs.items() if key != "render_mode"}
    default, limit = registry.get(spec.id), spec.max_episode_steps
    if default is None or default.max_episode_steps != limit:
        settings["max_episode_steps"] = -1 if limit is None else limit
    return settings


def _seed(label: str, metadata: dict[str, Any]) -> int:
    if metadata.get("seed") is None:
        raise DamagedData(f"{label} was recorded without a seed, so it cannot be replayed")
    if set(metadata.get("options", ())) - {"minari_autoseed"}:
        raise DamagedData(f"{label} was reset with options, which a replay does not support")
    return int(metadata["seed"])


def _convert_actions(
    label: str, recorded: NDArray[Any], space: ActionSpace, start: Any
) -> NDArray[Any]:
    """Return the actions, [T, ...]; choices among several actions are numbered from 0."""
    actions = recorded - int(start) if space.dtype == np.int8 and not space.shape else recorded
    is_valid = actions.dtype.kind in "iuf" and actions.shape[1:] == space.shape
    if not is_valid or not space.is_within_bounds(actions):
        of = f"of {space.high + 1}" if not space.shape else space.describe()
        raise DamagedData(f"{label}: expected actions {of}, found others")
    return actions.astype(space.dtype)


def _replay_episode(
    name: str, initial: bytes, recorded: RecordedEpisode, space: ActionSpace, hint: str
) -> Episode:
    """Replay an episode and return it."""
    world = load_domain(name)
    assert isinstance(world, EnvironmentDomain)  # the domain of a GymnasiumEnvironment
    state = add_envelope(world.name, world.version, initial)
    world_space = action_space(world)
    if not world_space.is_equal(space):
        raise DamagedData(
            f"{recorded.label}: expected actions of {name}, {world_space.describe()} "
            f"{world_space.low.tolist()!s:.40} to {world_space.high.tolist()!s:.40}, "
            f"found {space.describe()} "
            f"{space.low.tolist()!s:.40} to {space.high.tolist()!s:.40}{hint}"
        )
    actions = recorded.actions[:, None]
    size = actions.shape[:2]
    script = Script(actions[None], np.zeros((1, *size), np.int8), np.ones(size, np.bool_))
    worlds = world.restore([state])
    check = _make_check(recorded, world, hint)
    check(-1, worlds)
    played = play_episodes(world, worlds, [], steps=len(actions), script=script, watch=check)
    return Episode(name, state, actions, played.utterances[0], played.rewards[0], played.scene[0])


def _make_check(
    recorded: RecordedEpisode, world: Domain, hint: str
) -> Callable[[int, Worlds], None]:
    """Return a check that raises ReplayMismatch if the world after a step differs."""

    def list_differences(step: int, worlds: Worlds) -> Iterator[str]:
        observation = worlds.observe((0,), team=(0,), world=True)
        for name, values in recorded.seen.items():
            value = observation.values.get(name)
            if value is None or not np.array_equal(value[0, 0], values[step + 1]):
                yield f"{name} differs from the recording"
        if step < 0:
            return
        reward = float(reward_values(world, worlds.rewards)[0, 0])
        unit = max(1.0, abs(reward)) if world.reward_unit is None else world.reward_unit
        tolerance = unit / 2 if observation.environments[0].rounded else 1e-6 * unit
        if not abs(reward - recorded.rewards[step]) <= tolerance:
            yield f"the reward is {reward:g}, recorded {recorded.rewards[step]:g}"
        ended, last = observation.environments[0].ended, step + 1 == len(recorded.rewards)
        if (ended and not recorded.ended[step]) or (recorded.terminated[step] and not ended):
            yield f"the episode has {'' if ended else 'not '}ended"
        elif recorded.ended[step] and not last:
            yield "the recording continues after the episode has ended"

    def check(step: int, worlds: Worlds) -> None:
        for difference in list_differences(step, worlds):
            when = f"step {step}" if step >= 0 else "before step 0"
            raise ReplayMismatch(
                f"{recorded.label} does not replay identically: {when}: {difference}{hint}",
                step=step,
            )

    return check
