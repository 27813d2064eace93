"""Pass rates corrected for misclassification by annotators, measured on reference episodes.

Source: Rogan and Gladen 1978, Am. J. Epidemiol. 107:71; interval: Lang and Reiczigel 2014, Prev.
Vet. Med. 113:13, with Satterthwaite's degrees of freedom.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.means import estimate_means, weigh_rows
from sts_analysis.statistics.tabulation import UNCOUNTED, Outcomes, encode

MIN_YOUDEN = 0.3
"""What the interval of Se + Sp - 1, the divisor, must not reach below."""
MAX_BORROWED = 0.5
"""Share of a rate that annotators without references may have given."""


class CorrectedRates(NamedTuple):
    """Corrected pass rates of A agents; NaN where unknown."""

    value: np.ndarray  # float64[A], in [0, 1]
    interval: np.ndarray  # float64[A, 2]
    clipped: np.ndarray  # bool[A], whether the value lay outside
    # float64[A], of the annotators of each agent, weighed by what they judged
    sensitivity: np.ndarray
    specificity: np.ndarray  # float64[A]
    # float64[A], share of the rate from annotators without references, whose accuracy is taken to
    # be that of the others
    borrowed: np.ndarray
    reasons: tuple[str, ...]  # A of why the rate is unknown, or ""


class Share(NamedTuple):
    """An estimated share."""

    value: float  # the share
    se: float  # its standard error
    df: float  # degrees of freedom of the error
    units: int  # units that it rests on; trials where no error is seen
    most: float = np.inf  # the most independent trials that it can be worth

    @property
    def trials(self) -> float:
        """The number of independent trials that would have this error."""
        spread = self.value * (1 - self.value)
        seen = spread > est.ZERO and self.se > 0
        trials = spread / self.se**2 if seen else float(self.units)
        return min(max(trials, 1.0), self.most)

    @property
    def interval(self) -> np.ndarray:
        """float64[2]."""
        error = np.sqrt(self.value * (1 - self.value) / self.trials)
        return est.rate_intervals(np.array(self.value), np.array(error), self.df, self.units)


def correct_rates(outcomes: Outcomes, references: pd.DataFrame) -> CorrectedRates:
    """Correct the plain rate of each agent for the errors of those who judged it.

    The verdicts of reviewers and of a rule that resolved continuations are taken to be right.

    Args:
      outcomes: of people's labels.
      references: rows of people in a checked ratings table that have a truth, each answer once.
    """
    agents = len(outcomes.agents)
    value, se, sp, borrowed = np.full((4, agents), np.nan)
    interval, clipped = np.full((agents, 2), np.nan), np.zeros(agents, bool)
    reasons = ["the annotators are not known"] * agents
    result = CorrectedRates(value, interval, clipped, se, sp, borrowed, tuple(reasons))
    if outcomes.judging is None:
        return result
    plain = estimate_means(outcomes.value, outcomes.category, outcomes.unit)
    weights = weigh_rows(np.isfinite(outcomes.value), outcomes.category, outcomes.unit)
    given = np.einsum("as,ask->ak", weights, outcomes.judging.share)
    passed = np.einsum("as,ask->a", weights, outcomes.judging.value)
    kinds = _split_answers(references, outcomes.judging.annotators)
    for a in range(agents):
        people = given[a].sum()
        reasons[a] = "no annotator judged it" if plain.units[a] else "nothing judged"
        if people <= est.ZERO:
            continue
        if not all(len(right) for right, _, _ in kinds):
            reasons[a] = "needs reference episodes of success and of failure"
            continue
        (sensitivity, borrowed_se), (specificity, borrowed_sp) = (
            _weigh_answers(*answers, given[a] / people) for answers in kinds
        )
        se[a], sp[a] = sensitivity.value, specificity.value
        borrowed[a] = max(borrowed_se, borrowed_sp)
        least = _youden_low(sensitivity, specificity)
        if borrowed[a] > MAX_BORROWED:
            reasons[a] = f"{borrowed[a]:.0%} was judged by annotators without reference episodes"
        elif least < MIN_YOUDEN:
            reasons[a] = f"sensitivity + specificity - 1 may be {least:.2f}, below {MIN_YOUDEN}"
        else:
            # Only what annotators gave can be wrong; the rest of the rate is added again below.
            apparent = float(np.clip(passed[a] / people, 0.0, 1.0))
            error = float(plain.se[a]) / people
            rate = Share(apparent, error, float(plain.df[a]), int(plain.units[a]))
            corrected = correct_share(rate, sensitivity, specificity)
            inside = np.clip(corrected, 0.0, 1.0)
            right = plain.value[a] - passed[a]
            value[a], *interval[a] = np.clip(right + people * inside, 0.0, 1.0)
            clipped[a], reasons[a] = inside[0] != corrected[0], ""
    return result._replace(reasons=tuple(reasons))


def correct_share(rate: Share, sensitivity: Share, specificity: Share) -> np.ndarray:
    """Correct an apparent share of successes: value, lower and upper end, float64[3], unclipped."""
    youden = sensitivity.value + specificity.value - 1
    value = (rate.value + specificity.value - 1) / youden
    quantile = float(est.quantile(_find_df(rate, sensitivity, specificity, value)))
    square = quantile**2
    # As in Lang and Reiczigel: z^2 more trials of the rate, half of them successes, and a right and
    # a wrong answer more to each kind of reference, which keep the errors above 0 at 0 and 1.
    n, n_se, n_sp = rate.trials + square, sensitivity.trials + 2, specificity.trials + 2
    p = (rate.value * rate.trials + square / 2) / n
    se = (sensitivity.value * sensitivity.trials + 1) / n_se
    sp = (specificity.value * specificity.trials + 1) / n_sp
    adjusted = (p + sp - 1) / (se + sp - 1)
    noise_se, noise_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * square * (adjusted * noise_se - (1 - adjusted) * noise_sp)
    spread = np.sqrt(p * (1 - p) / n + adjusted**2 * noise_se + (1 - adjusted) ** 2 * noise_sp)
    half = quantile * spread / (se + sp - 1)
    return np.array([value, adjusted + shift - half, adjusted + shift + half])


def _split_answers(
    references: pd.DataFrame, annotators: tuple[str, ...]
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return bool[N], int64[N] (who), int64[N] (episode) of answers to successes, and to others."""
    rows = references[~references["verdict"].isin(UNCOUNTED).to_numpy()]
    true = (rows["truth"] == "success").to_numpy()
    right = (rows["verdict"] == "success").to_numpy() == true
    who = encode(rows["annotator"], annotators)
    episode = np.unique(rows["continuation"], return_inverse=True)[1]
    return [(right[kind], who[kind], episode[kind]) for kind in (true, ~true)]


def _weigh_answers(
    right: np.ndarray, who: np.ndarray, episode: np.ndarray, shares: np.ndarray
) -> tuple[Share, float]:
    """Return the share of right answers, and the share of judges without answers.

    Args:
      right: bool[N], which of the answers are.
      who: int64[N].
      episode: int64[N].
      shares: float64[K], how much of a rate each annotator gave; sums to 1.
    """
    people, person = np.unique(who, return_inverse=True)
    number = np.bincount(person)
    share = np.where(people >= 0, shares[people], 0.0)
    borrowed = max(0.0, 1 - float(share.sum()))
    # Annotators without answers are taken to be as accurate as all answers together.
    share = share + borrowed * number / number.sum()
    each = (share / number)[person]
    weighting = est.weigh(each > 0, person, episode, each)
    mean = est.estimate(right[None].astype(np.float64), weighting)
    # Kish's effective number of answers is the most that unequal weights leave.
    value, trials = float(np.clip(mean.value[0], 0.0, 1.0)), float(1 / (each**2).sum())
    return Share(value, float(mean.se[0]), mean.df, mean.units, trials), borrowed


def _youden_low(sensitivity: Share, specificity: Share) -> float:
    """Return the lower end of Se + Sp - 1 (Zou and Donner 2008, Stat. Med. 27:1693)."""
    below = [share.value - share.interval[0] for share in (sensitivity, specificity)]
    return float(sensitivity.value + specificity.value - 1 - np.hypot(*below))


def _find_df(rate: Share, sensitivity: Share, specificity: Share, value: float) -> float:
    """Return the degrees of freedom of the three parts of the error together."""
    passed = float(np.clip(value, 0.0, 1.0))
    # Derivatives of the corrected rate, times Se + Sp - 1, which cancels in Satterthwaite's ratio.
    loads = (rate, 1.0), (sensitivity, passed), (specificity, 1 - passed)
    parts = [(load**2 * s.value * (1 - s.value) / s.trials, s.df) for s, load in loads]
    total = sum(noise for noise, _ in parts)
    below = sum(noise**2 / df for noise, df in parts)
    return total**2 / below if below > 0 else rate.df
