"""One model of annotators: how lenient each is, and which agents each favours.

The log odds of a success among the verdicts of annotator k on agent a are

    ability_a + leniency_k + favour_ak,

with leniency and favour normal. They are fitted to counts by penalised quasi-likelihood (Breslow
and Clayton 1993, J. Am. Stat. Assoc. 88:9). Log odds are a scale on which a strict annotator is as
strict with an agent that nearly always succeeds as with one that succeeds half of the time.

Scenarios are no terms of the model. They make the noise of its fit: both variances are moments
less what units would add if annotators were alike, so that verdicts on one clip, scenario or
trajectory may depend on each other in any way (Liang and Zeger 1986).

Axes: A agents, S scenarios, K annotators, U units, R some of the agents.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import chdtrc, expit, logit

from sts_analysis.statistics.estimate import ZERO, divide, sum_units

_LEAST_VARIANCE = 0.25
"""Variance of leniency that is allowed for at least: three annotators may seem alike by chance."""
_LEAST_INFORMATION = 0.25
"""Of a cell that was judged: one verdict at even odds."""
_LEAST_KEPT = 0.05
_MAX_LOG_ODDS = 12.0
MAX_FAVOUR_P = 0.01
"""Below this annotators are said to favour agents; with few verdicts in a cell p is rough."""
_FLAT = 1e6
"""Variance of a term that is not shrunk."""
_ROUNDS, _CONVERGED = 50, 1e-7
MAX_UNLINKED = 0.05
"""Share of a difference that annotators may have given who share no agent with the others."""


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


class Opinions(NamedTuple):
    """What annotators say of R agents, at the level that their rates have.

    Attributes:
      chance: float64[R, K], the share of successes that each annotator would see.
      pool: float64[R], that of all of them, by workload.
      gain: float64[R], by how much `pool` rises with the mean verdict.
      unit_errors: float64[R, U], what each unit adds to the error of `pool` by way of `chance`.
      unknown: float64[R, N], errors that no unit makes: what leniency and favour may be beyond
        their estimates. Rows are subtracted for differences, as those of `unit_errors` are.
    """

    chance: np.ndarray
    pool: np.ndarray
    gain: np.ndarray
    unit_errors: np.ndarray
    unknown: np.ndarray


class _Fit(NamedTuple):
    """How log odds follow from the cells' working responses.

    Attributes:
      weight: float64[A, K], precision of a cell about ability + leniency.
      reliability: float64[A, K], how far a cell's favour is believed.
      inverse: float64[A + K, A + K], of the normal equations of ability and leniency.
      deviations: float64[U, A, K], what each unit adds to the errors of the responses.
      scores: float64[U, A + K], the same on the right side of the normal equations.
    """

    weight: np.ndarray
    reliability: np.ndarray
    inverse: np.ndarray
    deviations: np.ndarray
    scores: np.ndarray


class AnnotatorModel(NamedTuple):
    """The fitted model.

    Attributes:
      workload: float64[K], each annotator's share of all judgements.
      log_odds: float64[A, K], of a success; favours are shrunk by how little a cell tells.
      leniency: float64[K], not shrunk; their mean by workload is 0.
      leniency_errors: float64[U, K], what each unit adds to its error.
      leniency_variance: without noise.
      favour_variance: without noise.
      allowed_variance: of favours, what estimates allow for.
      favour_noise: variance of favours that noise alone would give.
      favour_df: degrees of freedom of favours with their noise.
      favour_p: of favours that are all 0; NaN if `favour_df` is below 1.
      groups: int64[N, K], annotators linked through agents, in one row with all units, in others
        without one unit that would part them.
      fit: how `log_odds` were made.
    """

    workload: np.ndarray
    log_odds: np.ndarray
    leniency: np.ndarray
    leniency_errors: np.ndarray
    leniency_variance: float
    favour_variance: float
    allowed_variance: float
    favour_noise: float
    favour_df: float
    favour_p: float
    groups: np.ndarray
    fit: _Fit

    @property
    def effective_annotators(self) -> float:
        """The number of equally busy annotators that would vary as much in the mean."""
        return float(1 / (self.workload**2).sum())

    @property
    def effects(self) -> tuple[np.ndarray, np.ndarray]:
        """float64[K] each, by how much an annotator is above the pool in pass rate, and its error.

        Both are means over agents; NaN if the data cannot tell.
        """
        ability = self.log_odds @ self.workload
        chance = expit(ability[:, None] + self.leniency)
        effect = (chance - (chance @ self.workload)[:, None]).mean(axis=0)
        slope = (chance * (1 - chance)).mean(axis=0)
        se = slope * np.sqrt((self.leniency_errors**2).sum(axis=0))
        told = self.tell(np.eye(len(self.workload)))
        return np.where(told, effect, np.nan), np.where(told, se, np.nan)

    @property
    def strictness(self) -> float:
        """The standard deviation of annotators in pass rate, without noise; NaN for one of them."""
        if len(self.workload) < 2:
            return float("nan")
        return float(np.sqrt(self.leniency_variance) * self._slope)

    @property
    def favouritism(self) -> float:
        """The standard deviation of favours in pass rate, without noise."""
        return float(np.sqrt(self.favour_variance) * self._slope)

    @property
    def _slope(self) -> float:
        chance = expit(self.log_odds @ self.workload)
        return float((chance * (1 - chance)).mean())

    def tell(self, owed: np.ndarray) -> np.ndarray:
        """Return bool[...], whether contrasts float64[..., K] of annotators are estimable."""
        centred = self.centre(owed)
        linked = [
            np.abs(centred @ (group[:, None] == np.unique(group))).max(axis=-1)
            for group in self.groups
        ]
        return np.asarray(np.max(linked, axis=0) <= MAX_UNLINKED)

    def centre(self, owed: np.ndarray) -> np.ndarray:
        """Return contrasts float64[..., K] less their mean by workload."""
        return np.asarray(owed - owed.sum(axis=-1, keepdims=True) * self.workload)

    def consult(self, agents: np.ndarray, owed: np.ndarray, passed: np.ndarray) -> Opinions:
        """Say what the pool of annotators says of agents, from what some of them said.

        The log odds of an agent's annotators are shifted alike until they give its own verdicts,
        so that what holds in the whole study can be used for a category, and no rate leaves [0, 1].

        Args:
          agents: int64[R].
          owed: float64[R, K], the share of the rate that each annotator gave; sums to 1 or less.
          passed: float64[R], the part of the rate that these verdicts make.
        """
        given = owed.sum(axis=1)
        chance = _shift(self.log_odds[agents], owed, np.clip(passed, 0.0, given))
        slope = chance * (1 - chance)
        own = (owed * slope).sum(axis=1)
        gain = divide((slope @ self.workload) * given, own)
        gain = np.where(own > ZERO**2, gain, 1.0)
        contrast = (given[:, None] * self.workload - gain[:, None] * owed) * slope
        unit_errors, unknown = self._propagate(agents, contrast)
        return Opinions(chance, chance @ self.workload, gain, unit_errors, unknown)

    def _propagate(self, agents: np.ndarray, contrast: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the errors of R contrasts of log odds of agents: of units, and unknown ones.

        Log odds are linear in the working response: what a cell deviates itself, by its
        reliability, and else what ability and leniency say.
        """
        fit, rows = self.fit, np.arange(len(agents))
        sizes = fit.weight.shape
        lent = contrast * (1 - fit.reliability[agents])
        right = np.zeros((len(agents), sum(sizes)))
        right[rows, agents] = lent.sum(axis=1)
        right[:, sizes[0] :] = lent
        solved = right @ fit.inverse
        own = contrast * fit.reliability[agents]
        errors = solved @ fit.scores.T
        errors += np.einsum("rk,urk->ru", own, fit.deviations[:, agents])
        drawn = (solved[:, : sizes[0], None] + solved[:, None, sizes[0] :]) * fit.weight
        drawn[rows, agents] += own - contrast  # what estimates take of each effect, less all of it
        lenient = np.sqrt(max(self.leniency_variance, _LEAST_VARIANCE)) * drawn.sum(axis=1)
        favoured = np.sqrt(self.allowed_variance) * drawn.reshape(len(agents), -1)
        parts = [lenient, favoured] if self.allowed_variance else [lenient]
        return errors, np.concatenate(parts, axis=1)

    def vary(self, rates: np.ndarray, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what other annotators would move R rates by.

        Args:
          rates: float64[R].
          chance: float64[R, K], of `consult`.

        Returns:
          float64[R, K], deviations of annotators from the pool, scaled so that the sum of squares
          of a row, or of a difference of rows, is the variance of leniency; and float64[R], the
          variance of favour.
        """
        share = 1 / self.effective_annotators
        level = logit(np.clip(rates, 1e-6, 1 - 1e-6))
        lenient = expit(level[:, None] + self.leniency)
        lenient -= (lenient @ self.workload)[:, None]
        spread = float(self.workload @ self.leniency**2) / max(1 - share, ZERO)
        kept = min(1.0, self.leniency_variance / spread) if spread > 0 else 0.0
        free = max(1 - share, ZERO)
        lenient *= np.sqrt(self.workload * kept * share / free)
        slope = (chance * (1 - chance)).mean(axis=1)
        return lenient, self.favour_variance * slope**2 * share

    @property
    def favours_agents(self) -> bool:
        """Whether some annotators favour agents beyond chance."""
        return self.favour_p < MAX_FAVOUR_P

    @property
    def favour_share(self) -> float:
        """The variance of favours as estimated, over that with its noise; at most 1."""
        whole = self.favour_variance + self.favour_noise
        return self.favour_variance / whole if whole > 0 else 0.0


class _Counts(NamedTuple):
    """Verdicts by unit.

    Attributes:
      judged: float64[U, A, K].
      passed: float64[U, A, K], of these the successes.
      n: float64[A, K], sums of `judged`.
      x: float64[A, K], sums of `passed`.
      lumped: float64[A, K], 1 for a cell that a single unit makes, less the more units it has.
      grown: what makes good for deviations from means that contain the unit.
      df: cells that were judged, less those that ability and leniency take.
    """

    judged: np.ndarray
    passed: np.ndarray
    n: np.ndarray
    x: np.ndarray
    lumped: np.ndarray
    grown: float
    df: int

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
    for _ in range(_ROUNDS):
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
        fit=_Fit(
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
    noise = counts.grown * (noise - float(np.einsum("ui,ij,uj->", scores, inverse, scores)))
    leverage = weight * _add_variances(inverse, agents)
    # The deviations of a single unit are favour and noise in one.
    lost = (1 - reliability) ** 2 * counts.lumped / kept
    freedom = float((weight * (1 - leverage - lost)).sum())
    favour_variance = allowed = 0.0
    if counts.df and freedom > ZERO and counts.grown:
        favour_variance = max(0.0, (square - noise) / freedom)
        # None may be seen by chance, so one standard error of that is allowed for.
        allowed = favour_variance + noise / freedom * np.sqrt(2 / counts.df)
    errors = (scores @ inverse)[:, agents:]
    leniency_variance = _spread_leniency(
        free[agents:], errors, weight, favour_variance, counts.grown
    )

    weight = precision / (1 + allowed * precision)
    fitted, inverse = _solve(weight, response, max(leniency_variance, _LEAST_VARIANCE))
    reliability = allowed * precision / (1 + allowed * precision)
    following = _add(fitted, agents)
    following += reliability * np.where(seen, response - following, 0.0)
    return _Step(
        log_odds=np.clip(following, -_MAX_LOG_ODDS, _MAX_LOG_ODDS),
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


def _shift(log_odds: np.ndarray, owed: np.ndarray, passed: np.ndarray) -> np.ndarray:
    """Return float64[R, K], chances whose log odds are shifted so that `owed` of them passes."""
    shift = np.zeros(len(log_odds))
    for _ in range(_ROUNDS):
        chance = expit(log_odds + shift[:, None])
        slope = (owed * chance * (1 - chance)).sum(axis=1)
        step = divide(passed - (owed * chance).sum(axis=1), slope)
        shift = np.clip(shift + np.clip(step, -1.0, 1.0), -2 * _MAX_LOG_ODDS, 2 * _MAX_LOG_ODDS)
        if (np.abs(step) < _CONVERGED).all():
            break
    return np.asarray(expit(log_odds + shift[:, None]))


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
