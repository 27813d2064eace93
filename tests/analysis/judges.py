"""Seeded worlds of people who judge: who judged whom, how well, and what they said.

Axes: A agents, S scenarios, N continuations, K annotators.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from sts_analysis.statistics.judgement_shares import Shares
from sts_analysis.statistics.outcomes import Summary, summarise


class Judged(NamedTuple):
    """One study: what came of it, and what is true.

    Attributes:
      shares: by annotator.
      summary: of the verdicts.
      chance: float64[A, S], of a true success.
    """

    shares: Shares
    summary: Summary
    chance: np.ndarray


def chances(
    rng: np.random.Generator, shape: tuple[int, int], *, rate: float, icc: float, equal: bool
) -> np.ndarray:
    """float64[A, S] of beta-distributed chances; the same for all agents if `equal`."""
    weight = (1 - icc) / icc
    drawn = rng.beta(rate * weight, (1 - rate) * weight, size=(1, shape[1]) if equal else shape)
    return np.broadcast_to(drawn, shape)


def judge(
    rng: np.random.Generator,
    chance: np.ndarray,
    who: np.ndarray,
    sensitivity: np.ndarray,
    specificity: np.ndarray,
) -> Judged:
    """Plays and judges one study.

    Args:
      rng: of all that happens.
      chance: float64[A, S].
      who: int64[A, S, N], who judges each continuation.
      sensitivity: float64[K].
      specificity: float64[K].
    """
    truth = rng.random(who.shape) < chance[..., None]
    success = rng.random(who.shape) < np.where(truth, sensitivity[who], 1 - specificity[who])
    values = success.astype(np.float64)
    people = len(sensitivity)
    each = who[..., None] == np.arange(people)
    share = each.mean(axis=2)
    value = (each * values[..., None]).mean(axis=2)
    return Judged(Shares(tuple(map(str, range(people))), share, value), summarise(values), chance)


def assigned(
    rng: np.random.Generator, shape: tuple[int, int, int], first: tuple[float, ...]
) -> np.ndarray:
    """int64[A, S, N] of 0 or 1: annotator 0 judges a share of each agent's continuations."""
    drawn = rng.random(shape) >= np.array(first)[:, None, None]
    who: np.ndarray = drawn.astype(np.int64)
    return who


def population(
    rng: np.random.Generator, people: int, *, middle: float = 2.2, spread: float = 1.0
) -> np.ndarray:
    """float64[K] of sensitivities or specificities, normal on the logit scale."""
    drawn: np.ndarray = expit(rng.normal(middle, spread, people))
    return drawn
