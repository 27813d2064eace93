"""The table of steps, `steps/1`: what is so before each step of a trajectory, and is done in it.

One row is one step of one participant. Columns for every world stand here; a domain adds its own by
`step_columns`. The data standard says what each means.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.domains import domain, reward_values
from sts.engine.replay import along
from sts.errors import StsError
from sts.registry import blaming
from sts.trajectories.observed import ended
from sts.trajectories.types import Trajectory

VERSION = 1
Column = Callable[[Trajectory, int], NDArray[Any]]
"""Of a trajectory and a participant: [T]."""


class Named(NamedTuple):
    """The names of a table's columns, and the versions of it and of its domain's own columns."""

    names: tuple[str, ...]
    versions: dict[str, int]


def named(trajectory: Trajectory) -> Named:
    """Return the names of the columns that `table` has of a trajectory."""
    own = _of_domain(trajectory, 0)
    versions = {"steps": VERSION}
    if own:
        world = domain(trajectory.episode.domain)
        versions[world.name] = int(getattr(world, "step_columns_version", 0))
    return Named((*_COLUMNS, *own), versions)


def table(trajectory: Trajectory, names: Collection[str]) -> dict[str, NDArray[Any]]:
    """Return columns by name, [P * T] each: all steps of participant 0, then of the next.

    Raises:
      StsError: its domain's columns cannot be made.
      ReplayMismatch: `terminated` is asked for, which is replayed, and it does not replay.
    """
    roles = range(trajectory.episode.participants)
    made: list[Mapping[str, NDArray[Any]]] = []
    for role in roles:
        own = _of_domain(trajectory, role) if set(names) - _COLUMNS.keys() else {}
        made.append({n: own[n] if n in own else _COLUMNS[n](trajectory, role) for n in names})
    return {name: np.concatenate([one[name] for one in made]) for name in names}


def _of_domain(trajectory: Trajectory, role: int) -> dict[str, NDArray[Any]]:
    """Return the columns that a domain adds, [T] each and of new names; {} where it adds none."""
    episode = trajectory.episode
    make = getattr(domain(episode.domain), "step_columns", None)
    if make is None:
        return {}
    with blaming(f"domain {episode.domain!r} failed to make columns of steps"):
        own = {name: np.asarray(one) for name, one in make(episode, role).items()}
    for name, one in own.items():
        if name in _COLUMNS or not name.isidentifier() or one.shape != (episode.steps,):
            raise StsError(
                f"domain {episode.domain!r}: expected columns of steps of names of their own and "
                f"{episode.steps} rows, found {name!r} of {one.shape}"
            )
    return own


def _same(value: Callable[[Trajectory, int], Any]) -> Column:
    """Return a column that has one value in all rows of a participant."""
    return lambda t, role: np.array([value(t, role)] * t.episode.steps)


def _before(values: NDArray[Any], first: Any) -> NDArray[Any]:
    """Return of each step the value of the step before it; `first` of the first."""
    return np.concatenate((np.array([first], values.dtype), values[:-1]))[: len(values)]


def _rewards(t: Trajectory, role: int) -> NDArray[np.float64]:
    own = t.episode.rewards[:, role]
    return np.asarray(reward_values(domain(t.episode.domain), own), np.float64)


def _total(t: Trajectory, role: int) -> NDArray[np.float64]:
    return _before(np.cumsum(_rewards(t, role)), 0.0)


def _actions(t: Trajectory, role: int) -> NDArray[np.object_]:
    """Return the name of each move; None where the domain names none."""
    moves = domain(t.episode.domain).moves
    if not moves:
        return np.full(t.episode.steps, None, np.object_)
    return np.array([moves[one] for one in t.episode.moves[:, role].tolist()], np.object_)


def _said(t: Trajectory, role: int) -> NDArray[np.object_]:
    """Return what was said; "" for silence."""
    tokens, own = domain(t.episode.domain).tokens, t.episode.says[:, role].tolist()
    return np.array([("", *tokens[1:])[one] if tokens else one for one in own], np.object_)


def _instruction(t: Trajectory, role: int) -> NDArray[np.object_]:
    """Return what had last been asked by each step; "" for nothing."""
    return np.array(t.asked()[: t.episode.steps], np.object_)


def _terminated(t: Trajectory, role: int) -> NDArray[np.bool_]:
    """Return whether the world had come to its end, and not only its time had run out."""
    replay = along([t.episode], [f"trajectory {t.id}"])
    return np.array([ended(worlds)[0] for worlds in replay])[: t.episode.steps]


_COLUMNS: dict[str, Column] = {
    "step": lambda t, role: np.arange(t.episode.steps),
    "steps": _same(lambda t, role: t.episode.steps),
    "role": _same(lambda t, role: role),
    "participants": _same(lambda t, role: t.episode.participants),
    "kind": _same(lambda t, role: t.participants[role].kind),
    "recorder": _same(lambda t, role: t.participants[role].name),
    "source": _same(lambda t, role: t.source),
    "action": _actions,
    "last_action": lambda t, role: _before(_actions(t, role), None),
    "said": _said,
    "last_said": lambda t, role: _before(_said(t, role), ""),
    "reward": _rewards,
    "last_reward": lambda t, role: _before(_rewards(t, role), 0.0),
    "total_reward": _total,
    "instruction": _instruction,
    "terminated": _terminated,
}
