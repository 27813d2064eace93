"""How many dimensions of the categories can be claimed from these agents."""

import msgspec
import numpy as np
from markupsafe import Markup

from sts_analysis.report.core import Interval, Report, Study, html, join
from sts_analysis.report.markup import fold, render_records
from sts_analysis.report.text import (
    Part,
    Sentence,
    decimal,
    decimal_range,
    pluralise,
    to_html,
    write_sentence,
)
from sts_analysis.statistics.dimensions import DRAWS, MIN_UNITS, Dimensions, measure_dimensions

TITLE = "Dimensions of the categories"
NAV = "Dimensions"
MAX_SHOWN = 8
"""Eigenvalues that are drawn."""
_WIDTH, _HEIGHT, _LEFT, _NAME, _GAP = 480, 180, 30, 90, 30
_GRID = (
    "<line class=grid x1={} x2={} y1={y} y2={y} /><text class=tick x={} y={} text-anchor=end>{}"
    "</text>"
)
_MARK = (
    "<circle class=dot cx={} cy={} r=5 /><rect class=band x={} y={} width=10 height={} />"
    "<line class=middle x1={} x2={} y1={y} y2={y} />"
    "<text class=tick x={} y={} text-anchor=middle>{}</text>"
)
_NAME_AT = "<text class=label x={} y={} text-anchor={}>{}</text>"
_FIGURE = (
    '<svg viewBox="0 -12 {} {}" role=img aria-label="Observed eigenvalues of the categories, and '
    'those of studies with a single dimension">{}</svg>'
)


class Row(msgspec.Struct, frozen=True):
    """An eigenvalue of the correlation between categories.

    Attributes:
      eigenvalue: its place, 1 for the largest.
      observed: its value.
      null_median: of simulated studies in which a single dimension decides.
      null_band: 2.5% and 97.5% quantiles of these.
    """

    eigenvalue: int
    observed: float
    null_median: float
    null_band: Interval


class Result(msgspec.Struct, frozen=True):
    """Eigenvalues of the correlation between categories, and what may be claimed from them.

    Attributes:
      agents: that are compared.
      categories: that are compared.
      left_out: categories that are not compared, as agents do not differ in them or one has fewer
        than five independent units.
      more_than_one: whether more than one dimension can be claimed; null if nothing is shown.
      claim: the same as a sentence, with its numbers or the reason why nothing is shown.
      rows: eigenvalues, the largest first; those that are always 0 are left out.
    """

    agents: int
    categories: int
    left_out: int
    more_than_one: bool | None
    claim: Sentence
    rows: tuple[Row, ...]


def compute(study: Study) -> Result | None:
    """Compare eigenvalues with those of a single dimension; None below two categories."""
    outcomes, claim = study.outcomes, study.claim
    if sum(map(bool, outcomes.categories)) < 2:
        return None
    rates = np.stack([each.rate for each in study.category_rates], axis=1)
    found = measure_dimensions(outcomes, rates, claim.ranked, seed=study.options.seed)
    waits = claim.state in ("interim", "withheld")
    reason = f"the conclusion is {claim.state}" if waits else found.reason
    counts = found.agents, found.categories, found.left_out
    if reason:
        return Result(*counts, None, write_sentence(f"Nothing is shown: {reason}."), ())
    columns = found.observed.tolist(), found.median.tolist(), map(tuple, found.band.tolist())
    rows = tuple(Row(i, *values) for i, values in enumerate(zip(*columns, strict=True), 1))
    return Result(*counts, found.is_more_than_one, _write_claim(found), rows)


def render(result: Result, report: Report) -> Markup:
    """Show the sentence, the eigenvalues next to their bands, and folded the numbers."""
    sentence = html("<p>{}</p>", to_html(result.claim))
    if not result.rows:
        return sentence
    note = (
        f"Eigenvalues of the correlation between {result.categories} categories over "
        f"{result.agents} agents, on a square-root scale. Bars hold 95% of {DRAWS:,} simulated "
        "studies of the same agents and scenarios in which a single dimension decides; a line "
        "marks their median. More than one dimension can be claimed only if the second "
        "eigenvalue lies above its bar."
    )
    if result.left_out:
        note += (
            f" Left out: {pluralise(result.left_out, 'category', 'categories')} in which agents "
            f"do not differ, or one has fewer than {MIN_UNITS} independent units."
        )
    numbers = render_records(
        result.rows,
        {
            "Eigenvalue": "eigenvalue",
            "Observed": lambda row: decimal(row.observed),
            "Median of the null": lambda row: decimal(row.null_median),
            "95% band": lambda row: decimal_range(row.null_band),
        },
    )
    return html(
        "{}<figure><div class=wide tabindex=0>{}</div><figcaption>{}</figcaption></figure>{}",
        sentence,
        _draw(result.rows[:MAX_SHOWN]),
        note,
        fold("All eigenvalues", numbers),
    )


def _write_claim(found: Dimensions) -> Sentence:
    second, most = Part(decimal(found.observed[1]), "figure"), decimal(found.band[1, 1])
    start = "More" if found.is_more_than_one else "No more"
    side = "above" if found.is_more_than_one else "not above"
    return write_sentence(
        f"{start} than one dimension can be claimed from these {found.agents} agents: the second "
        "eigenvalue, ",
        second,
        f", is {side} {most}, the 97.5% quantile of studies with a single dimension.",
    )


def _draw(rows: tuple[Row, ...]) -> Markup:
    """Draw a dot and a band for each eigenvalue, with names at the first."""
    top = max(max(row.observed, row.null_band[1]) for row in rows)
    step = (_WIDTH - _LEFT - 2 * _NAME - _GAP) / (len(rows) - 1)

    def place(value: float) -> float:
        return round(_HEIGHT * (1 - float(np.sqrt(value / top))), 1)

    marks = []
    for root in range(0, int(np.sqrt(top)) + 1, int(np.sqrt(top)) // 5 + 1):
        y = place(root**2)
        marks.append(html(_GRID, _LEFT, _WIDTH, _LEFT - 6, y + 4, root**2, y=y))
    for i, row in enumerate(rows):
        x = round(_LEFT + _NAME + (i > 0) * (_NAME - step + _GAP / 2) + i * step)
        low, high = (place(end) for end in row.null_band)
        bar = x + 2, high, round(max(2, low - high), 1)
        label = x, _HEIGHT + 20, row.eigenvalue
        y = place(row.null_median)
        marks.append(html(_MARK, x - 7, place(row.observed), *bar, x, x + 14, *label, y=y))
    x, first = _LEFT + _NAME, rows[0]
    marks.append(html(_NAME_AT, x - 16, place(first.observed) + 4, "end", "observed"))
    marks.append(html(_NAME_AT, x + 20, place(first.null_median) + 4, "start", "one dimension"))
    return html(_FIGURE, _WIDTH, _HEIGHT + 38, join(marks))
