"""Pass rates by category: a matrix to see at a glance, and what stands out in it."""

import msgspec
import numpy as np
from markupsafe import Markup

from sts_analysis.report.core import Interval, Report, Study, html, interval, join, number
from sts_analysis.report.text import (
    Sentence,
    count_words,
    list_names,
    name,
    percent_range,
    to_html,
    write_sentence,
)

TITLE = "By category"
NAV = "Categories"
MIN_SCENARIOS = 5
"""Scenarios that a category must have to be coloured."""
MAX_COLUMNS = 8
"""Agents up to which the matrix is shown; more are drawn as a histogram for each category."""
MAX_NOTES = 3
STEPS = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)
WEAKER = 0.1
HARD, EASY = 0.2, 0.5
_BINS = 20


class Row(msgspec.Struct, frozen=True):
    """One category.

    Attributes:
      category: its name.
      scenarios: of the suite.
      units: independent units of these.
      pass_rates: of the agents, in their order; None if nothing is judged.
      intervals: of the pass rates; None below five units.
    """

    category: str
    scenarios: int
    units: int
    pass_rates: tuple[float | None, ...]
    intervals: tuple[Interval | None, ...]


class Result(msgspec.Struct, frozen=True):
    """Pass rates by category, the easiest first and those of few scenarios last.

    Attributes:
      agents: in the order of the ranking.
      n_baselines: how many of them, at the end, have privileged information.
      rows: categories.
      notes: what stands out.
    """

    agents: tuple[str, ...]
    n_baselines: int
    rows: tuple[Row, ...]
    notes: tuple[Sentence, ...]


def compute(study: Study) -> Result | None:
    """Estimate the pass rates of all agents in all categories; None below two categories."""
    outcomes, order = study.outcomes, study.order
    if sum(map(bool, outcomes.categories)) < 2:
        return None
    rows = []
    for c, category in enumerate(outcomes.categories):
        inside = outcomes.category == c
        rates = study.category_rates[c]
        enough = rates.units[order] >= MIN_SCENARIOS
        rows.append(
            Row(
                category=category,
                scenarios=int(inside.sum()),
                units=len(np.unique(outcomes.unit[inside])),
                pass_rates=tuple(number(rates.rate[agent]) for agent in order),
                intervals=tuple(
                    interval(rates.interval[agent]) if shown else None
                    for agent, shown in zip(order, enough, strict=True)
                ),
            )
        )
    n_baselines = len(study.claim.baselines)
    agents = len(order) - n_baselines
    rows.sort(key=lambda row: (row.scenarios < MIN_SCENARIOS, -_mean(row.pass_rates[:agents])))
    return Result(
        agents=tuple(study.names),
        n_baselines=n_baselines,
        rows=tuple(rows),
        notes=_write_notes(study, rows, agents),
    )


def render(result: Result, report: Report) -> Markup:
    """Show the matrix and the notes; bars for one agent, histograms for many."""
    shown = len(result.agents)
    if shown == 1:
        table = _render_bars(result)
    elif shown > MAX_COLUMNS:
        table = _render_histograms(result)
    else:
        table = _render_matrix(result)
    notes = join(html("<li>{}</li>", to_html(note)) for note in result.notes)
    return html("<div class=split>{}<ul class=notes>{}</ul></div>", table, notes)


def find_heat(rate: float | None) -> int:
    """Return the step of the colour scale, 0 to 6."""
    return 0 if rate is None else sum(rate >= step for step in STEPS)


def _mean(rates: tuple[float | None, ...]) -> float:
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known else -1.0


def _write_notes(study: Study, rows: list[Row], agents: int) -> tuple[Sentence, ...]:
    """Return at most three notes on what stands out, and what a cell is worth."""
    names, state = study.names[:agents], study.claim.state
    enough = [row for row in rows if row.scenarios >= MIN_SCENARIOS]
    notes: list[Sentence] = []
    if state == "final" and len(study.claim.best) == 1 or state == "single agent":
        best, rate = names[0], float(study.rates.rate[study.order[0]])
        weak = [r for r in enough if (own := r.pass_rates[0]) is not None and own < rate - WEAKER]
        weak.sort(key=lambda row: row.pass_rates[0] or 0.0)
        if weak:
            categories = list_names([row.category for row in weak[:3]])
            notes.append(write_sentence(name(best), " is weakest at ", categories, "."))
        others = [
            row
            for row in enough
            if agents > 1
            and (row.pass_rates[0] or 0) >= EASY
            and all((rate or 0) < HARD for rate in row.pass_rates[1:agents])
        ]
        if others:
            count = f" of the {count_words(len(enough))} categories"
            notes.append(
                write_sentence(
                    "Only ",
                    name(best),
                    f" passes {count_words(len(others))}{count}: all others stay below 20% there.",
                )
            )
        behind = [
            row
            for row in enough
            if agents > 1
            and row.pass_rates[0] is not None
            and max(rate or 0 for rate in row.pass_rates[1:agents]) > row.pass_rates[0] + WEAKER
        ]
        if behind:
            categories = list_names([row.category for row in behind], most=3)
            notes.append(write_sentence(name(best), " is not in front at ", categories, "."))
    nobody = [
        row
        for row in enough
        if None not in row.intervals[:agents]
        and all((rate or 0) < 0.005 for rate in row.pass_rates[:agents])
    ]
    if nobody:
        categories = list_names([row.category for row in nobody], most=3)
        notes.append(write_sentence("No agent passes ", categories, "."))
    return (*notes[:MAX_NOTES], _write_precision(rows))


def _write_precision(rows: list[Row]) -> Sentence:
    sizes = [row.scenarios for row in rows]
    low, high = min(sizes), max(sizes)
    rests = f"{low}" if low == high else f"{low} to {high}"
    widths = [(ends[1] - ends[0]) / 2 for row in rows for ends in row.intervals if ends is not None]
    median = f": ±{100 * np.median(widths):.0f} points at the median" if widths else ""
    return write_sentence(f"A cell rests on {rests} scenarios{median}. Read patterns, not cells.")


def _render_matrix(result: Result) -> Markup:
    first_baseline = len(result.agents) - result.n_baselines
    classes = ["base" if i == first_baseline else "" for i in range(len(result.agents))]
    head = join(
        html('<th scope=col class="{}"><span>{}</span></th>', kind, agent)
        for agent, kind in zip(result.agents, classes, strict=True)
    )
    body = join(
        html(
            "<tr><th scope=row>{}</th>{}<td class=r>{}</td></tr>",
            row.category,
            join(
                _render_cell(rate, row.scenarios, kind)
                for rate, kind in zip(row.pass_rates, classes, strict=True)
            ),
            row.scenarios,
        )
        for row in result.rows
    )
    return html(
        "<table class=heat><caption>Pass rate in percent, the easiest category on top</caption>"
        "<thead><tr><th scope=col>Category</th>{}<th scope=col class=r><span>scenarios</span></th>"
        "</tr></thead><tbody>{}</tbody></table>",
        head,
        body,
    )


def _render_cell(rate: float | None, scenarios: int, kind: str) -> Markup:
    heat = "few" if scenarios < MIN_SCENARIOS else f"h{find_heat(rate)}"
    text = "–" if rate is None else f"{round(100 * rate)}"
    return html('<td class="{}">{}</td>', f"{heat} {kind}".strip(), text)


def _render_bars(result: Result) -> Markup:
    rows = []
    for row in result.rows:
        rate, ends = row.pass_rates[0], row.intervals[0]
        drawn = ""
        if rate is not None:
            low, high = ends or (rate, rate)
            style = f"--l:{low:.4f};--h:{high:.4f};--p:{rate:.4f}"
            drawn = html('<span class=iv style="{}"></span>', style)
        text = "–" if rate is None else f"{round(100 * rate)}%"
        rows.append(
            html(
                "<tr class=agent><th scope=row>{}</th><td class=draw aria-hidden=true>{}</td>"
                '<td class="r rate" data-range="{}">{}</td><td class="r soft">{}</td></tr>',
                row.category,
                drawn,
                percent_range(ends),
                text,
                percent_range(ends),
            )
        )
    return html(
        "<table class=rank><thead><tr><th scope=col>Category</th><th scope=col class=axis>"
        "<span class=sr>Interval, drawn</span></th><th scope=col class=r>Pass rate</th>"
        "<th scope=col class=r>95% interval</th></tr></thead><tbody>{}</tbody></table>",
        join(rows),
    )


def _render_histograms(result: Result) -> Markup:
    agents = len(result.agents) - result.n_baselines
    rows = []
    for row in result.rows:
        known = [rate for rate in row.pass_rates[:agents] if rate is not None]
        counts = np.bincount([min(int(rate * _BINS), _BINS - 1) for rate in known], minlength=_BINS)
        bars = join(
            html(
                "<rect class=bar x={} y={} width=9 height={} />",
                10 * i,
                round(24 * (1 - count / counts.max()), 1),
                round(24 * count / counts.max(), 1),
            )
            for i, count in enumerate(counts)
            if count
        )
        best = row.pass_rates[0]
        dot = (
            "" if best is None else html("<circle class=dot cx={} cy=20 r=4 />", round(200 * best))
        )
        label = f"Pass rates of {len(known)} agents in {row.category}"
        rows.append(
            html(
                '<tr><th scope=row>{}</th><td><svg viewBox="-4 0 208 26" role=img aria-label="{}">'
                "{}{}</svg></td><td class=r>{}</td></tr>",
                row.category,
                label,
                bars,
                dot,
                row.scenarios,
            )
        )
    return html(
        "<table class=plain><caption>How many agents pass how much, 0 to 100%; the dot is {}"
        "</caption><thead><tr><th scope=col>Category</th><th scope=col>Agents</th>"
        "<th scope=col class=r>Scenarios</th></tr></thead><tbody>{}</tbody></table>",
        result.agents[0],
        join(rows),
    )
