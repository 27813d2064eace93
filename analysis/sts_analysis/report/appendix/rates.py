"""The pass rates of all agents, with what each rests on."""

from collections.abc import Callable, Mapping

import msgspec
import numpy as np
from markupsafe import Markup

from sts_analysis.report.core import (
    Interval,
    Report,
    Study,
    find_interval,
    html,
    interval,
    join,
    number,
)
from sts_analysis.report.markup import Cell, fold, render_records, render_table
from sts_analysis.report.text import NONE, percent, percent_range
from sts_analysis.statistics.rates import MIN_EFFECTIVE_ANNOTATORS, Rates
from sts_analysis.statistics.tabulation import Outcomes

TITLE = "Pass rates"
NAV = "Rates"
MAX_COLUMNS = 20
"""Agents that a table with a column for each agent shows: the first of the ranking."""


class Row(msgspec.Struct, frozen=True):
    """One agent.

    Attributes:
      agent: its name.
      pass_rate: adjusted for who judged; null if nothing is judged.
      interval: of the pass rate, for the report's target; null below five units.
      se: standard error.
      df: degrees of freedom of the error.
      units: independent units with a value.
      effective_units: number of equally large units that would be as precise.
      plain_rate: the pass rate without adjustment.
      other_annotators_interval: for other annotators like these; null below three annotators, or
        if two of them gave most of the rate.
      effective_annotators: number of annotators with equal shares of the rate; null if unknown.
      scenarios: with something judged.
      scenarios_missing: judged of another agent, but not of this one.
      continuations: that the agent has, judged or not.
      continuations_judged: with a verdict of the report's label source.
      continuations_unjudgeable: which all annotators answered with "cannot judge".
      continuations_auto_resolved: counted as not completed without an annotator.
      successes: sum of the continuations' values, each the mean of its verdicts.
      clips_judged: clips with a verdict; continuations, if clips are unknown.
      judgements: verdicts, each counted once for a clip.
      continuations_missing: that were planned and do not exist.
    """

    agent: str
    pass_rate: float | None
    interval: Interval | None
    se: float | None
    df: float | None
    units: int
    effective_units: float | None
    plain_rate: float | None
    other_annotators_interval: Interval | None
    effective_annotators: float | None
    scenarios: int
    scenarios_missing: int
    continuations: int
    continuations_judged: int
    continuations_unjudgeable: int
    continuations_auto_resolved: int
    successes: float
    clips_judged: int
    judgements: int
    continuations_missing: int = 0


class PartRate(msgspec.Struct, frozen=True):
    """The pass rate of an agent over a part of the suite.

    Attributes:
      part: the category, the kind or the tag.
      agent: its name.
      pass_rate: null if nothing is judged.
      interval: null below five units.
      units: independent units with a value.
      scenarios: with something judged.
      continuations: judged or auto-resolved.
      successes: sum of their values.
    """

    part: str
    agent: str
    pass_rate: float | None
    interval: Interval | None
    units: int
    scenarios: int
    continuations: int
    successes: float


class Share(msgspec.Struct, frozen=True):
    """What an annotator contributed to a pass rate.

    Attributes:
      agent: its name.
      annotator: a pseudonym.
      share: of the rate.
    """

    agent: str
    annotator: str
    share: float


class Result(msgspec.Struct, frozen=True):
    """Pass rates, over the suite and over its parts.

    Attributes:
      rows: agents in the order of the ranking.
      categories: rates by category and agent.
      kinds: rates for instructions and questions; empty unless the suite has both.
      workload: who contributed to each rate.
    """

    rows: tuple[Row, ...]
    categories: tuple[PartRate, ...]
    kinds: tuple[PartRate, ...]
    workload: tuple[Share, ...]


def compute(study: Study) -> Result:
    """Estimate all rates."""
    outcomes = study.outcomes
    kinds = np.array(outcomes.kind)
    both = [kind for kind in ("instruction", "question") if (kinds == kind).any()]
    categories = {name: outcomes.category == c for c, name in enumerate(outcomes.categories)}
    known = zip(categories.items(), study.category_rates, strict=True)
    return Result(
        rows=_list_agents(study),
        categories=list_rates(
            study, {name: (inside, rates) for (name, inside), rates in known if name}
        ),
        kinds=list_rates(
            study,
            {kind: (kinds == kind, study.model.estimate_rates(kinds == kind)) for kind in both}
            if len(both) > 1
            else {},
        ),
        workload=_list_shares(study),
    )


def list_rates(
    study: Study, subsets: Mapping[str, tuple[np.ndarray, Rates]]
) -> tuple[PartRate, ...]:
    """List the rates of all agents over parts of the suite.

    Args:
      study: with agents and continuations.
      subsets: by name, the scenarios of each part, bool[S], and the rates over them.
    """
    outcomes = study.outcomes
    passed = sum_successes(outcomes)
    return tuple(
        PartRate(
            part=name,
            agent=outcomes.agents[agent],
            pass_rate=number(rates.rate[agent]),
            interval=find_interval(rates, agent),
            units=int(rates.units[agent]),
            scenarios=int(rates.scenarios[agent]),
            continuations=int(count),
            successes=float(success),
        )
        for name, (inside, rates) in subsets.items()
        for agent, count, success in zip(
            study.order,
            outcomes.judged[study.order][:, inside].sum(axis=1),
            passed[study.order][:, inside].sum(axis=1),
            strict=True,
        )
    )


def sum_successes(outcomes: Outcomes) -> np.ndarray:
    """Sum the values of judged continuations by agent and scenario, float64[A, S]."""
    made = outcomes.continuations
    return made.tally(np.isfinite(made.y), outcomes.value.shape, made.y)


def render(result: Result, report: Report) -> Markup:
    """Show the rates of all agents, and folded those over parts of the suite."""
    folded = [
        fold(title, render_rates(rates, head))
        for title, head, rates in (
            ("Rates by category, with intervals", "Category", result.categories),
            ("Rates of instructions and questions", "Kind", result.kinds),
        )
        if rates
    ]
    if len({share.annotator for share in result.workload}) > 1:
        folded.append(fold("Share of each rate by annotator", _render_shares(result)))
    return join([_render_agents(result, report), *folded])


def render_rate(rate: PartRate) -> Markup:
    """Write a rate with its interval; only "k of n" if it rests on too few units."""
    if rate.interval is None:
        known = rate.pass_rate is not None
        return html("{}", count_passed(rate.successes, rate.continuations) if known else NONE)
    return html("{} <small>{}</small>", percent(rate.pass_rate), percent_range(rate.interval))


def render_rates(rates: tuple[PartRate, ...], head: str) -> Markup:
    """Show a row for each part and a column for each agent, up to 20 agents."""
    agents = list(dict.fromkeys(rate.agent for rate in rates))[:MAX_COLUMNS]
    cells = {(rate.part, rate.agent): render_rate(rate) for rate in rates}
    names = dict.fromkeys(rate.part for rate in rates)
    return render_table(
        [head, *agents], ([name, *(cells[name, agent] for agent in agents)] for name in names)
    )


def count_passed(successes: float, continuations: int) -> str:
    """Write how many of some continuations succeed; annotators who disagree make fractions."""
    return f"{successes:.4g} of {continuations:,}"


def _list_agents(study: Study) -> tuple[Row, ...]:
    outcomes, rates, made = study.outcomes, study.rates, study.outcomes.continuations
    agents = len(outcomes.agents)
    others = study.model.widen_rates(rates)
    effective = rates.effective_annotators
    wanted = int(np.isfinite(outcomes.value).any(axis=0).sum())
    judged, passed = made.verdicts > 0, sum_successes(outcomes).sum(axis=1)
    kinds = judged | True, judged, made.unjudgeable, made.auto_resolved
    counts = [np.bincount(made.agent[kind], minlength=agents) for kind in kinds]
    judgements = np.bincount(made.agent, made.verdicts, agents)
    if outcomes.judging is not None:
        judgements = outcomes.judging.judgements.sum(axis=(1, 2))
    rows = []
    for a in study.order:
        ends = find_interval(rates, a)
        shared = ends is not None and effective[a] >= MIN_EFFECTIVE_ANNOTATORS
        rows.append(
            Row(
                agent=outcomes.agents[a],
                pass_rate=number(rates.rate[a]),
                interval=ends,
                se=number(rates.se[a]),
                df=number(rates.df[a]),
                units=int(rates.units[a]),
                effective_units=number(rates.effective_units[a]) if rates.units[a] else None,
                plain_rate=number(rates.plain[a]),
                other_annotators_interval=interval(others[a]) if shared else None,
                effective_annotators=number(effective[a]) if effective[a] else None,
                scenarios=int(rates.scenarios[a]),
                scenarios_missing=wanted - int(rates.scenarios[a]),
                continuations=int(counts[0][a]),
                continuations_judged=int(counts[1][a]),
                continuations_unjudgeable=int(counts[2][a]),
                continuations_auto_resolved=int(counts[3][a]),
                successes=float(passed[a]),
                clips_judged=int(outcomes.judged_clips[a]),
                judgements=int(judgements[a]),
                continuations_missing=int(study.missing[a].sum()),
            )
        )
    return tuple(rows)


def _list_shares(study: Study) -> tuple[Share, ...]:
    outcomes, workload = study.outcomes, study.rates.workload
    if outcomes.judging is None:
        return ()
    return tuple(
        Share(outcomes.agents[agent], outcomes.judging.annotators[k], float(workload[agent, k]))
        for agent in study.order
        for k in np.flatnonzero(workload[agent])
    )


def _render_agents(result: Result, report: Report) -> Markup:
    columns: dict[str, str | Callable[[Row], Cell]] = {
        "Agent": "agent",
        "Pass rate": "pass_rate",
        "95% interval": _write_interval,
        "Other annotators": lambda row: percent_range(row.other_annotators_interval),
        "Unadjusted": "plain_rate",
        "Units (effective)": lambda row: (
            f"{row.units:,} ({row.effective_units:.0f})" if row.effective_units else "0"
        ),
        "Scenarios": "scenarios",
        "Missing": "scenarios_missing",
        "Continuations judged": lambda r: f"{r.continuations_judged:,} of {r.continuations:,}",
        "Cannot judge": "continuations_unjudgeable",
        "Auto-resolved": "continuations_auto_resolved",
    }
    if any(row.continuations_missing for row in result.rows):
        columns["Continuations missing"] = "continuations_missing"
    if not report.conclusion.annotators:
        del columns["Unadjusted"]
    caption = html("<p class=cap>{}</p>", _write_caption(result, report))
    return join([render_records(result.rows, columns), caption])


def _write_interval(row: Row) -> str:
    if row.interval is None and row.pass_rate is not None:
        return count_passed(row.successes, row.continuations_judged)
    return percent_range(row.interval)


def _write_caption(result: Result, report: Report) -> str:
    conclusion = report.conclusion
    about = "new scenarios" if conclusion.target == "sampled" else "these scenarios alone"
    sentences = [f"Intervals are for {about}."]
    if conclusion.annotators:
        sentences.append(
            "Rates are adjusted for who judged; unadjusted is the plain mean of the verdicts."
        )
    if any(row.other_annotators_interval for row in result.rows):
        sentences.append(
            "For other annotators like these, the interval also counts how much annotators differ "
            "in strictness, which would move all rates together."
        )
    if any(row.interval is None and row.pass_rate is not None for row in result.rows):
        sentences.append("Below five independent units, successes are counted instead.")
    return " ".join(sentences)


def _render_shares(result: Result) -> Markup:
    people = sorted({share.annotator for share in result.workload})[:MAX_COLUMNS]
    shares = {(share.agent, share.annotator): share.share for share in result.workload}
    agents = dict.fromkeys(share.agent for share in result.workload)
    return render_table(
        ["Agent", *people],
        (
            [
                agent,
                *(percent(shares[agent, who]) if (agent, who) in shares else "–" for who in people),
            ]
            for agent in agents
        ),
    )
