"""Exact or random sign flips: a p value of few scenarios."""

from __future__ import annotations

import itertools

import numpy as np


def sign_flip(parts: np.ndarray, rng: np.random.Generator, *, draws: int = 20_000) -> float:
    """Two-sided p that a paired difference is 0, by flipping the sign of each scenario's part.

    Exact up to 2^14 sign patterns, else from `draws` random ones. 1.0 if every part is 0.

    Args:
      parts: float64[S], each scenario's difference times its weight.
      rng: for more scenarios than can be enumerated.
      draws: how many random patterns then.

    Source: Fisher 1935, The Design of Experiments, section 21.
    """
    moving = parts[parts != 0]
    observed = abs(moving.sum())
    if moving.size <= 14:
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=moving.size)))
        sums = np.abs(signs.reshape(2**moving.size, moving.size) @ moving)
        return float(np.mean(sums >= observed * (1 - 1e-9)))
    signs = rng.integers(0, 2, size=(draws, moving.size)) * 2.0 - 1.0
    return float((1 + np.sum(np.abs(signs @ moving) >= observed * (1 - 1e-9))) / (draws + 1))
