"""Exact sign flips: what a few scenarios say of a paired difference."""

import numpy as np

MOST = 14
"""Scenarios whose sign patterns can be enumerated."""


def sign_flip(parts: np.ndarray) -> float:
    """Two-sided p that a paired difference is 0, by flipping the sign of each scenario's part.

    All 2^S sign patterns count; 1.0 if every part is 0.

    Args:
      parts: float64[S], each scenario's difference times its weight; S is at most `MOST`.

    Source: Fisher 1935, The Design of Experiments, section 21.
    """
    moving = parts[parts != 0]
    sums = _subset_sums(moving) * 2 - moving.sum()
    return float(np.mean(np.abs(sums) >= abs(moving.sum()) * (1 - 1e-9)))


def sign_flip_interval(
    values: np.ndarray, weights: np.ndarray, alpha: float
) -> tuple[float, float]:
    """All differences that `sign_flip` does not reject at level alpha, within [-1, 1].

    A shift by d turns the parts into weights (values - d). The patterns that then reach further
    than what is seen are those whose flipped scenarios have a weighted mean beyond d, so the ends
    are order statistics of the weighted means of all sets of scenarios. With so few scenarios that
    no pattern is rare enough, an end is -1 or 1.

    Args:
      values: float64[S], each scenario's difference, S at most `MOST`.
      weights: float64[S], above 0.
      alpha: above 0.

    Source: Fisher's test inverted: Lehmann and Romano 2005, Testing Statistical Hypotheses, section
      5.12; Hartigan 1969, J. Am. Stat. Assoc. 64:1303, for the means of sets.
    """
    # Rounded, as a mean of 0 must not fall to either side by an ulp.
    means = np.sort(_subset_sums(weights * values)[1:] / _subset_sums(weights)[1:]).round(12)
    # The set of none reaches as far as any; beside it so many may lie beyond an end.
    spare = int(np.ceil(alpha / 2 * 2 ** len(values) - 1e-9)) - 1
    if spare < 1:
        return -1.0, 1.0
    return float(max(means[spare - 1], -1.0)), float(min(means[-spare], 1.0))


def _subset_sums(parts: np.ndarray) -> np.ndarray:
    """float64[2^S], the sum of every set of parts, that of none first."""
    sums = np.zeros(1)
    for part in parts:
        sums = np.concatenate([sums, sums + part])
    return sums
