"""Weights of judged continuations in a study that is judged in part, and not in rounds.

Continuations that look alike share a clip, and are judged with it. So those that happen to be
judged are no random part of an agent's: a clip of nine is as likely to be drawn as a clip of one,
and counts nine times.

Axes: A agents, S scenarios, C continuations.
"""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics.estimate import divide


class Copies(NamedTuple):
    """Weights of judged continuations, if the judged clips were drawn at random."""

    # float64[C], one over the share of clips seen of its agent and category; 1 for a continuation
    # that needed no annotator
    weight: np.ndarray
    differ: bool  # whether one agent's continuations share clips more than another's


def weigh_copies(
    agent: np.ndarray, category: np.ndarray, clip: np.ndarray, known: np.ndarray, auto: np.ndarray
) -> Copies:
    """Weigh the continuations of a study whose judged clips were drawn at random.

    Args:
      agent: int64[C].
      category: int64[C].
      clip: int64[C].
      known: bool[C], as for `find_reached`.
      auto: bool[C], it needs no annotator.
    """
    group = agent * (category.max() + 1) + category
    size = group.max() + 1

    def count_clips(chosen: np.ndarray) -> np.ndarray:
        """Count the distinct clips of each group among these continuations, bool[C]."""
        return np.bincount(np.unique(np.stack([group, clip])[:, chosen], axis=1)[0], minlength=size)

    clips = count_clips(~auto)
    weight = np.where(auto, 1.0, divide(clips, count_clips(known & ~auto))[group])
    of_agent = np.arange(size) // (category.max() + 1)
    shared = divide(np.bincount(agent[~auto]), np.bincount(of_agent, clips))
    return Copies(weight, bool(np.ptp(shared[shared > 0]) > 0))


class Spread(NamedTuple):
    """Values that count by weight: `value` is `centre` plus `factor` times what it was less that.

    All are float64[A, S]; values may leave [0, 1].
    """

    value: np.ndarray
    centre: np.ndarray
    factor: np.ndarray


def spread_by_weight(value: np.ndarray, weight: np.ndarray, category: np.ndarray) -> Spread:
    """Make the plain mean over scenarios the mean over all that they stand for.

    The ratio of two sums, of values times weights and of weights, is linearised about its value in
    each category, so that its sampling error is that of the mean, too. Source: Hajek 1971, comment
    in Foundations of Statistical Inference; Sarndal et al. 1992, section 5.7.

    Args:
      value: float64[A, S], NaN where nothing is judged.
      weight: float64[A, S], what the value of a scenario stands for.
      category: int64[S].
    """
    member = (category[:, None] == np.arange(category.max() + 1)).astype(np.float64)
    known = np.isfinite(value)
    weight = np.where(known, weight, 0.0)
    total = weight @ member
    centre = divide((weight * np.nan_to_num(value)) @ member, total)[:, category]
    factor = divide(weight, divide(total, known @ member)[:, category])
    return Spread(centre + factor * (value - centre), centre, factor)
