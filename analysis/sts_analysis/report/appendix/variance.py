"""Sources of the uncertainty of differences, and the effect of halving each."""

import math

import msgspec
from markupsafe import Markup

from sts_analysis.planning.power import ERROR_RATE, POWER, reach
from sts_analysis.report.core import Interval, Report, Study, html, number
from sts_analysis.report.markup import render_records
from sts_analysis.report.text import percent
from sts_analysis.statistics.difference_variance import Part, split_variance

TITLE = "Sources of uncertainty"
NAV = "Uncertainty"
_MEANINGS = {
    "agent by scenario": "more scenarios",
    "continuation": "more continuations, or scenarios",
    "agent by scenario, and continuation": "more scenarios",
    "annotator": "more annotators",
    "annotator by agent": "more annotators",
}


class Row(msgspec.Struct, frozen=True):
    """One source, in the mean of all pairs of ranked agents.

    Attributes:
      source: what varies.
      deviation: standard deviation that it adds to a difference of pass rates.
      interval: of the deviation; null if it is 0 or not known.
      share: of the variance of a difference.
      smallest_if_halved: the smallest difference that the study would detect with half of this
        variance.
    """

    source: str
    deviation: float
    interval: Interval | None
    share: float
    smallest_if_halved: float | None


class Result(msgspec.Struct, frozen=True):
    """The sources of the variance of a difference.

    Attributes:
      rows: the sources; what a scenario makes of all agents alike cancels.
      smallest: the smallest difference that the study detects with a power of 80%, in the mean of
        all pairs, all compared.
      for_others: whether differences between annotators count.
    """

    rows: tuple[Row, ...]
    smallest: float | None
    for_others: bool


def compute(study: Study) -> Result | None:
    """Split the variance of differences; None if no pair can be compared."""
    claim = study.claim
    if len(claim.ranked) < 2:
        return None
    others = claim.others is not None
    parts = split_variance(study.model, study.rates, claim.comparisons, for_others=others)
    if not parts:
        return None
    pairs, whole = len(claim.significant), sum(part.variance for part in parts)
    rows = []
    for part in parts:
        low, high = part.interval
        halved = [p._replace(variance=p.variance / 2) if p is part else p for p in parts]
        rows.append(
            Row(
                source=part.source,
                deviation=math.sqrt(part.variance),
                interval=(low, high) if math.isfinite(low) else None,
                share=part.variance / whole,
                smallest_if_halved=number(_find_smallest(halved, pairs)),
            )
        )
    return Result(tuple(rows), number(_find_smallest(list(parts), pairs)), others)


def _find_smallest(parts: list[Part], pairs: int) -> float:
    """Return the smallest difference that is significant among all pairs with a power of 80%."""
    variance = sum(part.variance for part in parts)
    below = sum(part.variance**2 / part.df for part in parts if part.df > 0)
    df = variance**2 / below if below > 0 else math.inf
    return reach(max(1.0, min(df, 1e6)), ERROR_RATE / pairs, POWER) * math.sqrt(variance)


def render(result: Result, report: Report) -> Markup:
    """Show the sources."""
    table = render_records(
        result.rows,
        {
            "Source": lambda row: row.source,
            "Points": lambda row: _points(row.deviation),
            "95% interval": lambda row: (
                "–" if row.interval is None else "–".join(map(_points, row.interval))
            ),
            "Share of variance": lambda row: percent(row.share),
            "Smallest difference, if halved": lambda row: _points(row.smallest_if_halved),
            "Less by": lambda row: _MEANINGS[row.source],
        },
    )
    whom = "other annotators like these" if result.for_others else "these annotators"
    return html(
        "<p class=cap>What makes the difference of two agents uncertain for {}, in the mean of all "
        "pairs. Points are standard deviations. A difference of {} points is detected with 80% "
        "power, all pairs compared. What scenarios make of all agents alike cancels.</p>{}",
        whom,
        _points(result.smallest),
        table,
    )


def _points(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"
