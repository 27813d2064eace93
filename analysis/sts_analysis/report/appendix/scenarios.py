"""The pass rates of agents in each scenario, by category."""

from itertools import groupby

import msgspec
import numpy as np
from markupsafe import Markup

from sts_analysis.report.appendix.rates import MAX_COLUMNS
from sts_analysis.report.core import Report, Study, html, join, number
from sts_analysis.report.markup import fold
from sts_analysis.report.sections.categories import find_heat
from sts_analysis.report.text import pluralise
from sts_analysis.statistics import estimate as est

TITLE = "Scenarios"
NAV = "Scenarios"
MAX_LEVEL_NAMES = 8
"""Agents up to which their names are level; above, they are upright."""


class Row(msgspec.Struct, frozen=True):
    """One scenario.

    Attributes:
      scenario: its id.
      category: "" if unknown.
      kind: "instruction", "question", or "" if unknown.
      unit: number of the unit that it belongs to.
      instruction: what the agent was asked; "" if unknown.
      difficulty: mean failure of the ranked agents (Abramson et al. 2022, section 5.2).
      pass_rates: plain, by agent; above 20 agents the first 20, and all in the CSV file.
    """

    scenario: str
    category: str
    kind: str
    unit: int
    instruction: str
    difficulty: float | None
    pass_rates: dict[str, float | None]


class Result(msgspec.Struct, frozen=True):
    """All scenarios.

    Attributes:
      rows: scenarios by category and name.
      agents: number of agents in the data.
    """

    rows: tuple[Row, ...]
    agents: int


def compute(study: Study, *, unabridged: bool = False) -> Result:
    """List all scenarios; with the rates of all agents if `unabridged`."""
    outcomes = study.outcomes
    shown = study.order if unabridged else study.order[:MAX_COLUMNS]
    names = [outcomes.agents[a] for a in shown]
    values = outcomes.value[study.claim.ranked]
    known = np.isfinite(values).sum(axis=0)
    failed = est.divide(np.where(np.isfinite(values), 1 - values, 0.0).sum(axis=0), known)
    columns = zip(
        outcomes.scenarios,
        outcomes.category.tolist(),
        outcomes.kind,
        outcomes.unit.tolist(),
        np.where(known > 0, failed, np.nan).tolist(),
        outcomes.value[shown].T.tolist(),
        strict=True,
    )
    rows = [
        Row(
            scenario=name,
            category=outcomes.categories[category],
            kind=kind,
            unit=unit,
            instruction=study.subject.instructions.get(name, ""),
            difficulty=number(difficulty),
            pass_rates={
                agent: None if rate != rate else rate
                for agent, rate in zip(names, rates, strict=True)
            },
        )
        for name, category, kind, unit, difficulty, rates in columns
    ]
    rows.sort(key=lambda row: row.category)
    return Result(rows=tuple(rows), agents=len(outcomes.agents))


def render(result: Result, report: Report) -> Markup:
    """Show a folded heat map for each category."""
    agents = list(result.rows[0].pass_rates)
    head = join(html("<th scope=col><span>{}</span></th>", agent) for agent in agents)
    kind = "heat many tall" if len(agents) > MAX_LEVEL_NAMES else "heat many"
    parts = []
    for category, group in groupby(result.rows, key=lambda row: row.category):
        rows = list(group)
        count = pluralise(len(rows), "scenario")
        known = [row.difficulty for row in rows if row.difficulty is not None]
        hard = f"{100 * sum(known) / len(known):.0f}% failed" if known else "nothing judged"
        summary = html("{} <small>{}, {}</small>", category or "All", count, hard)
        parts.append(fold(summary, _render_category(rows, head, kind)))
    first = f" of the first {MAX_COLUMNS} agents" if result.agents > MAX_COLUMNS else ""
    return html(
        "<p>Pass rate in percent{}, not adjusted; difficulty is the mean failure of the ranked "
        "agents.</p>{}",
        first,
        join(parts),
    )


def _render_category(rows: list[Row], head: Markup, kind: str) -> Markup:
    body = join(
        html(
            "<tr><th scope=row>{}{}</th>{}<td class=r>{}</td></tr>",
            row.scenario,
            html("<small>{}</small>", row.instruction) if row.instruction else "",
            join(map(_render_cell, row.pass_rates.values())),
            "–" if row.difficulty is None else f"{100 * row.difficulty:.0f}",
        )
        for row in rows
    )
    return html(
        '<div class=wide tabindex=0><table class="{}"><thead>'
        "<tr><th scope=col>Scenario</th>{}<th scope=col class=r><span>difficulty</span></th></tr>"
        "</thead><tbody>{}</tbody></table></div>",
        kind,
        head,
        body,
    )


def _render_cell(rate: float | None) -> Markup:
    text = "–" if rate is None else f"{100 * rate:.0f}"
    return html("<td class=h{}>{}</td>", find_heat(rate), text)
