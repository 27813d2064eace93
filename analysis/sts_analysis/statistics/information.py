"""How much of the information of the full plan a study judged in part has on each pair of agents.

Axes: A agents, S scenarios, P pairs of agents.
"""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics.estimate import ZERO, divide
from sts_analysis.statistics.rates import Comparisons
from sts_analysis.statistics.tabulation import Outcomes

BETWEEN = 0.25
"""Share of the variance of a difference, from one continuation a scenario, that lies between
scenarios: as `sts power` assumes, with an intraclass correlation of .4 and a correlation of .5."""

MAX_BEFORE_END = 0.99
"""Maximum share of a pair of which something waits to be judged, if labels are used."""


class Information(NamedTuple):
    """Each pair's share of the full plan's information."""

    share: np.ndarray  # float64[P], in [0, 1]; NaN for a pair without scenarios in common
    # bool[P], it is from the data; otherwise no agent of the pair has two continuations in a
    # scenario yet, and its variance between scenarios is assumed
    known: np.ndarray


def measure_information(
    outcomes: Outcomes, pairs: Comparisons, people: Comparisons | None = None
) -> Information:
    """Measure each pair's share: the variance of its difference at the full plan over that of now.

    More continuations reduce only the variance within scenarios, so one of ten is far more than a
    tenth. What an agent's continuations vary within scenarios is pooled over these.

    Args:
      outcomes: of a study judged in rounds; all continuations that exist are planned.
      pairs: of its agents.
      people: the same pairs by people's verdicts alone, if `pairs` also use labels, which add
        nothing at the full plan.
    """
    made = outcomes.continuations
    planned = made.tally(made.agent >= 0, outcomes.value.shape)
    judged, within = outcomes.judged, _vary_within(outcomes)
    first, second = pairs.first, pairs.second

    def sum_joint(values: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return float64[A, A], each agent's sum over scenarios that the other has, too."""
        return np.where(known, values, 0.0) @ known.T.astype(np.float64)

    joint, wanted = np.isfinite(outcomes.value), planned > 0
    counts = [sum_joint(known, known)[first, second] for known in (joint, wanted)]
    sums = [
        sum_joint(divide(1.0, number), known)
        for number, known in ((judged, joint), (planned, wanted))
    ]
    now, scenarios = (people or pairs).se ** 2, divide(*counts)

    def add(variance: np.ndarray) -> list[np.ndarray]:
        """Return the variance within scenarios, float64[A], of each pair: now, and at the end."""
        each = [variance[:, None] * one for one in sums]
        pairs = zip(each, counts, strict=True)
        return [divide(x[first, second] + x[second, first], number**2) for x, number in pairs]

    parts, equal = add(within), add(np.ones(len(within)))
    known = np.isfinite(parts[0])
    assumed = (1 - BETWEEN) * now
    parts = [
        np.where(known, part, assumed * divide(each, equal[0]))
        for part, each in zip(parts, equal, strict=True)
    ]
    later = np.maximum(now - parts[0], 0.0) * scenarios + parts[1]
    present = np.maximum(now, parts[0])
    if people:  # where a variance is assumed, that labels add information would be so, too
        present = np.where(known, pairs.se**2, present)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = later / present
    # Without an error, as of an agent that always succeeds and one that never does, it is the share
    # of continuations: the least that it can be.
    made_now, made_later = (
        total[first, second] + total[second, first]
        for total in (sum_joint(judged, joint), sum_joint(planned, wanted))
    )
    share = np.where(now > 0, share, divide(made_now, made_later))
    share[np.isnan(now) | (counts[0] == 0)] = np.nan
    # With labels, estimates of both variances may be equal by chance while something waits.
    waits = (scenarios < 1) | (equal[0] > (1 + ZERO) * equal[1])
    most = np.where(waits & (people is not None), MAX_BEFORE_END, 1.0)
    return Information(np.clip(share, 0.0, most), known)


def vary_within_pairs(outcomes: Outcomes, pairs: Comparisons) -> tuple[np.ndarray, int]:
    """Measure what continuations add to the variance of each difference, on shared scenarios.

    Returns:
      float64[P], NaN if an agent of the pair has no two continuations in a scenario; and the
      degrees of freedom of all agents together.
    """
    known = np.isfinite(outcomes.value)
    number = known.astype(np.float64)
    each = divide(1.0, outcomes.judged) * known @ number.T  # over scenarios that the other has
    count = (number @ number.T)[pairs.first, pairs.second]
    within = _vary_within(outcomes)
    sums = (within[:, None] * each)[pairs.first, pairs.second]
    sums = sums + (within[:, None] * each)[pairs.second, pairs.first]
    free = np.maximum(outcomes.judged - 1, 0).sum()
    return np.where(count > 0, divide(sums, count**2), np.nan), int(free)


def _vary_within(outcomes: Outcomes) -> np.ndarray:
    """Return float64[A], the variance of continuations within scenarios; NaN if none has two."""
    made, shape = outcomes.continuations, outcomes.value.shape
    known = np.isfinite(made.y)
    number, total = made.tally(known, shape), made.tally(known, shape, made.y)
    squares = made.tally(known, shape, made.y**2) - divide(total**2, number)
    free = np.maximum(number - 1, 0).sum(axis=1)
    return np.asarray(np.where(free > 0, divide(squares.sum(axis=1), free), np.nan))
