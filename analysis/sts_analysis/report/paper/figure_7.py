"""Figure 7: pass rates by category."""

from collections.abc import Sequence

import pandas as pd

from sts_analysis.report.paper import rates
from sts_analysis.report.paper.picture import Picture, drawn
from sts_analysis.report.paper.rates import Rate
from sts_analysis.report.paper.words import labelled, sentences, span
from sts_analysis.report.schema import Report

NAME = "figure_7"
_ACROSS = {1: 2, 2: 4}


def figure_7(
    report: Report,
    *,
    columns: int = 2,
    error: str = "interval",
    agents: Sequence[str] | None = None,
    title: str = "",
) -> Picture | str:
    """The pass rate of each agent in each category, a panel a category.

    The paper shows no error bars here, or says nothing of them; these are the report's intervals
    of a category. Categories of instructions come before those of questions.

    Args:
      report: whose agents.
      columns: of a journal's page that it fills, 1 or 2.
      error: "interval" for the report's 95% intervals, "paper" for the standard error over all
        continuations in the category.
      agents: which; None for the first 24 that are judged.
      title: above it.

    Returns:
      The figure, or the reason why there is none.

    Source: Abramson et al. 2022, figure 7 and appendix A.2.
    """
    rates.check_error(error)
    entries = rates.chosen(report, agents)
    if not any(entry.pass_rate is not None for entry in entries):
        return "nothing is judged"
    kind = {one.category: one.kind or "" for one in report.scenarios}
    names = sorted(entries[0].categories, key=lambda name: (kind.get(name, ""), name))
    if len(names) < 2:
        return "it needs two categories of scenarios"
    rows = []
    for name in names:
        own = [entry.categories[name] for entry in entries]
        rows += rates.rows(
            name, entries, [Rate(g.pass_rate, g.interval, g.judged) for g in own], error
        )
    data = pd.DataFrame(rows)
    across = min(_ACROSS.get(columns, 1), len(names))
    svg = drawn(rates.bars(data, entries, across, title), columns=columns, across=across)
    sizes = pd.Series([one.category for one in report.scenarios]).value_counts()
    caption = sentences(
        f"Pass rate of each agent by category of scenarios; {len(names)} categories of "
        f"{span(sizes)} scenarios.",
        rates.error_words(report, data, error),
        rates.agent_words(report, entries),
        labelled(report),
    )
    return Picture(NAME, caption, svg, data)
