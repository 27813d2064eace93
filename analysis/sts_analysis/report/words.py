"""Numbers and names as they stand in a sentence."""

from collections.abc import Sequence

from sts_analysis.report.schema import Report

SHOWN = 5
SHOWN_LETTERS = 120


def percent(share: float | None) -> str:
    """A share as a whole percentage, with one digit below 1% and above 99%."""
    if share is None:
        return "–"
    points = round(100 * share, 9)  # a mean of ones may fall short of 1 in its last digit
    if 0 < points < 0.05 or 99.95 <= points < 100:
        return "<0.1%" if points < 50 else ">99.9%"
    near_an_end = (0 < points < 0.95) or (99.05 < points < 100)
    return f"{points:.1f}%" if near_an_end else f"{points:.0f}%"


def points(share: float | None) -> str:
    """A signed difference of shares in percentage points, with one digit."""
    if share is None:
        return "–"
    return f"{100 * share:+.1f}".replace("-", "\N{MINUS SIGN}")


def listed(names: Sequence[str]) -> str:
    """Names in a sentence; of many the first few, and how many others there are."""
    shown = SHOWN - 1
    while shown > 1 and sum(map(len, names[:shown])) > SHOWN_LETTERS:
        shown -= 1
    if len(names) > SHOWN or (len(names) > shown + 1 and shown < SHOWN - 1):
        return f"{', '.join(names[:shown])} and {len(names) - shown} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def duration(hours: float) -> str:
    """A time in the unit that suits it: "<1 min", "35 min", "3.4 h"."""
    minutes = round(60 * hours)
    if minutes < 60:
        return f"{minutes} min" if minutes else "<1 min"
    return f"{hours:.1f} h"


def claim(report: Report, target: str | None = None) -> str:
    """What the intervals of a report speak of, as it stands behind them in a sentence.

    Args:
      report: whose.
      target: "sampled" or "fixed" where intervals have one of their own; None for the report's.
    """
    if (target or report.target) == "fixed":
        return "for fresh continuations of these very scenarios"
    kinds = "of the same categories" if report.counts.categories else "like these"
    return f"for fresh scenarios {kinds}"


def percents(interval: Sequence[float] | None) -> str:
    """An interval of a share in brackets, after the share; "" without one."""
    return "" if interval is None else f" ({percent(interval[0])} to {percent(interval[1])})"
