"""One player's observations along recorded trajectories, reconstructed by replay."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.domains import Worlds, observation_shapes, require_domain
from sts.engine.replay import replay_worlds
from sts.errors import ArgumentError
from sts.trajectories.trajectory import Trajectory

STEPS_AT_ONCE = 2**13
"""Number of steps that are replayed together, which bounds the memory."""

Progress = Callable[[int, int], None]


class ObservedTrajectory(NamedTuple):
    """A trajectory and a player's observation before each step and after the last."""

    trajectory: Trajectory
    values: dict[str, NDArray[Any]]  # by name, [T + 1, ...]; alike in all trajectories of a call
    ended: NDArray[np.bool_]  # bool[T + 1], True if terminated, not merely truncated


def iter_observations(
    trajectories: Sequence[Trajectory], player: int | None, progress: Progress | None = None
) -> Iterator[ObservedTrajectory]:
    """Yield each trajectory with the observations of player `player`, or 0, in their order.

    Players of the same name and kind count as one team, as when one agent plays them.

    Raises:
      ArgumentError: they are of several domains or have no such player, or observations have
        other shapes in some of them.
      ReplayMismatch, StsError: one does not replay as recorded, or its world is unavailable here.
    """
    player = player or 0
    _check_domain(trajectories)
    for t in trajectories:
        if not 0 <= player < len(t.players):
            most = len(t.players) - 1
            raise ArgumentError(
                f"expected --player of 0 to {most} for trajectory {t.id}, found {player}"
            )
    first: ObservedTrajectory | None = None
    done = 0
    for batch in _batches(trajectories, player):
        for replay in _replay_batch(batch, player):
            first = first or replay
            _check_alike(first, replay)
            yield replay
        done += len(batch)
        if progress is not None:
            progress(done, len(trajectories))


def _check_domain(trajectories: Sequence[Trajectory]) -> None:
    names = list(dict.fromkeys(t.episode.domain for t in trajectories))
    if len(names) != 1:
        raise ArgumentError(
            f"expected trajectories of one domain, found {', '.join(names) or 'none'}; select one "
            "with --domain"
        )
    for t in trajectories:
        require_domain(t.episode, f"trajectory {t.id}")


def _batches(trajectories: Sequence[Trajectory], player: int) -> Iterator[list[Trajectory]]:
    for _, group in itertools.groupby(trajectories, lambda t: _batch_key(t, player)):
        members = list(group)
        size = max(1, STEPS_AT_ONCE // max(1, members[0].episode.steps))
        for start in range(0, len(members), size):
            yield members[start : start + size]


def _batch_key(t: Trajectory, player: int) -> tuple[Any, ...]:
    """Return the properties that trajectories replayed together must have in common."""
    episode = t.episode
    size = episode.steps, episode.n_players, episode.scene.shape[1]
    return (*size, _find_team(t, player), observation_shapes(episode))


def _find_team(t: Trajectory, player: int) -> tuple[int, ...]:
    return tuple(i for i, other in enumerate(t.players) if other == t.players[player])


def _replay_batch(batch: Sequence[Trajectory], player: int) -> Iterator[ObservedTrajectory]:
    """Yield trajectories of one kind with the observations in them."""
    team = _find_team(batch[0], player)
    frames, over = [], []
    for worlds in replay_worlds([t.episode for t in batch], [f"trajectory {t.id}" for t in batch]):
        frames.append(_arrays_by_name(worlds.observe((player,), team=team, world=False)))
        over.append(is_terminated(worlds))
    values = {name: np.stack([frame[name] for frame in frames], 1) for name in frames[0]}
    ends = np.stack(over, 1)
    for b, t in enumerate(batch):
        yield ObservedTrajectory(t, {name: array[b] for name, array in values.items()}, ends[b])


def _arrays_by_name(observation: Any) -> dict[str, NDArray[Any]]:
    """Return an observation of one role as arrays [B, ...] by name.

    An observation is a dataclass whose fields are arrays [B] or [B, R, ...], None, or mappings of
    names to such arrays; the names in a mapping are used as they are.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for field in dataclasses.fields(observation):
        value = getattr(observation, field.name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "T":  # texts are not exported
            continue
        if isinstance(value, Mapping):
            arrays.update(
                (str(k).replace("/", "."), _select_player(k, a)) for k, a in value.items()
            )
        elif value is not None:
            arrays.setdefault(field.name, _select_player(field.name, value))
    return arrays


def _select_player(name: str, value: Any) -> NDArray[Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ArgumentError(f"observation {name!r} is {array.dtype}; only numbers can be exported")
    return array[:, 0] if array.ndim > 1 else array


def describe_steps(t: Trajectory, player: int) -> dict[str, list[Any]]:
    """Return who acted as a player and what they were asked, [T + 1] each, by exported name."""
    frames, actor = t.episode.steps + 1, t.players[player]
    latest = t.find_latest_instructions(player)
    return {
        "player_kind": [actor.kind] * frames,
        "player_name": [actor.name] * frames,
        "is_person": [actor.kind == "human"] * frames,
        "language_instruction": [i.text if i else "" for i in latest],
        "instruction_mark": [i.mark if i else "" for i in latest],
    }


def is_terminated(worlds: Worlds) -> NDArray[np.bool_]:
    """Return bool[B], True for worlds that are terminated, not merely truncated."""
    mask: NDArray[np.bool_] = np.zeros(len(worlds.rewards), np.bool_)
    mask |= getattr(worlds, "ended", False)
    mask &= np.logical_not(getattr(worlds, "truncated", False))
    return mask


def _check_alike(first: ObservedTrajectory, other: ObservedTrajectory) -> None:
    for name in sorted(first.values.keys() | other.values.keys()):
        a, b = (observed.values.get(name) for observed in (first, other))
        if a is None or b is None or (a.shape[1:], a.dtype) != (b.shape[1:], b.dtype):
            raise ArgumentError(
                f"trajectories {first.trajectory.id} and {other.trajectory.id} differ in the shape "
                f"of observation {name!r}; export them separately with --played-by or --source"
            )
