"""The table of steps, `steps/2`: the situation before each step of a trajectory, and the action.

One row is one step of one player. Columns that every world has are defined here; a domain adds
its own by `step_columns`. The data standard documents them.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.domains import load_domain, reward_values
from sts.engine.replay import replay_worlds
from sts.errors import StsError
from sts.registry import translate_errors
from sts.trajectories.observed import is_terminated
from sts.trajectories.trajectory import Trajectory

VERSION = 2
Column = Callable[[Trajectory, int], NDArray[Any]]
"""Takes a trajectory and a player; returns an array [T]."""


def list_columns(trajectory: Trajectory) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the column names of `make_step_table` for a trajectory, and their versions.

    The versions are those of this table, and of the columns that the domain adds, if any.
    """
    columns = _domain_columns(trajectory, 0)
    versions = {"steps": VERSION}
    if columns:
        domain = load_domain(trajectory.episode.domain)
        versions[domain.name] = int(getattr(domain, "step_columns_version", 0))
    return (*_COLUMNS, *columns), versions


def make_step_table(trajectory: Trajectory, names: Collection[str]) -> dict[str, NDArray[Any]]:
    """Return columns by name, [P * T] each: all steps of player 0, then of the next.

    Raises:
      StsError: its domain's columns cannot be computed.
      ReplayMismatch: `terminated` is among `names`, which takes a replay, and it does not replay.
    """
    players = range(trajectory.episode.n_players)
    parts: list[Mapping[str, NDArray[Any]]] = []
    for player in players:
        added = _domain_columns(trajectory, player) if set(names) - _COLUMNS.keys() else {}
        parts.append(
            {n: added[n] if n in added else _COLUMNS[n](trajectory, player) for n in names}
        )
    return {name: np.concatenate([part[name] for part in parts]) for name in names}


def _domain_columns(trajectory: Trajectory, player: int) -> dict[str, NDArray[Any]]:
    """Return the columns that a domain adds, [T] each; {} if it adds none."""
    episode = trajectory.episode
    make = getattr(load_domain(episode.domain), "step_columns", None)
    if make is None:
        return {}
    with translate_errors(f"domain {episode.domain!r} failed to make columns of steps"):
        columns = {name: np.asarray(column) for name, column in make(episode, player).items()}
    for name, column in columns.items():
        if name in _COLUMNS or not name.isidentifier() or column.shape != (episode.steps,):
            raise StsError(
                f"domain {episode.domain!r}: expected step columns with new names and "
                f"{episode.steps} rows, found {name!r} of shape {column.shape}"
            )
    return columns


def _constant(value: Callable[[Trajectory, int], Any]) -> Column:
    """Return a column function with one value in all rows of a player."""
    return lambda t, player: np.array([value(t, player)] * t.episode.steps)


def _shift(values: NDArray[Any], first: Any) -> NDArray[Any]:
    """Shift values by one step; the first row gets `first`."""
    return np.concatenate((np.array([first], values.dtype), values[:-1]))[: len(values)]


def _rewards(t: Trajectory, player: int) -> NDArray[np.float64]:
    rewards = t.episode.rewards[:, player]
    return np.asarray(reward_values(load_domain(t.episode.domain), rewards), np.float64)


def _actions(t: Trajectory, player: int) -> NDArray[np.object_]:
    """Return the name of each move; None if the domain names none."""
    actions = load_domain(t.episode.domain).action_names
    if not actions:
        return np.full(t.episode.steps, None, np.object_)
    return np.array([actions[move] for move in t.episode.actions[:, player].tolist()], np.object_)


def _utterances(t: Trajectory, player: int) -> NDArray[np.object_]:
    """Return the utterances; "" for silence."""
    tokens = load_domain(t.episode.domain).tokens
    utterances = t.episode.utterances[:, player].tolist()
    words = [("", *tokens[1:])[token] for token in utterances] if tokens else utterances
    return np.array(words, np.object_)


def _instruction(t: Trajectory, player: int) -> NDArray[np.object_]:
    """Return the player's latest instruction at each step; "" before the first."""
    latest = t.find_latest_instructions(player)[: t.episode.steps]
    return np.array([instruction.text if instruction else "" for instruction in latest], np.object_)


def _terminated(t: Trajectory, player: int) -> NDArray[np.bool_]:
    """Return bool[T], True if the world is terminated before the step, not merely truncated."""
    replay = replay_worlds([t.episode], [f"trajectory {t.id}"])
    return np.array([is_terminated(worlds)[0] for worlds in replay])[: t.episode.steps]


_COLUMNS: dict[str, Column] = {
    "step": lambda t, player: np.arange(t.episode.steps),
    "steps": _constant(lambda t, player: t.episode.steps),
    "player": _constant(lambda t, player: player),
    "n_players": _constant(lambda t, player: t.episode.n_players),
    "kind": _constant(lambda t, player: t.players[player].kind),
    "recorder": _constant(lambda t, player: t.players[player].name),
    "source": _constant(lambda t, player: t.source),
    "action": _actions,
    "last_action": lambda t, player: _shift(_actions(t, player), None),
    "said": _utterances,
    "last_said": lambda t, player: _shift(_utterances(t, player), ""),
    "reward": _rewards,
    "last_reward": lambda t, player: _shift(_rewards(t, player), 0.0),
    "total_reward": lambda t, player: _shift(np.cumsum(_rewards(t, player)), 0.0),
    "instruction": _instruction,
    "terminated": _terminated,
}
