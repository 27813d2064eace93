"""Figure 3: the ranking, overall and by kind of scenario."""

from collections.abc import Sequence

import pandas as pd

from sts_analysis.report.paper import rates
from sts_analysis.report.paper.picture import Picture, drawn
from sts_analysis.report.paper.rates import Rate
from sts_analysis.report.paper.words import labelled, plural, sentences, span
from sts_analysis.report.schema import Report

NAME = "figure_3"
KINDS = {"instruction": "Instruction following", "question": "Question answering"}


def figure_3(
    report: Report,
    *,
    columns: int = 2,
    error: str = "interval",
    agents: Sequence[str] | None = None,
    title: str = "",
) -> Picture | str:
    """The overall pass rate of each agent, and that on instructions and on questions.

    The paper's error bars are the standard error over all continuations in each category. They
    hold for no target; the report's intervals, which do, take their place unless asked otherwise.

    Args:
      report: whose agents.
      columns: of a journal's page that it fills, 1 or 2.
      error: "interval" for the report's 95% intervals, "paper" for the paper's own bars.
      agents: which; None for the first 24 that are judged.
      title: above it; captions are the usual place.

    Returns:
      The figure, or the reason why there is none.

    Source: Abramson et al. 2022, figure 3 and section 3.4.
    """
    rates.check_error(error)
    entries = rates.chosen(report, agents)
    if not any(entry.pass_rate is not None for entry in entries):
        return "nothing is judged"
    whole = [Rate(entry.pass_rate, entry.interval, entry.judged) for entry in entries]
    rows = rates.rows("Overall", entries, whole, error)
    kinds = [kind for kind in KINDS if any(kind in entry.kinds for entry in entries)]
    for kind in kinds if len(kinds) > 1 else ():
        own = [entry.kinds[kind] for entry in entries]
        rows += rates.rows(
            KINDS[kind], entries, [Rate(g.pass_rate, g.interval, g.judged) for g in own], error
        )
    data = pd.DataFrame(rows)
    across = data["panel"].nunique() if columns == 2 else 1
    svg = drawn(rates.bars(data, entries, across, title), columns=columns, across=across)
    caption = sentences(
        "Pass rate of each agent"
        + (", overall, in following instructions and in answering questions." if len(kinds) > 1
           else "."),
        f"{plural(report.counts.scenarios, 'scenario')}, "
        f"{span(entry.judged for entry in entries)} judged continuations per agent.",
        rates.error_words(report, data, error),
        rates.agent_words(report, entries),
        labelled(report),
    )  # fmt: skip
    return Picture(NAME, caption, svg, data)
