"""Checks that a class of generated environments has the properties which its scores require.

Complexity. Good's and Evil's movement patterns are different and equally complex, and all
environments of a class are equally uncertain (Chmait et al. 2016, sections 4.2 to 4.4).

Balance. Rewards lie from -1 to 1 and are symmetric, and a random agent's expected reward is 0
(Hernández-Orallo and Dowe 2010, "Measuring universal intelligence: towards an anytime intelligence
test", definition 13). Here a random agent starts on a uniformly drawn cell and walks on a torus, so
it is on every cell with equal probability at every step; and its actions do not affect Good and
Evil. Its expected reward is therefore exactly 0 if at every step each reward occurs in as many
cells as its negative. The check counts these cells.

Reward-sensitivity. An environment is n-actions reward-sensitive if after every sequence of actions
there are a positive m <= n and two continuations of m actions with different sums of rewards (the
same, definition 7). As long as all shorter continuations have the same sum, so have the rewards
along them; so m is the first number of steps after which the cells in reach, a square with sides of
2m + 1, have different rewards. Actions can lead to any cell, so every cell is checked, at every
step with at least n steps left in the episode.

Axes: E environments, T steps, H rows and W columns of C cells.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import ArgumentError
from sts_lambda_star.generation import patterns
from sts_lambda_star.generation.environments import (
    Environments,
    generate_environments,
    measure_uncertainty,
)
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.generation.walks import intended_path, path_complexities
from sts_lambda_star.intelligence import experiments
from sts_lambda_star.intelligence.experiments import EPISODES_PER_JOB, Experiment
from sts_lambda_star.intelligence.reward_sums import (
    Estimate,
    add_sums,
    estimate_mean,
    sum_rewards,
)
from sts_lambda_star.kernels import Ints, WorldArrays, step_worlds
from sts_lambda_star.lanes import reward_at_distance
from sts_lambda_star.play.teams import load_team, total_rewards
from sts_lambda_star.torus import STAY, distance

MAX_Z = 4.0
"""Largest accepted |z| of a random agent's mean; chance alone exceeds it once in 16,000 runs."""

_TOO_SHORT = "; use more steps or a smaller grid"
_MAX_REWARD = 2
_NEVER = 1 << 30
_MAX_CELLS = 2**21
"""Cells processed at once over all environments; results do not depend on it."""


class Properties(NamedTuple):
    """Properties of E environments."""

    complexity: Ints  # int64[E, 2], K of Good's and of Evil's intended cells over the horizon
    # int64[E], the constant difference of Evil's and Good's intended cells, modulo the number of
    # cells: 0 if the paths are equal, -1 if the difference is not constant
    shift: Ints
    # bool[E], whether Good and Evil make the same moves, each from its own cell
    same_moves: NDArray[np.bool_]
    # bool[E], whether at every step each reward occurs in as many cells as its negative, and all
    # are within -1 and 1
    symmetric: NDArray[np.bool_]
    # int64[E], the least n for which the environment is n-actions reward-sensitive within the
    # episode; 0 without one
    sensitivity: Ints


def measure_properties(environments: Environments) -> Properties:
    """Compute the properties of each environment over all steps of an episode."""
    a, s = environments.copy_arrays(), environments.settings
    k, shift, same_moves = path_complexities(a), *_compare_paths(a, s)
    objects = _play_objects(a, s.horizon)
    wait = np.full((len(k), s.height, s.width), _NEVER, np.int64)
    symmetric = np.ones(len(k), np.bool_)
    longest = np.empty((len(k), s.horizon), np.int64)
    for t in range(s.horizon - 1, -1, -1):
        rewards = reward_maps(objects[t], s.height, s.width)
        symmetric &= is_balanced(rewards)
        wait = update_waits(rewards, wait)
        longest[:, t] = wait.max((1, 2))
    return Properties(k, shift, same_moves, symmetric, least_sensitivity(longest))


def _compare_paths(a: WorldArrays, s: Settings) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the shift from Good's to Evil's path, and whether they make the same moves."""
    paths = np.array([[intended_path(a, e, index) for index in (0, 1)] for e in range(len(a.step))])
    cells = (paths[:, 1] - paths[:, 0]) % (s.height * s.width)
    shift = np.where((cells == cells[:, :1]).all(1), cells[:, 0], -1)
    row, column = np.divmod(np.concatenate((a.objects[..., None], paths), 2), s.width)
    down, right = (row[:, 1] - row[:, 0]) % s.height, (column[:, 1] - column[:, 0]) % s.width
    is_same_move = (down == down[:, :1]) & (right == right[:, :1])
    return shift, is_same_move.all(1) & (a.kind == 0)


def _play_objects(a: WorldArrays, steps: int) -> Ints:
    """Step the worlds; return int64[T, E, 2], the cells of Good and Evil after each step."""
    still, silent = np.full(a.cells.shape, STAY, np.int8), np.zeros(a.cells.shape, np.int8)
    out = np.empty((steps, *a.objects.shape), np.int64)
    for t in range(steps):
        step_worlds(a, still, silent)
        out[t] = a.objects
    return out


def reward_maps(objects: Ints, height: int, width: int) -> Ints:
    """Return int64[E, H, W], the rewards of all cells in halves; `objects` is int64[E, 2]."""
    cells = np.arange(height * width).reshape(height, width)
    gain, loss = reward_at_distance(distance(cells, objects.T[..., None, None], height, width))
    return np.asarray(gain - loss)


def is_balanced(rewards: Ints) -> NDArray[np.bool_]:
    """Return bool[E], True if each reward is in as many cells as its negative, within 1 and -1.

    Rewards are int64[E, H, W], in halves.
    """
    out = (abs(rewards) <= _MAX_REWARD).all((1, 2))
    for value in range(1, _MAX_REWARD + 1):
        out &= (rewards == value).sum((1, 2)) == (rewards == -value).sum((1, 2))
    return np.asarray(out)


def update_waits(rewards: Ints, after: Ints) -> Ints:
    """Return int64[E, H, W], the number of steps from each cell until rewards can differ.

    `rewards` are those of the next step, and `after` the number of steps from each cell after it.
    """
    differ = _neighbourhood_minimum(rewards) != -_neighbourhood_minimum(-rewards)
    return np.where(differ, 1, _neighbourhood_minimum(after) + 1)


def _neighbourhood_minimum(values: Ints) -> Ints:
    """Return the minimum over each cell's neighbourhood, its own value included."""
    for axis in (1, 2):
        neighbours = [np.roll(values, by, axis) for by in (1, -1)]
        values = np.minimum(values, np.minimum(*neighbours))
    return values


def least_sensitivity(longest: Ints) -> Ints:
    """Return int64[E], the least n that bounds all waits with n or more steps left; 0 without one.

    `longest` is int64[E, T], the longest wait from any cell before each step.
    """
    worst = np.maximum.accumulate(longest, 1)[:, ::-1]
    is_bound = worst <= np.arange(1, longest.shape[1] + 1)
    return np.where(is_bound.any(1), is_bound.argmax(1) + 1, 0)


class Finding(NamedTuple):
    """Result of the check of one property: its name, whether it holds, and the evidence."""

    property: str
    holds: bool
    found: str


class EnvironmentReport(NamedTuple):
    """Results of the checks of a class of environments."""

    settings: dict[str, Any]  # the environments' settings, number and seed, as JSON values
    uncertainty: float  # H(mu) in bits, the same in all of them
    complexity: tuple[int, int]  # the least and greatest K
    random: Estimate  # the mean reward of a random agent, and its standard error
    z: float | None  # the mean in standard errors; None if the error is 0 or undefined
    # the n for which the class is n-actions reward-sensitive; None if it is not
    sensitivity: int | None
    findings: tuple[Finding, ...]  # the result for each property
    holds: bool  # whether all properties hold


def check_environments(
    settings: Settings,
    *,
    episodes: int,
    seed: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> EnvironmentReport:
    """Check the environments of a seed, in each of which a random agent plays an episode.

    At least two environments are needed. The seed selects them and the random agent's draws, as in
    `sts lambda-star score`; `progress` is called with (environments examined, total).
    """
    if episodes < 2:
        raise ArgumentError(f"expected 2 environments or more, found {episodes}")
    experiments.check_experiment(
        Experiment((), (), episodes, seed, 0), [load_team("random")], [settings], 1
    )
    parts, received = [], []
    span = max(1, min(EPISODES_PER_JOB, _MAX_CELLS // (settings.height * settings.width)))
    progress(0, episodes)
    for start in range(0, episodes, span):
        part = generate_environments(
            settings, seed=seed, start=start, stop=min(start + span, episodes)
        )
        parts.append(measure_properties(part))
        rewards = total_rewards("random", part, seed=seed).sum(1, keepdims=True)
        received.append(sum_rewards(rewards))
        progress(int(part.index[-1]) + 1, episodes)
    properties = Properties(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    unit = 2 * settings.n_players * settings.horizon
    mean = estimate_mean(add_sums(received), np.ones(1, np.int64), unit)
    return _summarise(properties, mean, settings, {"episodes": episodes, "seed": seed})


def _summarise(
    p: Properties, mean: Estimate, s: Settings, request: dict[str, int]
) -> EnvironmentReport:
    published = s.patterns == "lambdastar-2016"
    low, high = int(p.complexity.min()), int(p.complexity.max())
    z = mean.mean / mean.standard_error if mean.standard_error else None
    same_count = int(p.same_moves.sum())
    same_moves = f", {same_count} with the same moves" if same_count else ""
    n = int(p.sensitivity.max()) if (p.sensitivity > 0).all() else None
    findings = [
        _check_all("equal K", np.equal(*p.complexity.T), f", {low} to {high}"),
        _check_all("different paths", p.shift != 0, same_moves),
        _check_shift(p, s) if published else _check_range(p, patterns.complexity_range(s)),
        _check_all("symmetric rewards", p.symmetric),
        _check_unbiased(mean, z),
        _check_all("reward-sensitive", p.sensitivity > 0, f", n = {n}" if n else _TOO_SHORT),
    ]
    used = s._asdict() | request
    used["complexity"] = None if published else list(patterns.complexity_range(s))
    return EnvironmentReport(
        settings=used,
        uncertainty=measure_uncertainty(s.height, s.width),
        complexity=(low, high),
        random=mean,
        z=z,
        sensitivity=n,
        findings=tuple(findings),
        holds=all(finding.holds for finding in findings),
    )


def _check_all(name: str, holds: NDArray[np.bool_], more: str = "") -> Finding:
    count = int(holds.sum())
    return Finding(name, count == holds.size, f"{count} of {holds.size} environments{more}")


def _check_range(properties: Properties, drawn_range: tuple[int, int]) -> Finding:
    low, high = drawn_range
    within = (low <= properties.complexity) & (properties.complexity <= high)
    return _check_all("K in range", within[:, 0] & within[:, 1], f", {low} to {high}")


def _check_shift(properties: Properties, s: Settings) -> Finding:
    """Check that Evil's path is Good's, shifted by the published program's constant."""
    by = s.height * s.width // 3 + 1
    return _check_all("Evil's path is Good's shifted", properties.shift == by, f", by {by} cells")


def _check_unbiased(mean: Estimate, z: float | None) -> Finding:
    holds = mean.mean == 0 if z is None else abs(z) <= MAX_Z
    error = "none" if mean.standard_error is None else f"{mean.standard_error:.5f}"
    text = f"mean {mean.mean:.5f}, standard error {error}"
    return Finding("random agent at 0", holds, text + ("" if z is None else f", z = {z:.2f}"))
