"""Whether a class of generated environments has the properties that scores on it rest on.

Complexity. Good's and Evil's movement patterns are different and equally complex, and all
environments of a class are equally uncertain (Chmait et al. 2016, sections 4.2 to 4.4).

Balance. Rewards lie from -1 to 1 and are symmetric, and a random agent can expect 0
(Hernández-Orallo and Dowe 2010, "Measuring universal intelligence: towards an anytime intelligence
test", definition 13). Here a random agent starts on a cell drawn uniformly and walks on a torus, so
it is on every cell equally likely at every step; and nothing it does moves Good or Evil. Its
expected reward is therefore exactly 0 where at every step each reward is to be had in as many cells
as its negative. This is counted.

Reward-sensitivity. An environment is n-actions reward-sensitive if after every sequence of actions
there are a positive m <= n and two continuations of m actions with different sums of rewards (the
same, definition 7). While the continuations of fewer actions have one sum, the rewards on their way
are the same; so m is the first number of steps after which the cells in reach, a square with sides
of 2m + 1, do not all bring the same. Actions can lead to any cell, so every cell is looked at, at
every step that still has n steps ahead of it in the episode.

Axes: E environments, T steps, H rows and W columns of C cells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.errors import ArgumentError
from sts.worlds.lambda_star.generation import patterns
from sts.worlds.lambda_star.generation.environments import Environments, generate, uncertainty
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.generation.walks import complexities, walked
from sts.worlds.lambda_star.intelligence import trials
from sts.worlds.lambda_star.intelligence.moments import Estimate, estimate, moments, plus
from sts.worlds.lambda_star.intelligence.trials import SPAN, Trial
from sts.worlds.lambda_star.kernels import Arrays, Ints, step, worth
from sts.worlds.lambda_star.play.teams import sums, team_of
from sts.worlds.lambda_star.torus import STAY, distance

MOST_Z = 4.0
"""How many standard errors from 0 a random agent may score; chance alone passes 1 in 16,000."""

_TOO_SHORT = "; for the others take more steps or a smaller grid"
_MOST = 2
_NEVER = 1 << 30
_CELLS = 2**21
"""Cells of all environments that are looked at together; no result depends on it."""


class Properties(NamedTuple):
    """What each environment is like.

    Attributes:
      complexity: int64[E, 2], K of Good's and of Evil's intended cells over the horizon.
      shift: int64[E], how many cells, counted row by row and from the last cell to the first,
        Evil's intended cell is always after Good's: 0 where the paths are the same, -1 where they
        differ in other ways.
      same_moves: bool[E], whether Good and Evil make the same moves, each from its own cell.
      symmetric: bool[E], whether at every step each reward is to be had in as many cells as its
        negative, and none is under -1 or over 1.
      sensitivity: int64[E], the least n for which it is n-actions reward-sensitive within the
        episode; 0 where there is none.
    """

    complexity: Ints
    shift: Ints
    same_moves: NDArray[np.bool_]
    symmetric: NDArray[np.bool_]
    sensitivity: Ints


def measure(environments: Environments) -> Properties:
    """Return the properties of each environment, over all the steps of an episode."""
    a, s = environments.fresh(), environments.settings
    k, shift, same_moves = complexities(a), *_alike(a, s)
    there = _played(a, s.horizon)
    wait = np.full((len(k), s.height, s.width), _NEVER, np.int64)
    symmetric = np.ones(len(k), np.bool_)
    longest = np.empty((len(k), s.horizon), np.int64)
    for t in range(s.horizon - 1, -1, -1):
        rewards = maps(there[t], s.height, s.width)
        symmetric &= balanced(rewards)
        wait = waits(rewards, wait)
        longest[:, t] = wait.max((1, 2))
    return Properties(k, shift, same_moves, symmetric, least(longest))


def _alike(a: Arrays, s: Settings) -> tuple[Ints, NDArray[np.bool_]]:
    """Return how Evil's intended path is Good's shifted, and whether they make the same moves."""
    found = np.array([[walked(a, e, which) for which in (0, 1)] for e in range(len(a.step))])
    cells = (found[:, 1] - found[:, 0]) % (s.height * s.width)
    shift = np.where((cells == cells[:, :1]).all(1), cells[:, 0], -1)
    row, column = np.divmod(np.concatenate((a.objects[..., None], found), 2), s.width)
    down, right = (row[:, 1] - row[:, 0]) % s.height, (column[:, 1] - column[:, 0]) % s.width
    same = (down == down[:, :1]) & (right == right[:, :1])
    return shift, same.all(1) & (a.kind == 0)


def _played(a: Arrays, steps: int) -> Ints:
    """Return int64[T, E, 2], where Good and Evil are after each step; the worlds are played."""
    still, silent = np.full(a.cells.shape, STAY, np.int8), np.zeros(a.cells.shape, np.int8)
    out = np.empty((steps, *a.objects.shape), np.int64)
    for t in range(steps):
        step(a, still, silent)
        out[t] = a.objects
    return out


def maps(objects: Ints, height: int, width: int) -> Ints:
    """Return int64[E, H, W], the reward of every cell in halves; `objects` is int64[E, 2]."""
    cells = np.arange(height * width).reshape(height, width)
    gain, loss = worth(distance(cells, objects.T[..., None, None], height, width))
    return np.asarray(gain - loss)


def balanced(rewards: Ints) -> NDArray[np.bool_]:
    """Return bool[E]: each reward is in as many cells as its negative, and none is past 1 or -1.

    Rewards are int64[E, H, W].
    """
    kept = (abs(rewards) <= _MOST).all((1, 2))
    for value in range(1, _MOST + 1):
        kept &= (rewards == value).sum((1, 2)) == (rewards == -value).sum((1, 2))
    return np.asarray(kept)


def waits(rewards: Ints, after: Ints) -> Ints:
    """Return int64[E, H, W]: from each cell, the steps until rewards can differ.

    `rewards` are those of the next step, and `after` the steps from each cell after that.
    """
    differ = _lowest(rewards) != -_lowest(-rewards)
    return np.where(differ, 1, _lowest(after) + 1)


def _lowest(values: Ints) -> Ints:
    """Return the lowest value in each cell's neighbourhood, its own included."""
    for axis in (1, 2):
        beside = [np.roll(values, by, axis) for by in (1, -1)]
        values = np.minimum(values, np.minimum(*beside))
    return values


def least(longest: Ints) -> Ints:
    """Return int64[E]: the least n that no wait exceeds which has n steps left; 0 without one.

    `longest` is int64[E, T], the longest wait from any cell before each step.
    """
    worst = np.maximum.accumulate(longest, 1)[:, ::-1]
    fits = worst <= np.arange(1, longest.shape[1] + 1)
    return np.where(fits.any(1), fits.argmax(1) + 1, 0)


class Finding(NamedTuple):
    """Whether a property holds, what it is, and what was found."""

    property: str
    holds: bool
    found: str


class Soundness(NamedTuple):
    """What was found of a class.

    Attributes:
      settings: what the environments were made to, how many, and their seed; JSON values.
      uncertainty: H(mu) in bits, the same in all of them.
      complexity: the least and greatest K drawn.
      random: the mean reward of a random agent, and its standard error.
      z: the mean in standard errors; None where there is no error to count in.
      sensitivity: the n for which the class is n-actions reward-sensitive; None where it is not.
      findings: property by property.
      holds: whether all of them do.
    """

    settings: dict[str, Any]
    uncertainty: float
    complexity: tuple[int, int]
    random: Estimate
    z: float | None
    sensitivity: int | None
    findings: tuple[Finding, ...]
    holds: bool


def examine(
    settings: Settings,
    *,
    episodes: int,
    seed: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Soundness:
    """Return what the environments of a seed are like; a random agent plays an episode of each.

    At least two environments are examined. The seed names them and the random agent's draws, as in
    `sts lambda-star score`; `progress` is called with (environments examined, in all).
    """
    if episodes < 2:
        raise ArgumentError(f"expected 2 environments or more, found {episodes}")
    trials.check(Trial((), (), episodes, seed, 0), [team_of("random")], [settings], 1)
    parts, received = [], []
    span = max(1, min(SPAN, _CELLS // (settings.height * settings.width)))
    progress(0, episodes)
    for start in range(0, episodes, span):
        some = generate(settings, seed=seed, start=start, stop=min(start + span, episodes))
        parts.append(measure(some))
        received.append(moments(_received(some, seed)))
        progress(int(some.index[-1]) + 1, episodes)
    each = Properties(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    unit = 2 * settings.participants * settings.horizon
    mean = estimate(plus(received), np.ones(1, np.int64), unit)
    return _judged(each, mean, settings, {"episodes": episodes, "seed": seed})


def _received(environments: Environments, seed: int) -> NDArray[np.int64]:
    """Return int64[E, 1]: what a random agent's team received, in halves."""
    received: NDArray[np.int64] = sums("random", environments, seed=seed).sum(1)
    return received[:, None]


def _judged(each: Properties, mean: Estimate, s: Settings, asked: dict[str, int]) -> Soundness:
    published = s.patterns == "lambdastar-2016"
    low, high = int(each.complexity.min()), int(each.complexity.max())
    z = mean.mean / mean.standard_error if mean.standard_error else None
    same = int(each.same_moves.sum())
    n = int(each.sensitivity.max()) if (each.sensitivity > 0).all() else None
    findings = [
        _all("equal K", np.equal(*each.complexity.T), f", {low} to {high}"),
        _all("different paths", each.shift != 0, f", {same} with the same moves" if same else ""),
        _shifted(each, s) if published else _drawn(each, patterns.drawn_range(s)),
        _all("symmetric rewards", each.symmetric),
        _unbiased(mean, z),
        _all("reward-sensitive", each.sensitivity > 0, f", n = {n}" if n else _TOO_SHORT),
    ]
    used = s._asdict() | asked
    used["complexity"] = None if published else list(patterns.drawn_range(s))
    return Soundness(
        settings=used,
        uncertainty=uncertainty(s.height, s.width),
        complexity=(low, high),
        random=mean,
        z=z,
        sensitivity=n,
        findings=tuple(findings),
        holds=all(finding.holds for finding in findings),
    )


def _all(name: str, kept: NDArray[np.bool_], more: str = "") -> Finding:
    count = int(kept.sum())
    return Finding(name, count == kept.size, f"{count} of {kept.size} environments{more}")


def _drawn(each: Properties, asked: tuple[int, int]) -> Finding:
    low, high = asked
    within = (low <= each.complexity) & (each.complexity <= high)
    return _all("K in range", within[:, 0] & within[:, 1], f", {low} to {high}")


def _shifted(each: Properties, s: Settings) -> Finding:
    """Whether Evil's path is Good's shifted as the published program does it."""
    by = s.height * s.width // 3 + 1
    return _all("Evil's path is Good's shifted", each.shift == by, f", by {by} cells")


def _unbiased(mean: Estimate, z: float | None) -> Finding:
    holds = mean.mean == 0 if z is None else abs(z) <= MOST_Z
    error = "none" if mean.standard_error is None else f"{mean.standard_error:.5f}"
    found = f"mean {mean.mean:.5f}, standard error {error}"
    return Finding("random agent at 0", holds, found + ("" if z is None else f", z = {z:.2f}"))
