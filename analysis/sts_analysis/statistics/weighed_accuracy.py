"""How often those who judged an agent answer rightly, each weighed by the share they judged."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

DRAWN_ALIKE = 3.0
"""Episodes' worth of belief that all answers to one episode err together."""


class Share(NamedTuple):
    """A share of right answers on reference episodes of one kind.

    Attributes:
      value: each annotator's share, weighed by how much of the agent they judged.
      trials: the number of independent answers that would be as sure.
      episodes: how many there are.
      borrowed: weight of annotators who answered none, and count as the others do together.
    """

    value: float
    trials: float
    episodes: int
    borrowed: float


def weighed_share(
    right: np.ndarray, annotator: np.ndarray, episode: np.ndarray, weights: Mapping[str, float]
) -> Share | None:
    """The share of right answers that whoever judged an agent gives; None without any answer.

    Several people's answers to one episode are no independent trials, since what is hard to see is
    so for all. So the error is that of episodes drawn anew (linearised). With few episodes this
    error is itself uncertain, and is drawn towards the one of answers that are all alike.

    Args:
      right: bool[N], of each answer.
      annotator: str[N], whose.
      episode: [N], to what.
      weights: of those who judged, sum 1.

    Source: Cochran 1977, Sampling Techniques, chapter 9, for clusters; Kish 1965, Survey Sampling,
      section 11.7, for the number of answers that unequal weights are worth at most.
    """
    if not len(right):
        return None
    people, who = np.unique(annotator, return_inverse=True)
    _, place = np.unique(episode, return_inverse=True)
    weight = np.array([weights.get(str(name), 0.0) for name in people])
    answers = np.bincount(who)
    borrowed = max(1 - float(weight.sum()), 0.0)
    weight = weight + borrowed * answers / answers.sum()
    each = np.bincount(who, weights=right) / answers
    value = float(np.clip(round(float(weight @ each), 12), 0.0, 1.0))
    count = int(place.max()) + 1
    off = np.bincount(place, weights=weight[who] / answers[who] * (right - each[who]))
    variance = count / max(count - 1, 1) * float((off**2).sum())
    alike = value * (1 - value) / count
    variance = (count * variance + DRAWN_ALIKE * alike) / (count + DRAWN_ALIKE)
    seen = alike > 0 and (off != 0).any()
    most = float(1 / (weight**2 / answers).sum())
    trials = value * (1 - value) / variance if seen else float(count)
    return Share(value, float(np.clip(trials, 1.0, max(most, 1.0))), count, borrowed)


def judged_by(rows: pd.DataFrame, weights: np.ndarray) -> tuple[dict[str, float], float]:
    """How much of an agent's rate each annotator has judged, and how much a rule has settled.

    Args:
      rows: an agent's judgements that count, with `continuation`, `annotator` and `source`.
      weights: float64[rows], how much the continuation of each weighs in the agent's rate.

    Returns:
      Shares by annotator, sum 1 (none where a rule settled all), and the settled share.
    """
    _, which, times = np.unique(rows["continuation"], return_inverse=True, return_counts=True)
    part = weights / times[which]
    settled = (rows["source"] == "settled").to_numpy()
    total = float(part.sum())
    said = float(part[~settled].sum())
    code, people = pd.factorize(rows["annotator"].to_numpy()[~settled], sort=True)
    shares = np.bincount(code, part[~settled], len(people)) / max(said, 1e-300)
    by_name = {str(name): float(share) for name, share in zip(people, shares, strict=True)}
    return by_name, 0.0 if total <= 0 else 1 - said / total
