"""How much more lenient or strict each annotator is, agents and scenarios taken into account.

Axes: A agents, S scenarios, K annotators.
"""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics.judgement_shares import Shares

_NONE = 1e-9
"""Of the largest eigenvalue, what counts as 0."""
_AT_ONCE = 2_000_000
"""Numbers held at once."""


class Effects(NamedTuple):
    """What each annotator adds to a rate.

    Attributes:
      effect: float64[K], against the mean annotator of all judgements.
      mean: float64[K], the share of all judgements that is each annotator's.
      by_scenario: float64[K, S], what each scenario adds to the errors of the effects.
      by_continuation: float64[K, K], covariance of the effects from continuations alone.
      estimable: float64[K, K], projects contrasts of annotators on those that can be told.
    """

    effect: np.ndarray
    mean: np.ndarray
    by_scenario: np.ndarray
    by_continuation: np.ndarray
    estimable: np.ndarray

    def told(self, contrasts: np.ndarray) -> np.ndarray:
        """bool[P], whether contrasts of annotators, float64[P, K], can be told."""
        centred = contrasts - contrasts.sum(axis=1, keepdims=True) * self.mean
        rest = centred - centred @ self.estimable
        told: np.ndarray = np.abs(rest).max(axis=1, initial=0.0) < 1e-6
        return told


def annotator_effects(shares: Shares, noise: np.ndarray | None = None) -> Effects:
    """Fits verdict = agent + scenario + annotator by least squares, each verdict with its share.

    Two annotators are compared by what they said of the same agents in the same scenarios. Where
    nothing connects them there, their difference cannot be told, and `Effects.told` says so.

    Args:
      shares: of the agents compared, K at least 1.
      noise: float64[A, S], variance of each agent's rate on each scenario from continuations; where
        it is not given, `by_continuation` is 0.

    Source: Liang and Zeger 1986, Biometrika 73:13, for errors clustered by scenario.
    """
    weight, value = shares.share, shares.value
    agents, _, people = weight.shape
    by_agent, by_annotator = weight.sum(axis=2), weight.sum(axis=0)
    total = np.maximum(by_agent.sum(axis=0), 1e-300)
    seen = np.concatenate([by_agent, by_annotator.T])  # [A + K, S]
    normal = np.zeros((agents + people, agents + people))
    np.fill_diagonal(normal, seen.sum(axis=1))
    normal[:agents, agents:] = weight.sum(axis=1)
    normal[agents:, :agents] = normal[:agents, agents:].T
    normal -= (seen / total) @ seen.T
    sums = np.concatenate([value.sum(axis=2), value.sum(axis=0).T])
    mean = value.sum(axis=(0, 2)) / total
    inverse, estimable = _inverse(normal)
    fitted = inverse @ (sums.sum(axis=1) - seen @ mean)
    mean = mean - fitted @ seen / total  # of each scenario, agents and annotators taken out
    left = weight * (fitted[:agents, None, None] + fitted[agents:] + mean[:, None])
    error = value - left
    score = np.concatenate([error.sum(axis=2), error.sum(axis=0).T])
    own = by_annotator.sum(axis=0) / max(by_annotator.sum(), 1e-300)
    centre = np.eye(people) - own  # [K, K]: takes the mean annotator out
    map_ = centre @ inverse[agents:]
    return Effects(
        centre @ fitted[agents:],
        own,
        map_ @ score,
        np.zeros((people, people))
        if noise is None
        else _from_continuations(map_, seen / total, weight, noise),
        _contrasts(estimable, agents),
    )


def _inverse(normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pseudo-inverse of a symmetric matrix, and an orthonormal basis of what it tells."""
    values, vectors = np.linalg.eigh(normal)
    kept = values > _NONE * max(values.max(initial=0.0), 1e-300)
    basis = vectors[:, kept]
    return (basis / values[kept]) @ basis.T, basis


def _contrasts(basis: np.ndarray, agents: int) -> np.ndarray:
    """float64[K, K], the projection on contrasts of annotators that need no other effect told."""
    rest = np.eye(len(basis))[agents:] - basis[agents:] @ basis.T  # what each lacks
    values, vectors = np.linalg.eigh(rest @ rest.T)
    kept = vectors[:, values < _NONE]
    projection: np.ndarray = kept @ kept.T
    return projection


def _from_continuations(
    map_: np.ndarray, centre: np.ndarray, weight: np.ndarray, noise: np.ndarray
) -> np.ndarray:
    """Covariance of the effects where each verdict errs by its continuation's noise alone."""
    agents, scenarios, people = weight.shape
    covariance = np.zeros((people, people))
    step = max(1, _AT_ONCE // max(agents * people**2, 1))
    for at in (slice(n, n + step) for n in range(0, scenarios, step)):
        base = map_ @ centre[:, at]
        load = map_[:, :agents, None, None] - base[:, None, :, None] + map_[:, None, None, agents:]
        own = (weight[:, at] * np.nan_to_num(noise[:, at])[..., None]).reshape(-1)
        flat = load.reshape(people, -1)
        covariance += (flat * own) @ flat.T
    return covariance
