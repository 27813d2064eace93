"""The pass rates by the success criterion and by the instruction alone, next to each other."""

import msgspec
import numpy as np
from markupsafe import Markup

from sts_analysis.report.core import Interval, Report, Study, find_interval, html, join, number
from sts_analysis.report.markup import fold, render_table
from sts_analysis.report.text import NONE, percent, percent_range
from sts_analysis.statistics.rates import RateModel

TITLE = "Rates with and without the success criterion"
NAV = "Conditions"
ALL = "all of these"
"""Name of the row for all categories that were judged under both conditions."""


class Row(msgspec.Struct, frozen=True):
    """The rates of an agent in a category judged under both conditions.

    Attributes:
      part: the category, or "all of these".
      agent: its name.
      pass_rate: by all verdicts, adjusted for annotators; null if nothing is judged.
      interval: of the pass rate; null below five units, like the others.
      shown_rate: by verdicts of annotators who saw the success criterion; not adjusted.
      shown_interval: of it.
      alone_rate: by verdicts of annotators who judged by the instruction alone; not adjusted.
      alone_interval: of it.
    """

    part: str
    agent: str
    pass_rate: float | None
    interval: Interval | None
    shown_rate: float | None
    shown_interval: Interval | None
    alone_rate: float | None
    alone_interval: Interval | None


class Result(msgspec.Struct, frozen=True):
    """Rates under each condition.

    Attributes:
      rows: all such categories together, then each, agents in the order of the ranking.
    """

    rows: tuple[Row, ...]


def compute(study: Study) -> Result | None:
    """Estimate the rates under each condition; None if no category has both."""
    if study.source != "human" or study.people_rows["rubric_shown"].nunique() < 2:
        return None
    outcomes, target = study.outcomes, study.options.target
    by_condition = [study.outcomes_under(rubric_shown=shown) for shown in (True, False)]
    has_both = np.ones(len(outcomes.categories), bool)
    for condition in by_condition:
        judged = (condition.continuations.verdicts > 0).nonzero()[0]
        places = condition.category[condition.continuations.scenario[judged]]
        has_both &= np.bincount(places, minlength=len(has_both)) > 0
    parts = {outcomes.categories[c]: outcomes.category == c for c in has_both.nonzero()[0]}
    if len(parts) > 1:
        parts = {ALL: has_both[outcomes.category], **parts}
    models = (study.model, *(RateModel(condition, target=target) for condition in by_condition))
    rows = []
    for part, inside in parts.items():
        found = [model.estimate_rates(inside) for model in models]
        for agent in study.order:
            cells = [
                cell
                for rates in found
                for cell in (number(rates.rate[agent]), find_interval(rates, agent))
            ]
            rows.append(Row(part or ALL, outcomes.agents[agent], *cells))  # type: ignore[arg-type]
    return Result(tuple(rows)) if rows else None


def render(result: Result, report: Report) -> Markup:
    """Show all categories together, and folded each of them."""
    parts = list(dict.fromkeys(row.part for row in result.rows))
    caption = html(
        "<p class=cap>Only categories that were judged under both conditions, {}. Annotators who "
        "judge by the instruction alone see neither success criterion nor edge cases.</p>",
        ", ".join(part for part in parts if part != ALL) or ALL,
    )
    first, *others = (_render_part(result, part) for part in parts)
    folded = [fold(part, table) for part, table in zip(parts[1:], others, strict=True)]
    return join([first, caption, *folded])


def _render_part(result: Result, part: str) -> Markup:
    rows = [
        (
            row.agent,
            _write_rate(row.pass_rate, row.interval),
            _write_rate(row.shown_rate, row.shown_interval),
            _write_rate(row.alone_rate, row.alone_interval),
        )
        for row in result.rows
        if row.part == part
    ]
    return render_table(["Agent", "Pass rate", "Criterion shown", "Instruction alone"], rows)


def _write_rate(rate: float | None, ends: Interval | None) -> Markup:
    if rate is None:
        return html("{}", NONE)
    return html("{} <small>{}</small>", percent(rate), percent_range(ends))
