"""One model of annotators: how lenient each is, and which agents each favours.

The log odds of a success among the verdicts of annotator k on agent a are

    ability_a + leniency_k + favour_ak,

with leniency and favour normal; `annotator_fit` fits them. Log odds are a scale on which a strict
annotator is as strict with an agent that nearly always succeeds as with one that succeeds half of
the time. Scenarios are no terms of the model. They make the noise of its fit.

Axes: A agents, S scenarios, K annotators, U units, R some of the agents.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from sts_analysis.statistics.estimate import ZERO, divide

LEAST_VARIANCE = 0.25
"""Variance of leniency that is allowed for at least: three annotators may seem alike by chance."""
MAX_LOG_ODDS = 12.0
MAX_FAVOUR_P = 0.01
"""Below this annotators are said to favour agents; with few verdicts in a cell p is rough."""
MAX_UNLINKED = 0.05
"""Share of a difference that annotators may have given who share no agent with the others."""
_STEPS, _CONVERGED = 50, 1e-7


class Judging(NamedTuple):
    """Contributions of annotators to values."""

    annotators: tuple[str, ...]  # K names, in alphabetical order
    # float64[A, S, K], of an agent's value in a scenario, what each annotator gave; sums to the
    # share of its continuations that people judged and no reviewer decided
    share: np.ndarray
    value: np.ndarray  # float64[A, S, K], verdicts (success 1) by the same shares
    judgements: np.ndarray  # float64[A, S, K], verdicts that each annotator gave, each once
    successes: np.ndarray  # float64[A, S, K], those that are a success


class Opinions(NamedTuple):
    """Opinions of annotators on R agents, at the level of their rates."""

    chance: np.ndarray  # float64[R, K], the share of successes that each annotator would see
    pool: np.ndarray  # float64[R], that of all of them, by workload
    gain: np.ndarray  # float64[R], by how much `pool` rises with the mean verdict
    # float64[R, U], what each unit adds to the error of `pool` by way of `chance`
    unit_errors: np.ndarray
    # float64[R, N], errors that no unit makes: what leniency and favour may be beyond their
    # estimates. Rows are subtracted for differences, as those of `unit_errors` are
    unknown: np.ndarray


class Fit(NamedTuple):
    """How log odds follow from the cells' working responses."""

    weight: np.ndarray  # float64[A, K], precision of a cell about ability + leniency
    reliability: np.ndarray  # float64[A, K], how far a cell's favour is believed
    inverse: np.ndarray  # float64[A + K, A + K], of the normal equations of ability and leniency
    deviations: np.ndarray  # float64[U, A, K], what each unit adds to the errors of the responses
    scores: np.ndarray  # float64[U, A + K], the same on the right side of the normal equations


class AnnotatorModel(NamedTuple):
    """The fitted model."""

    workload: np.ndarray  # float64[K], each annotator's share of all judgements
    # float64[A, K], of a success; favours are shrunk by how little a cell tells
    log_odds: np.ndarray
    leniency: np.ndarray  # float64[K], not shrunk; their mean by workload is 0
    leniency_errors: np.ndarray  # float64[U, K], what each unit adds to its error
    leniency_variance: float  # without noise
    favour_variance: float  # without noise
    allowed_variance: float  # of favours, what estimates allow for
    favour_noise: float  # variance of favours that noise alone would give
    favour_df: float  # degrees of freedom of favours with their noise
    favour_p: float  # of favours that are all 0; NaN if `favour_df` is below 1
    # int64[N, K], annotators linked through agents, in one row with all units, in others without
    # one unit that would part them
    groups: np.ndarray
    fit: Fit  # how `log_odds` were made

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
        lenient = np.sqrt(max(self.leniency_variance, LEAST_VARIANCE)) * drawn.sum(axis=1)
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


def _shift(log_odds: np.ndarray, owed: np.ndarray, passed: np.ndarray) -> np.ndarray:
    """Return float64[R, K], chances whose log odds are shifted so that `owed` of them passes."""
    shift = np.zeros(len(log_odds))
    for _ in range(_STEPS):
        chance = expit(log_odds + shift[:, None])
        slope = (owed * chance * (1 - chance)).sum(axis=1)
        step = divide(passed - (owed * chance).sum(axis=1), slope)
        shift = np.clip(shift + np.clip(step, -1.0, 1.0), -2 * MAX_LOG_ODDS, 2 * MAX_LOG_ODDS)
        if (np.abs(step) < _CONVERGED).all():
            break
    return np.asarray(expit(log_odds + shift[:, None]))
