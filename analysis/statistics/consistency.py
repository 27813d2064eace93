"""How alike an agent's continuations of one scenario are: chances that k of them succeed.

Source: Abramson et al. 2022, section 5.2 and appendix A.5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.statistics import sampling
from analysis.statistics.icc import intraclass_correlation


class Consistency(NamedTuple):
    """One agent's consistency across continuations; None where it cannot be known.

    Attributes:
      icc: intraclass correlation of its continuations.
      interval: of the icc.
      agreement: chance that two continuations of one scenario end alike.
      pass_hat_k: for k = 1, 2, ...: chance that all of k continuations succeed.
      pass_at_k: chance that at least one of k does.
      k_scenarios: scenarios with k judged continuations, which the two above rest on; k goes on
        while they are at least half of the judged scenarios.
      reason: why the icc or its interval is None.
    """

    icc: float | None
    interval: tuple[float, float] | None
    agreement: float | None
    pass_hat_k: dict[int, float]
    pass_at_k: dict[int, float]
    k_scenarios: dict[int, int]
    reason: str | None


def consistency(values: np.ndarray, category: np.ndarray) -> Consistency:
    """Consistency of one agent over its judged scenarios.

    Args:
      values: float64[S, N], NaN gaps; y of each continuation.
      category: int64[S].
    """
    judged = np.isfinite(values).sum(axis=1)
    icc, interval, reason = intraclass_correlation(values)
    hat: dict[int, float] = {}
    at: dict[int, float] = {}
    used: dict[int, int] = {}
    deepest = int(judged.max(initial=0))
    wins, losses = np.zeros((2, len(values), deepest))
    for n in np.unique(judged).tolist():  # those with as many gaps together
        rows = values[judged == n]
        rows = rows[np.isfinite(rows)].reshape(len(rows), n)
        wins[judged == n, :n], losses[judged == n, :n] = all_succeed(rows), all_succeed(1 - rows)
    for k in range(1, deepest + 1):
        enough = judged >= k
        if 2 * enough.sum() < (judged > 0).sum():
            break
        weights = sampling.scenario_weights(enough[None, :], category)[0][enough]
        hat[k] = float(weights @ wins[enough, k - 1])
        at[k] = 1 - float(weights @ losses[enough, k - 1])
        used[k] = int(enough.sum())
    agreement = hat[2] + 1 - at[2] if 2 in hat else None
    return Consistency(icc, interval, agreement, hat, at, used, reason)


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
