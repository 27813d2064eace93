"""How far annotators differ, and what that does to rates and differences.

Verdicts are fitted by least squares as agent + scenario + annotator. The effect of each annotator
comes with its change when a unit is left out.

Axes: A agents, S scenarios, K annotators, U units, P pairs of agents.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sts_analysis.statistics.estimate import divide, sum_units

MIN_ANNOTATORS = 3
MIN_EFFECTIVE_ANNOTATORS = 2.0
_SINGULAR = 1e-8
_TELLABLE = 1e-7
_CONVERGED = 1e-24


class Judging(NamedTuple):
    """What each annotator contributed to each value.

    Attributes:
      annotators: K names, in alphabetical order.
      share: float64[A, S, K], of an agent's value in a scenario, what each annotator gave; sums to
        the share of its continuations that people judged and no reviewer decided.
      value: float64[A, S, K], verdicts (success 1) by the same shares.
      judgements: float64[A, S, K], verdicts that each annotator gave, each once.
      successes: float64[A, S, K], those that are a success.
    """

    annotators: tuple[str, ...]
    share: np.ndarray
    value: np.ndarray
    judgements: np.ndarray
    successes: np.ndarray


class Effects(NamedTuple):
    """Effects of annotators, in pass rate; their mean by workload is 0.

    Attributes:
      workload: float64[K], each annotator's share of all judgements.
      effect: float64[K].
      drop: float64[U, K], the effect minus the effect without a unit.
      unknown: float64[N, K], directions that the data cannot tell, with all units or without one.
    """

    workload: np.ndarray
    effect: np.ndarray
    drop: np.ndarray
    unknown: np.ndarray

    def tell(self, owed: np.ndarray) -> np.ndarray:
        """Return bool[...], whether contrasts float64[..., K] of annotators are estimable."""
        return np.asarray((np.abs(self.centre(owed) @ self.unknown.T) < _TELLABLE).all(axis=-1))

    def centre(self, owed: np.ndarray) -> np.ndarray:
        """Return contrasts float64[..., K] less their mean by workload."""
        # Makes contrasts sum to 0 and keeps owed . effect, as effects have mean 0 by workload.
        return np.asarray(owed - owed.sum(axis=-1, keepdims=True) * self.workload)

    @property
    def component(self) -> float:
        """The variance between annotators, without the noise of their effects."""
        people, units = len(self.effect), len(self.drop)
        if people < 2 or units < 2:
            return float("nan")
        centred = self.effect - self.effect.mean()
        drop = self.drop - self.drop.mean(axis=1, keepdims=True)
        # Their spread has the jackknife's noise in it; what is left may fall below 0 by chance.
        noise = (units - 1) / units * (drop**2).sum() / (people - 1)
        return max(0.0, float((centred**2).sum() / (people - 1) - noise))


def fit_effects(judgements: np.ndarray, successes: np.ndarray, unit: np.ndarray) -> Effects:
    """Fit the effects of annotators, with all units and without each of them.

    Args:
      judgements: float64[A, S, K], numbers of verdicts.
      successes: float64[A, S, K], of these the successes.
      unit: int64[S], from 0.
    """
    workload = judgements.sum(axis=(0, 1)) / judgements.sum()
    by_agent = judgements.sum(axis=2)  # [A, S]
    each = divide(1.0, by_agent.sum(axis=0))  # 1 / n of a scenario
    by_annotator = np.concatenate(  # [S, K + 1]; the last column is the response
        [judgements.sum(axis=0), successes.sum(axis=(0, 2))[:, None]], axis=1
    )
    cells = np.concatenate([judgements, successes.sum(axis=2, keepdims=True)], axis=2)
    # Normal equations without scenarios, by unit: agents x annotators, annotators x annotators.
    cells -= by_agent[..., None] * (each[:, None] * by_annotator)
    across = _by_unit(cells.transpose(1, 0, 2), unit)  # [U, A, K + 1]
    people = by_annotator[:, :-1]
    inner = _by_unit(-(each[:, None] * people)[:, :, None] * by_annotator[:, None], unit)
    rows = np.arange(people.shape[1])
    inner[:, rows, rows] += _by_unit(people, unit)
    inner[:, :, -1] += _by_unit(successes.sum(axis=0), unit)
    # Singular: all agents may rise by what all scenarios fall.
    whole = np.diag(by_agent.sum(axis=1)) - (by_agent * each) @ by_agent.T
    # All units at first, then without each of them.
    right = across.sum(axis=0) - np.concatenate([np.zeros_like(across[:1]), across])
    schur = inner.sum(axis=0) - np.concatenate([np.zeros_like(inner[:1]), inner])
    own = _by_unit(by_agent.T, unit)  # [U, A]

    def multiply(v: np.ndarray) -> np.ndarray:
        product = whole @ v
        shared = np.einsum("as,sak->sk", by_agent, v[1:][unit]) * each[:, None]
        product[1:] -= own[..., None] * v[1:]
        product[1:] += _by_unit(by_agent.T[..., None] * shared[:, None], unit)
        return np.asarray(product)

    solved = _solve(multiply, np.linalg.pinv(whole, rcond=_SINGULAR, hermitian=True), right)
    schur = schur - np.swapaxes(right[..., :-1], 1, 2) @ solved
    effect, unknown = _solve_annotators(schur[..., :-1], schur[..., -1], workload)
    return Effects(workload, effect[0], effect[0] - effect[1:], unknown)


def _solve_annotators(
    matrix: np.ndarray, right: np.ndarray, workload: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return effects float64[..., K], and the directions that any of the matrices cannot tell."""
    values, vectors = np.linalg.eigh((matrix + np.swapaxes(matrix, 1, 2)) / 2)
    # Relative to the matrix of all units, so that each one left out is measured by the same scale.
    is_known = values > _SINGULAR * max(float(values[0].max()), 1.0)
    inverse = np.where(is_known, 1 / np.where(is_known, values, 1.0), 0.0)
    effect = np.einsum("ukl,ul,uml,um->uk", vectors, inverse, vectors, right, optimize=True)
    # Only differences of effects are known; centred by workload they move no mean over verdicts.
    effect -= (effect @ workload)[:, None]
    several = np.flatnonzero((~is_known).sum(axis=1) > 1)  # all alike is one that no data can tell
    unknown = [vectors[u][:, ~is_known[u]].T for u in several]
    return effect, np.concatenate([np.zeros((0, len(workload))), *unknown])


def _solve(
    multiply: Callable[[np.ndarray], np.ndarray], inverse: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Solve systems that differ little from one whose inverse is known, by conjugate gradients."""
    solved, residual = np.zeros_like(right), right.copy()
    direction = inverse @ residual
    size = (residual * direction).sum(axis=1)
    goal = _CONVERGED * np.maximum(size, 1e-300)
    # But for rounding, conjugate gradients end after as many steps as there are agents.
    for _ in range(4 * len(inverse) + 20):
        if (size <= goal).all():
            break
        product = multiply(direction)
        curvature = (direction * product).sum(axis=1)
        step = np.where((size > goal) & (curvature > 0), divide(size, curvature), 0.0)
        solved += step[:, None] * direction
        residual -= step[:, None] * product
        better = inverse @ residual
        following = (residual * better).sum(axis=1)
        direction = better + divide(following, size)[:, None] * direction
        size = np.where(size > goal, following, 0.0)
    return solved


def _by_unit(values: np.ndarray, unit: np.ndarray) -> np.ndarray:
    return sum_units(values, unit, int(unit.max()) + 1, axis=0)
