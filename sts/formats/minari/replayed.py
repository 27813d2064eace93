"""Episodes that others recorded of a Gymnasium environment, replayed by seed and actions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gymnasium.envs.registration import EnvSpec, registry
from gymnasium.spaces import Space
from minari.dataset.minari_storage import is_image_space
from numpy.typing import NDArray

from sts.domains import ActionSpace, Domain, Worlds, action_space, reward_values
from sts.domains import domain as find_domain
from sts.domains.adapted import Adapted
from sts.domains.envelope import wrap
from sts.domains.gymnasium import GymnasiumEnvironment, actions_of, flat
from sts.domains.gymnasium import named as gymnasium_named
from sts.domains.rewards import WrongRewards
from sts.engine.lockstep import Script, play
from sts.episodes import Episode
from sts.errors import ArgumentError, DamagedData, ReplayMismatch
from sts.jobs.deadlines import guarded
from sts.provenance import provenance
from sts.trajectories.types import Participant, Trajectory, trajectory


class Recorded(NamedTuple):
    """One recorded episode.

    Attributes:
      label: which, for an error's reader.
      actions: [T, ...], as the environment took them.
      rewards: float64[T].
      ended: bool[T], whether it was terminated or truncated there.
      terminated: bool[T].
      seen: by name, arrays [T + 1, ...].
    """

    label: str
    actions: NDArray[Any]
    rewards: NDArray[np.float64]
    ended: NDArray[np.bool_]
    terminated: NDArray[np.bool_]
    seen: dict[str, Any]


def replayed(path: Path, dataset: Any, domain: str | None) -> list[Trajectory]:
    """Return a trajectory for each episode; `importer.read` says what it raises."""
    space, spec = dataset.action_space, dataset.env_spec
    try:
        actions = actions_of(space)
    except ArgumentError as error:
        raise DamagedData(f"{path}: {error}") from None
    if spec is None:
        raise DamagedData(f"{path}: the dataset names no environment, so nothing can replay it")
    with _told(str(path), domain):
        name, environment = _environment(spec, domain)
        settings = _settings(spec)
        with guarded(f"{name} cannot begin", ArgumentError):
            environment.reset(0, **settings)
    wrapped = ", ".join(one.name for one in spec.additional_wrappers)
    hint = f" (recorded through {wrapped}, which is not made again)" if wrapped else ""
    here, there = environment.live.observation_space, dataset.observation_space
    if here != there:
        hint += f" ({name} shows {_short(here)}, and recorded was {_short(there)})"
    who = Participant("agent", dataset.storage.metadata.get("algorithm_name") or dataset.id)
    made = provenance() | {"dataset": dataset.id, "minari": dataset.minari_version}
    jpeg = dataset.storage.jpeg_encoding  # images are then not what the environment gave
    lossy = {name for name, one in flat("", there) if jpeg and is_image_space(one)}
    told = dataset.storage.get_episode_metadata(dataset.episode_indices)
    out = []
    for metadata, episode in zip(told, dataset.iterate_episodes(), strict=True):
        label = f"{path}: episode {episode.id}"
        seed = _seed(label, metadata)
        recorded = Recorded(
            label,
            _moves(label, np.asarray(episode.actions), actions, getattr(space, "start", 0)),
            np.asarray(episode.rewards, np.float64),
            np.asarray(episode.terminations) | np.asarray(episode.truncations),
            np.asarray(episode.terminations, np.bool_),
            {name: seen for name, seen in flat("", episode.observations) if name not in lossy},
        )
        with guarded(f"{label}: {name} cannot begin"):
            environment.reset(seed, **settings)
            own = environment.state()
        with _told(label, domain):
            replay = _episode(name, own, recorded, actions, hint)
        out.append(
            trajectory(
                replay,
                (who,),
                source=f"minari {dataset.id} episode {episode.id}",
                provenance=made | {"episode": int(episode.id), "seed": seed},
            )
        )
    return out


@contextlib.contextmanager
def _told(where: str, domain: str | None) -> Iterator[None]:
    """Says where an environment is refused, and what can be done about it."""
    try:
        yield
    except (ArgumentError, WrongRewards) as error:
        hint = "" if domain else "; a class of your own may be given by --domain module:Class"
        raise ArgumentError(f"{where}: {error}{hint}") from error


def _short(space: Space[Any]) -> str:
    if space.shape is None:
        return f"{' '.join(str(space).split()):.120}"
    return f"{type(space).__name__}{list(space.shape)} of {space.dtype}"


def _environment(spec: EnvSpec, domain: str | None) -> tuple[str, GymnasiumEnvironment]:
    """Return what replays a dataset: the name of a domain and a world of it."""
    if domain is not None:
        world = find_domain(domain)
        made: Any = world.new() if isinstance(world, Adapted) else None
        if not isinstance(made, GymnasiumEnvironment):
            raise ArgumentError(f"--domain {domain}: expected a GymnasiumEnvironment")
        return domain, made
    package = str(spec.entry_point).partition(":")[0].partition(".")[0]
    id = spec.id if spec.id in registry else f"{package}:{spec.id}"
    return f"gymnasium:{id}", gymnasium_named(id)()


def _settings(spec: EnvSpec) -> dict[str, Any]:
    """Return what `gymnasium.make` was given beside the id, where it is not the usual."""
    out = {key: value for key, value in spec.kwargs.items() if key != "render_mode"}
    usual = registry.get(spec.id)
    if usual is None or usual.max_episode_steps != spec.max_episode_steps:
        out["max_episode_steps"] = -1 if spec.max_episode_steps is None else spec.max_episode_steps
    return out


def _seed(label: str, metadata: dict[str, Any]) -> int:
    if metadata.get("seed") is None:
        raise DamagedData(f"{label} was recorded without a seed, so it cannot be replayed")
    if set(metadata.get("options", ())) - {"minari_autoseed"}:
        raise DamagedData(f"{label} was reset with options, which are not made again")
    return int(metadata["seed"])


def _moves(label: str, found: NDArray[Any], actions: ActionSpace, first: Any) -> NDArray[Any]:
    """Return [T, ...], what was done; the number of a move from 0 where it is one of several."""
    moves = found - int(first) if actions.dtype == np.int8 and not actions.shape else found
    fits = moves.dtype.kind in "iuf" and moves.shape[1:] == actions.shape
    if not fits or not actions.within(moves):
        of = f"of {actions.high + 1}" if not actions.shape else actions.text()
        raise DamagedData(f"{label}: expected actions {of}, found others")
    return moves.astype(actions.dtype)


def _episode(name: str, own: bytes, recorded: Recorded, actions: ActionSpace, hint: str) -> Episode:
    """Return the episode, replayed."""
    world = find_domain(name)
    assert isinstance(world, Adapted)  # what a GymnasiumEnvironment is made into
    state = wrap(world.name, world.version, own)
    taken = action_space(world)
    if not taken.same(actions):
        raise DamagedData(
            f"{recorded.label}: expected actions that {name} takes, {taken.text()} "
            f"{taken.low.tolist()!s:.40} to {taken.high.tolist()!s:.40}, found {actions.text()} "
            f"{actions.low.tolist()!s:.40} to {actions.high.tolist()!s:.40}{hint}"
        )
    acted = recorded.actions[:, None]
    size = acted.shape[:2]
    script = Script(acted[None], np.zeros((1, *size), np.int8), np.ones(size, np.bool_))
    worlds = world.restore([state])
    check = _checker(recorded, world, hint)
    check(-1, worlds)
    played = play(world, worlds, [], steps=len(acted), script=script, watch=check)
    return Episode(name, state, acted, played.says[0], played.rewards[0], played.scene[0])


def _checker(recorded: Recorded, world: Domain, hint: str) -> Callable[[int, Worlds], None]:
    """Return what raises ReplayMismatch where the world after a step is not as recorded."""

    def unlike(step: int, worlds: Worlds) -> Iterator[str]:
        seen = worlds.observe((0,), team=(0,), world=True)
        for name, values in recorded.seen.items():
            found = seen.values.get(name)
            if found is None or not np.array_equal(found[0, 0], values[step + 1]):
                yield f"{name} is not as recorded"
        if step < 0:
            return
        reward = float(reward_values(world, worlds.rewards)[0, 0])
        unit = max(1.0, abs(reward)) if world.reward_unit is None else world.reward_unit
        within = unit / 2 if seen.environments[0].rounded else 1e-6 * unit
        if not abs(reward - recorded.rewards[step]) <= within:
            yield f"the reward is {reward:g}, recorded {recorded.rewards[step]:g}"
        ended, last = seen.environments[0].ended, step + 1 == len(recorded.rewards)
        if (ended and not recorded.ended[step]) or (recorded.terminated[step] and not ended):
            yield f"the episode has {'' if ended else 'not '}ended there"
        elif recorded.ended[step] and not last:
            yield "the recording goes on after its end"

    def check(step: int, worlds: Worlds) -> None:
        for what in unlike(step, worlds):
            when = f"step {step}" if step >= 0 else "before step 0"
            raise ReplayMismatch(
                f"{recorded.label} does not replay identically: {when}: {what}{hint}", step=step
            )

    return check
