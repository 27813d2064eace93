"""How much work is left, with an interval that knows how people and days differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from scipy.special import stdtrit

from sts.annotations.members import Work

MIN_DAYS = 5
"""Days of people at work below which nothing is estimated."""
CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """Active hours that the judgements left will take, with the ends of their interval."""

    hours: float
    low: float
    high: float


def estimate_hours(left: int, work: Sequence[Work]) -> Estimate | None:
    """Return the hours that `left` judgements take, or None while there is too little to say.

    The time of a judgement is the ratio of all seconds to all clips. What one person does on one
    day hangs together, so its error is the jackknife's over these, with Student's t.
    """
    days = [one for one in work if one.judged and one.seconds > 0]
    if len(days) < MIN_DAYS or left <= 0:
        return None
    seconds, clips = sum(one.seconds for one in days), sum(one.judged for one in days)
    each = seconds / clips
    without = [(seconds - one.seconds) / (clips - one.judged) for one in days]
    mean = math.fsum(without) / len(days)
    spread = math.fsum((one - mean) ** 2 for one in without)
    error = math.sqrt(spread * (len(days) - 1) / len(days))
    reach = float(stdtrit(len(days) - 1, (1 + CONFIDENCE) / 2)) * error
    hours = [left * one / 3600 for one in (each, max(each - reach, 0.0), each + reach)]
    return Estimate(*hours)
