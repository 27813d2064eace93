"""How alike an agent's continuations of one scenario are: chances that k of them succeed.

Source: Abramson et al. 2022, section 5.2 and appendix A.5.
"""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics import intervals, sampling
from sts_analysis.statistics.icc import intraclass_correlation


class Consistency(NamedTuple):
    """One agent's consistency across continuations; None where it cannot be known.

    Intervals are for sampled scenarios.

    Attributes:
      icc: intraclass correlation of its continuations, over all scenarios.
      interval: of the icc.
      agreement: chance that two continuations of one scenario end alike.
      pass_hat_k: for k = 1, 2, ...: chance that all of k continuations succeed.
      pass_at_k: chance that at least one of k does.
      k_scenarios: scenarios with k judged continuations, which the two above rest on; k goes on
        while they are at least half of the judged scenarios.
      reason: why the icc or its interval is None.
      agreement_interval: of the agreement, which rests on k_scenarios of 2.
      pass_hat_k_intervals: by k.
      pass_at_k_intervals: by k.
      scenarios: judged ones, which the icc rests on.
    """

    icc: float | None
    interval: tuple[float, float] | None
    agreement: float | None
    pass_hat_k: dict[int, float]
    pass_at_k: dict[int, float]
    k_scenarios: dict[int, int]
    reason: str | None
    agreement_interval: tuple[float, float] | None
    pass_hat_k_intervals: dict[int, tuple[float, float]]
    pass_at_k_intervals: dict[int, tuple[float, float]]
    scenarios: int


def consistency(
    values: np.ndarray, category: np.ndarray, unit: np.ndarray | None = None
) -> Consistency:
    """Consistency of one agent over its judged scenarios.

    Args:
      values: float64[S, N], NaN gaps; y of each continuation.
      category: int64[S].
      unit: of `sampling.units`.
    """
    judged = np.isfinite(values).sum(axis=1)
    icc, interval, reason = intraclass_correlation(values)
    used: dict[int, int] = {}
    deepest = int(judged.max(initial=0))
    wins, losses = np.zeros((2, len(values), deepest))
    for n in np.unique(judged).tolist():  # those with as many gaps together
        rows = values[judged == n]
        rows = rows[np.isfinite(rows)].reshape(len(rows), n)
        wins[judged == n, :n], losses[judged == n, :n] = all_succeed(rows), all_succeed(1 - rows)
    for k in range(1, deepest + 1):
        used[k] = int((judged >= k).sum())
        if 2 * used[k] < (judged > 0).sum():
            del used[k]
            break
    ks = list(used)
    enough = judged >= np.array(ks)[:, None] if ks else np.zeros((0, len(values)), bool)
    hat, hat_ends = _means(wins.T[: len(ks)], enough, category, unit)
    at, at_ends = _means(1 - losses.T[: len(ks)], enough, category, unit)
    alike, alike_ends = _means((wins + losses).T[1:2], enough[1:2], category, unit)
    return Consistency(
        icc=icc,
        interval=interval,
        agreement=alike[0] if alike else None,
        pass_hat_k=dict(zip(ks, hat, strict=True)),
        pass_at_k=dict(zip(ks, at, strict=True)),
        k_scenarios=used,
        reason=reason,
        agreement_interval=alike_ends[0] if alike_ends else None,
        pass_hat_k_intervals=dict(zip(ks, hat_ends, strict=True)),
        pass_at_k_intervals=dict(zip(ks, at_ends, strict=True)),
        scenarios=int((judged > 0).sum()),
    )


def _means(
    chances: np.ndarray, used: np.ndarray, category: np.ndarray, unit: np.ndarray | None
) -> tuple[list[float], list[tuple[float, float]]]:
    """Means over scenarios of each row of chances, and their intervals as for a pass rate.

    Args:
      chances: float64[R, S].
      used: bool[R, S].
      category: int64[S].
      unit: of `sampling.units`.
    """
    if not len(used):
        return [], []
    weights = sampling.scenario_weights(used, category)
    mean = np.clip(np.round(sampling.weighted_mean(chances, weights), 12), 0.0, 1.0)
    codes = sampling.strata(used, category, unit)
    spread = sampling.sampling_spread(chances, weights, codes, unit)
    ends, _ = intervals.of_mean(mean, spread.error, spread.df, sampling.distinct(used, unit))
    return mean.tolist(), [(float(low), float(high)) for low, high in ends]


def all_succeed(values: np.ndarray) -> np.ndarray:
    """Chance that k continuations drawn from these n all succeed, for k = 1 .. n.

    For k successes in n this is C(successes, k) / C(n, k), which is unbiased; the plug-in
    (successes / n)^k is not. Fractional values (split annotators) enter as chances: the mean
    product over all subsets of k.

    Args:
      values: float64[..., n], each in [0, 1].

    Returns:
      float64[..., n].

    Source: Chen et al. 2021 (arXiv 2107.03374), equation 1, for pass@k; Yao et al. 2024 (arXiv
      2406.12045), section 3.3, for pass^k.
    """
    n = values.shape[-1]
    means = np.zeros((*values.shape[:-1], n + 1))
    means[..., 0] = 1.0
    for seen in range(1, n + 1):
        # The mean over subsets of k among `seen` values: those without the new one, those with it.
        share, value = np.arange(1, seen + 1) / seen, values[..., seen - 1, None]
        without, joined = means[..., 1 : seen + 1] * (1 - share), value * means[..., :seen] * share
        means[..., 1 : seen + 1] = without + joined
    return means[..., 1:]
