"""Estimate of the remaining annotation time, with a confidence interval."""

import math
from collections.abc import Sequence

from scipy.special import stdtrit

from sts.annotations.people.members import DailyWork

MIN_DAYS = 5
"""Person-days of work below which nothing is estimated."""
CONFIDENCE = 0.95


def estimate_hours(
    judgements_left: int, daily_work: Sequence[DailyWork]
) -> tuple[float, float, float] | None:
    """Estimate the active hours that the judgements left take, with a confidence interval.

    The result is the hours and the ends of their interval, or None with too little data.
    The time per judgement is the ratio of all seconds to all clips. Its standard error is a
    jackknife over person-days, within which times are correlated; the interval uses Student's t.
    """
    days = [day for day in daily_work if day.judged and day.seconds > 0]
    if len(days) < MIN_DAYS or judgements_left <= 0:
        return None
    seconds, clips = sum(day.seconds for day in days), sum(day.judged for day in days)
    pace = seconds / clips
    leave_one_out = [(seconds - day.seconds) / (clips - day.judged) for day in days]
    mean = math.fsum(leave_one_out) / len(days)
    squares = math.fsum((ratio - mean) ** 2 for ratio in leave_one_out)
    error = math.sqrt(squares * (len(days) - 1) / len(days))
    reach = float(stdtrit(len(days) - 1, (1 + CONFIDENCE) / 2)) * error
    scale = judgements_left / 3600
    return scale * pace, scale * max(pace - reach, 0.0), scale * (pace + reach)
