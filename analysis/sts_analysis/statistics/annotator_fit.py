"""Fitting the model of annotators to counts of successes.

By penalised quasi-likelihood (Breslow and Clayton 1993, J. Am. Stat. Assoc. 88:9). The variances of
leniency and favour are moments, less what units would add if annotators were alike, so that
verdicts on one clip, scenario or trajectory may depend on each other in any way (Liang and Zeger
1986, Biometrika 73:13).

Axes: A agents, S scenarios, K annotators, U units.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import chdtrc, expit, logit

from sts_analysis.statistics.annotators import (
    LEAST_VARIANCE,
    MAX_LOG_ODDS,
    AnnotatorModel,
    Fit,
)
from sts_analysis.statistics.estimate import ZERO, divide, sum_units

_LEAST_INFORMATION = 0.25
"""Of a cell that was judged: one verdict at even odds."""
_LEAST_KEPT = 0.05
_FLAT = 1e6
"""Variance of a term that is not shrunk."""
_STEPS, _CONVERGED = 50, 1e-7


class _Counts(NamedTuple):
    """Verdicts by unit."""

    judged: np.ndarray  # float64[U, A, K]
    passed: np.ndarray  # float64[U, A, K], of these the successes
    n: np.ndarray  # float64[A, K], sums of `judged`
    x: np.ndarray  # float64[A, K], sums of `passed`
    # float64[A, K], 1 for a cell that a single unit makes, less the more units it has
    lumped: np.ndarray
    grown: float  # what makes good for deviations from means that contain the unit
    df: int  # cells that were judged, less those that ability and leniency take

    def square_deviations(self, chance: np.ndarray) -> np.ndarray:
        """Return float64[A, K], sums over units of squared deviations from chances."""
        return np.asarray(((self.passed - chance * self.judged) ** 2).sum(axis=0))

    def add_scores(self, each: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return float64[U, A + K], deviations times `each`, summed over rows and columns."""
        rows, columns = (
            np.einsum(f"ak,uak->u{axis}", each, self.passed)
            - np.einsum(f"ak,uak->u{axis}", each * chance, self.judged)
            for axis in "ak"
        )
        return np.concatenate([rows, columns], axis=1)


class _Step(NamedTuple):
    """One step of the fit: log odds, and what they were made of; see `AnnotatorModel`."""

    log_odds: np.ndarray
    leniency: np.ndarray
    leniency_errors: np.ndarray
    leniency_variance: float
    favour_variance: float
    allowed_variance: float
    favour_square: float
    favour_noise: float
    freedom: float
    information: np.ndarray
    weight: np.ndarray
    reliability: np.ndarray
    leverage: np.ndarray
    inverse: np.ndarray
    deviated: np.ndarray


def fit_annotators(
    judgements: np.ndarray, successes: np.ndarray, unit: np.ndarray
) -> AnnotatorModel:
    """Fit the model.

    Args:
      judgements: float64[A, S, K], numbers of verdicts.
      successes: float64[A, S, K], of these the successes.
      unit: int64[S], from 0.
    """
    counts = _count(judgements, successes, unit)
    ability = logit((counts.x.sum(axis=1) + 0.5) / (counts.n.sum(axis=1) + 1))
    log_odds = np.repeat(ability[:, None], counts.n.shape[1], axis=1)
    step = _improve(counts, log_odds, 0.0, *np.zeros((2, *log_odds.shape)))
    for _ in range(_STEPS):
        before = step
        step = _improve(
            counts, step.log_odds, step.favour_variance, step.reliability, step.leverage
        )
        moved = np.abs(step.log_odds - before.log_odds).max()
        if moved + abs(step.favour_variance - before.favour_variance) < _CONVERGED:
            break
    workload = counts.n.sum(axis=0) / counts.n.sum()
    errors = step.leniency_errors
    chance, information = expit(before.log_odds), step.information
    deviations = counts.passed - chance * counts.judged
    # How vague noise is: that of a cell counts by the products of different units.
    each = step.weight / information**2
    fourth = float((each**2 * (deviations**4).sum(axis=0)).sum())
    noises = each * step.deviated
    free = float(noises.sum() ** 2) / max(float((noises**2).sum()) - fourth, ZERO)
    df = counts.df / max(int((counts.n > 0).sum()), 1) * free
    noise = step.favour_noise
    # A unit is left out of the cells that it deviates from.
    deviations *= divide(counts.n, counts.n - counts.judged) / information
    scores = [np.einsum(f"ak,uak->u{axis}", step.weight, deviations) for axis in "ak"]
    return AnnotatorModel(
        workload=workload,
        log_odds=step.log_odds,
        leniency=step.leniency - step.leniency @ workload,
        leniency_errors=np.sqrt(counts.grown) * (errors - (errors @ workload)[:, None]),
        leniency_variance=step.leniency_variance,
        favour_variance=step.favour_variance,
        allowed_variance=step.allowed_variance,
        favour_noise=noise / step.freedom if step.freedom > ZERO else 0.0,
        favour_df=df,
        favour_p=float(chdtrc(df, df * step.favour_square / noise)) if df >= 1 else np.nan,
        groups=_link(counts.judged > 0),
        fit=Fit(
            step.weight, step.reliability, step.inverse, deviations, np.concatenate(scores, axis=1)
        ),
    )


def _count(judgements: np.ndarray, successes: np.ndarray, unit: np.ndarray) -> _Counts:
    units = int(unit.max()) + 1
    judged, passed = (
        np.ascontiguousarray(sum_units(table, unit, units, axis=1).transpose(1, 0, 2))
        for table in (judgements, successes)
    )
    n, counted = judged.sum(axis=0), int((judged.sum(axis=(1, 2)) > 0).sum())
    return _Counts(
        judged,
        passed,
        n,
        passed.sum(axis=0),
        lumped=divide((judged**2).sum(axis=0), n**2),
        grown=counted / (counted - 1) if counted > 1 else 0.0,
        df=max(0, int((n > 0).sum()) - sum(n.shape) + _label(n > 0)[0]),
    )


def _improve(
    counts: _Counts,
    log_odds: np.ndarray,
    favour_variance: float,
    reliability: np.ndarray,
    leverage: np.ndarray,
) -> _Step:
    """Take one step: responses at these log odds, variances from them, log odds from both."""
    n, agents, seen = counts.n, len(counts.n), counts.n > 0
    chance = expit(log_odds)
    information = np.where(seen, np.maximum(n * chance * (1 - chance), _LEAST_INFORMATION), 1.0)
    response = np.where(seen, log_odds + (counts.x - n * chance) / information, 0.0)
    # As far as a cell decides its own chance, units deviate from a mean that contains them.
    own = reliability + (1 - reliability) * leverage
    kept = np.maximum(1 - own * (2 - own) * counts.lumped, _LEAST_KEPT)
    deviated = counts.square_deviations(chance) / kept
    # How much less a verdict tells, as those of a unit are alike.
    design = max(1.0, float(deviated.sum() / information[seen].sum()))
    precision = np.where(seen, information / design, 0.0)

    weight = precision / (1 + favour_variance * precision)
    free, inverse = _solve(weight, response, _FLAT)
    scores = counts.add_scores(weight / information, chance)
    square = float((weight * np.where(seen, response - _add(free, agents), 0.0) ** 2).sum())
    noise = float((weight * deviated / information**2).sum())
    effect_errors = scores @ inverse
    noise = counts.grown * (noise - float((effect_errors * scores).sum()))
    leverage = weight * _add_variances(inverse, agents)
    # The deviations of a single unit are favour and noise in one.
    lost = (1 - reliability) ** 2 * counts.lumped / kept
    freedom = float((weight * (1 - leverage - lost)).sum())
    favour_variance = allowed = 0.0
    if counts.df and freedom > ZERO and counts.grown:
        favour_variance = max(0.0, (square - noise) / freedom)
        # None may be seen by chance, so one standard error of that is allowed for.
        allowed = favour_variance + noise / freedom * np.sqrt(2 / counts.df)
    errors = effect_errors[:, agents:]
    leniency_variance = _spread_leniency(
        free[agents:], errors, weight, favour_variance, counts.grown
    )

    weight = precision / (1 + allowed * precision)
    fitted, inverse = _solve(weight, response, max(leniency_variance, LEAST_VARIANCE))
    reliability = allowed * precision / (1 + allowed * precision)
    following = _add(fitted, agents)
    following += reliability * np.where(seen, response - following, 0.0)
    return _Step(
        log_odds=np.clip(following, -MAX_LOG_ODDS, MAX_LOG_ODDS),
        leniency=free[agents:],
        leniency_errors=errors,
        leniency_variance=leniency_variance,
        favour_variance=favour_variance,
        allowed_variance=allowed,
        favour_square=square,
        favour_noise=noise,
        freedom=freedom,
        information=information,
        weight=weight,
        reliability=reliability,
        leverage=leverage,
        inverse=inverse,
        deviated=deviated,
    )


def _add(terms: np.ndarray, agents: int) -> np.ndarray:
    return np.asarray(terms[:agents, None] + terms[agents:])


def _add_variances(inverse: np.ndarray, agents: int) -> np.ndarray:
    """Return float64[A, K], variances of ability + leniency."""
    own = np.diag(inverse)
    return np.asarray(_add(own, agents) + 2 * inverse[:agents, agents:])


def _solve(
    weight: np.ndarray, response: np.ndarray, variance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return ability and leniency, float64[A + K], and the inverse of their normal equations."""
    rows, columns = weight.sum(axis=1), weight.sum(axis=0)
    matrix = np.block(
        [[np.diag(rows + 1 / _FLAT), weight], [weight.T, np.diag(columns + 1 / variance)]]
    )
    inverse = np.linalg.inv(matrix)
    weighted = weight * response
    return inverse @ np.concatenate([weighted.sum(axis=1), weighted.sum(axis=0)]), inverse


def _spread_leniency(
    leniency: np.ndarray,
    errors: np.ndarray,
    weight: np.ndarray,
    favour_variance: float,
    grown: float,
) -> float:
    """Return the variance of leniency, float64[K], less what units and favours add to it."""
    share = weight.sum(axis=0) / max(weight.sum(), ZERO)
    free = 1 - float((share**2).sum())
    if free < ZERO or not grown:
        return 0.0
    spread = float(share @ (leniency - share @ leniency) ** 2)
    noise = float((share * (errors - (errors @ share)[:, None]) ** 2).sum())
    # Of the favours of an annotator, leniency takes the mean.
    mean = divide((weight**2).sum(axis=0), weight.sum(axis=0) ** 2)
    favours = favour_variance * float((share * (1 - share) * mean).sum())
    return max(0.0, (spread - grown * noise - favours) / free)


def _label(seen: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the number of groups that agents and annotators make, and int64[K], each one's."""
    agent, annotator = np.nonzero(seen)
    size = sum(seen.shape)
    edges = coo_array((np.ones(len(agent)), (agent, seen.shape[0] + annotator)), (size, size))
    count, group = connected_components(edges, directed=False)
    return count, group[seen.shape[0] :]


def _link(judged: np.ndarray) -> np.ndarray:
    """Return int64[N, K], groups of annotators: of all units, bool[U, A, K], and of all but one."""
    units = judged.sum(axis=0)
    groups = [_label(units > 0)[1]]
    only = judged & (units == 1)
    for unit in np.flatnonzero(only.any(axis=(1, 2))):
        count, group = _label((units > 0) & ~only[unit])
        if count > 1:
            groups.append(group)
    return np.unique(groups, axis=0)
