"""Figure 9: how consistently agents succeed on one scenario."""

from collections.abc import Sequence

import pandas as pd

from sts.errors import UnknownName
from sts_analysis.report.paper import rates
from sts_analysis.report.paper.picture import Picture, drawn
from sts_analysis.report.paper.rates import Rate
from sts_analysis.report.paper.words import labelled, sentences, span
from sts_analysis.report.schema import Agent, Report, Scenario
from sts_analysis.statistics import intervals
from sts_analysis.statistics.pass_rates import EXACT

NAME = "figure_9"
CLAIM = "for fresh continuations of this scenario (Jeffreys)"


def figure_9(
    report: Report,
    *,
    columns: int = 1,
    error: str = "interval",
    agents: Sequence[str] | None = None,
    title: str = "",
    scenario: str | None = None,
) -> Picture | str:
    """The share of its continuations of one scenario in which each agent succeeds.

    The paper shows five agents on a scenario of ten continuations each, without a word on errors;
    these bars are Jeffreys' intervals, which speak of fresh continuations of this scenario. That of
    a deterministic agent, which would do the same again, has no length.

    Args:
      report: whose agents.
      columns: of a journal's page that it fills, 1 or 2.
      error: "interval" for Jeffreys' 95% intervals, "paper" for one standard error.
      agents: which; None for the first 24 that are judged on it.
      title: above it.
      scenario: its id; None for the one that spreads the ranked agents most among those on which
        most of them are judged, the first of these by name.

    Returns:
      The figure, or the reason why there is none.

    Raises:
      UnknownName: there is no such scenario.

    Source: Abramson et al. 2022, figure 9 and appendix A.5; Brown, Cai and DasGupta 2001 for the
      interval of a proportion.
    """
    rates.check_error(error)
    if any(one.judged is None for one in report.scenarios):
        return "the report does not say how many continuations of a scenario were judged"
    one = _scenario(report, scenario)
    if one is None or one.judged is None:
        return "nothing is judged"
    entries = rates.chosen(report, agents, len(report.agents))
    entries = [entry for entry in entries if one.judged.get(entry.agent)][: rates.MOST]
    if not entries:
        return f"none of its agents is judged on {one.scenario}"
    own = [_rate(one, entry) for entry in entries]
    data = pd.DataFrame(rates.rows(one.scenario, entries, own, error))
    svg = drawn(rates.bars(data, entries, 1, title), columns=columns, across=1)
    where = f", of the category {one.category}" if one.category else ""
    caption = sentences(
        f"Share of its continuations in which each agent succeeds on one scenario, {one.scenario}"
        f"{where}; {span(rate.judged for rate in own)} judged continuations per agent.",
        rates.error_words(report, data, error, CLAIM),
        rates.agent_words(report, entries),
        labelled(report),
    )
    return Picture(NAME, caption, svg, data)


def _scenario(report: Report, name: str | None) -> Scenario | None:
    if name is not None:
        known = {one.scenario: one for one in report.scenarios}
        if name not in known:
            raise UnknownName("scenario", name, known)
        return known[name]
    judged = [one for one in report.scenarios if one.judged and any(one.judged.values())]
    return min(
        judged, key=lambda one: (-one.agents, -(one.spread or 0), one.scenario), default=None
    )


def _rate(one: Scenario, entry: Agent) -> Rate:
    rate, judged = one.pass_rates[entry.agent], (one.judged or {})[entry.agent]
    if rate is None:
        return Rate(None, None, judged)
    if entry.intervals["fixed"].method == EXACT:
        return Rate(rate, (rate, rate), judged)
    return Rate(rate, intervals.jeffreys(rate * judged, judged), judged)
