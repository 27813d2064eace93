"""What one participant saw along recorded trajectories, by replaying them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.domains import Worlds, need, shapes
from sts.engine.replay import along
from sts.errors import ArgumentError
from sts.trajectories.types import Trajectory

ABREAST = 2**13
"""How many steps of trajectories are replayed together; it bounds the memory that this takes."""

Progress = Callable[[int, int], None]


class Observed(NamedTuple):
    """A trajectory and what a participant saw before each step and after the last.

    Attributes:
      trajectory: whose.
      values: by name, arrays [T + 1, ...]; names, shapes and types are the same in every trajectory
        of one call.
      ended: bool[T + 1], whether the world had come to its end, and not only its time had run out;
        never, where it does not say.
    """

    trajectory: Trajectory
    values: dict[str, NDArray[Any]]
    ended: NDArray[np.bool_]


def observed(
    trajectories: Sequence[Trajectory], role: int | None, progress: Progress | None = None
) -> Iterator[Observed]:
    """Yield each trajectory with what participant `role`, or 0, saw in it, in their order.

    Those of one name and kind count as its team, as when one agent plays them.

    Raises:
      ArgumentError: they are of several domains or have no such participant, or what is seen has
        other shapes in some of them.
      ReplayMismatch, StsError: one does not replay as recorded, or its world cannot be had here.
    """
    role = role or 0
    _check_domain(trajectories)
    for t in trajectories:
        if not 0 <= role < len(t.participants):
            most = len(t.participants) - 1
            raise ArgumentError(
                f"expected --role of 0 to {most}, found {role}: trajectory {t.id} has no other"
            )
    first: Observed | None = None
    done = 0
    for chosen in _batches(trajectories, role):
        for one in _replayed(chosen, role):
            first = first or one
            _check_alike(first, one)
            yield one
        done += len(chosen)
        if progress is not None:
            progress(done, len(trajectories))


def _check_domain(trajectories: Sequence[Trajectory]) -> None:
    names = list(dict.fromkeys(t.episode.domain for t in trajectories))
    if len(names) != 1:
        raise ArgumentError(
            f"expected trajectories of one domain, found {', '.join(names) or 'none'}: "
            "choose with --domain"
        )
    for t in trajectories:
        need(t.episode, f"trajectory {t.id}")


def _batches(trajectories: Sequence[Trajectory], role: int) -> Iterator[list[Trajectory]]:
    for _, group in itertools.groupby(trajectories, lambda t: _kind(t, role)):
        alike = list(group)
        size = max(1, ABREAST // max(1, alike[0].episode.steps))
        for start in range(0, len(alike), size):
            yield alike[start : start + size]


def _kind(t: Trajectory, role: int) -> tuple[Any, ...]:
    """Return what trajectories that are replayed together must have in common."""
    one = t.episode
    return one.steps, one.scene.shape[1], _team(t, role), one.participants, shapes(one)


def _team(t: Trajectory, role: int) -> tuple[int, ...]:
    return tuple(i for i, who in enumerate(t.participants) if who == t.participants[role])


def _replayed(chosen: Sequence[Trajectory], role: int) -> Iterator[Observed]:
    """Yield trajectories of one kind with what was seen in them."""
    team = _team(chosen[0], role)
    seen, over = [], []
    for worlds in along([t.episode for t in chosen], [f"trajectory {t.id}" for t in chosen]):
        seen.append(_named(worlds.observe((role,), team=team, world=False)))
        over.append(ended(worlds))
    values = {name: np.stack([frame[name] for frame in seen], 1) for name in seen[0]}
    ends = np.stack(over, 1)
    for b, t in enumerate(chosen):
        yield Observed(t, {name: array[b] for name, array in values.items()}, ends[b])


def _named(observation: Any) -> dict[str, NDArray[Any]]:
    """Return an observation of one role as arrays [B, ...] by name.

    An observation is a dataclass whose fields are arrays [B] or [B, R, ...], None, or mappings of
    names to such arrays; the names in a mapping stand for themselves.
    """
    out: dict[str, NDArray[Any]] = {}
    for field in dataclasses.fields(observation):
        value = getattr(observation, field.name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "T":  # texts stay in our own files
            continue
        if isinstance(value, Mapping):
            out.update((str(k).replace("/", "."), _of_role(k, a)) for k, a in value.items())
        elif value is not None:
            out.setdefault(field.name, _of_role(field.name, value))
    return out


def _of_role(name: str, value: Any) -> NDArray[Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ArgumentError(f"what is seen as {name!r} is {array.dtype}: only numbers are exported")
    return array[:, 0] if array.ndim > 1 else array


def ended(worlds: Worlds) -> NDArray[np.bool_]:
    """Return bool[B], which worlds have come to their end, and not only their time had run out."""
    found: NDArray[np.bool_] = np.zeros(len(worlds.rewards), np.bool_)
    found |= getattr(worlds, "ended", False)
    found &= np.logical_not(getattr(worlds, "truncated", False))
    return found


def _check_alike(first: Observed, one: Observed) -> None:
    for name in sorted(first.values.keys() | one.values.keys()):
        a, b = (seen.values.get(name) for seen in (first, one))
        if a is None or b is None or (a.shape[1:], a.dtype) != (b.shape[1:], b.dtype):
            raise ArgumentError(
                f"trajectories {first.trajectory.id} and {one.trajectory.id} differ in the shape "
                f"of what is seen ({name!r}): export them apart, by --who or --source"
            )
