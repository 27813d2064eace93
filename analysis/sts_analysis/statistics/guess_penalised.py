"""Pass rates in which guessing scores 0: how far an agent comes from a blind one to a perfect one.

Source: Abramson et al. 2022, section 7, which leaves a score that penalises guessing for later.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sts_analysis.statistics import intervals, sampling
from sts_analysis.statistics.continuation_error import continuation_error
from sts_analysis.statistics.outcomes import Summary

MOST_GUESSED = 0.8
"""Pass rate of a blind agent above which a category tells guessing and knowing no longer apart."""


class Penalised(NamedTuple):
    """An agent's score beside a blind one; None where there is none.

    Attributes:
      value: mean over scenarios of (p_c - g_c) / (1 - g_c), c a scenario's category; 1 is perfect,
        0 is as the blind agent, below 0 is worse.
      standard_error: of the value.
      interval: 95%, not clipped.
      method: of the interval, or why there is none.
      scenarios: that both were judged on, in categories that count.
      blank: categories that the blind agent passes too often, or that they do not share.
    """

    value: float | None
    standard_error: float | None
    interval: tuple[float, float] | None
    method: str
    scenarios: int
    blank: tuple[str, ...]


def guess_penalised(
    summary: Summary,
    category: np.ndarray,
    names: Sequence[str],
    *,
    agent: int,
    blind: int,
    target: str,
    unit: np.ndarray | None = None,
) -> Penalised:
    """The score of one agent, on the scenarios that the blind one was judged on too.

    The error is that of the score's linear form in both rates of each scenario, so what is hard
    for the blind agent and for this one together counts as such.

    Args:
      summary: [A, S].
      category: int64[S].
      names: of the categories.
      agent: whose row.
      blind: the blind agent's row.
      target: "sampled" or "fixed".
      unit: of `sampling.units`.

    Source: correction for guessing: Abbott 1925, J. Econ. Entomol. 18:265; delta method: Oehlert
      1992, Am. Stat. 46:27.
    """
    both = (summary.number[agent] > 0) & (summary.number[blind] > 0)
    p, g = (np.where(both, summary.mean[row], 0.0) for row in (agent, blind))
    size = np.bincount(category, weights=both, minlength=len(names))
    own, guessed = (
        np.bincount(category, weights=part, minlength=len(names)) / np.maximum(size, 1)
        for part in (p, g)
    )
    counts = (size > 0) & (guessed <= MOST_GUESSED)
    blank = tuple(name for name, kept in zip(names, counts, strict=True) if not kept)
    used = both & counts[category]
    if not used.any():
        why = f"the blind agent passes over {MOST_GUESSED:.0%}, or was not judged, everywhere"
        return Penalised(None, None, None, why, 0, blank)
    weights = sampling.scenario_weights(used[None], category)
    room = np.where(counts, 1 - guessed, 1.0)[category]
    of_p, of_g = 1 / room, (1 - own[category]) / room**2
    score = float(np.round((weights[0] * (p - g) / room).sum(), 12))
    if agent == blind:
        return Penalised(0.0, 0.0, (0.0, 0.0), "it is the blind agent", int(used.sum()), blank)
    if target == "fixed":
        error = np.hypot(
            *(
                continuation_error(_row(summary, row), weights * load)[0]
                for row, load in ((agent, of_p), (blind, of_g))
            )
        )
        df = np.array([np.inf])
    else:
        codes = sampling.strata(used[None], category, unit)
        linear = (of_p * p - of_g * g)[None]
        _, error, df = sampling.sampling_spread(linear, weights, codes, unit)
    if not error[0] > 0:
        why = "no spread is seen" if error[0] == 0 else "the spread is not known"
        return Penalised(score, None, None, why, int(used.sum()), blank)
    low, high = intervals.student(np.array([score]), error, df)[0]
    words = "normal, continuations" if target == "fixed" else f"stratified t, {df[0]:.1f} df"
    ends = (float(low), min(float(high), 1.0))
    return Penalised(score, float(error[0]), ends, words, int(used.sum()), blank)


def _row(summary: Summary, row: int) -> Summary:
    return Summary(summary.number[[row]], summary.mean[[row]], summary.spread[[row]])
