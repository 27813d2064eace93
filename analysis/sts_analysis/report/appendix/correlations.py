"""How the pass rate follows other scores of the agents."""

import msgspec
import numpy as np
import pandas as pd
from markupsafe import Markup

from sts.live.interactions import SETTER, SETTER_NOTE
from sts.ratings import ACCESS_LEVELS
from sts_analysis.report.core import Interval, Report, Study, html, interval, number
from sts_analysis.report.markup import fold, render_records
from sts_analysis.report.text import decimal, decimal_range, p_value
from sts_analysis.statistics.rank_correlations import correlate, measure_noise

TITLE = "Correlations with other scores"
NAV = "Correlations"
_CHECKED = ("agent", "sees", "outdated")
"""Columns that decide whether a score is left out."""


class Row(msgspec.Struct, frozen=True):
    """Rank correlation of the pass rate with a score, across ranked agents.

    Attributes:
      metric: name of the score.
      agents: with both values.
      families: of these; an agent of no family is one.
      rho: Spearman's.
      interval: from eight agents on.
      p: that the values are unrelated, by permutations; from eight agents on.
      reliability_pass_rate: share of the variance of the pass rate that is no measurement error.
      reliability_score: the same of the score; null without standard errors.
      reason: why rho, interval or p is null, or "".
    """

    metric: str
    agents: int
    families: int
    rho: float | None
    interval: Interval | None
    p: float | None
    reliability_pass_rate: float | None
    reliability_score: float | None
    reason: str


class Score(msgspec.Struct, frozen=True):
    """A score of an agent.

    Attributes:
      agent: its name.
      metric: name of the score.
      value: of the score.
      standard_error: null if unknown.
      n: number of measurements; null if unknown.
      family: variants of one agent are a family; "" for none.
      left_out: why it enters no correlation, or "".
    """

    agent: str
    metric: str
    value: float
    standard_error: float | None
    n: int | None
    family: str
    left_out: str


class Effort(msgspec.Struct, frozen=True):
    """Person-hours that a score took, and that judging the same agents took.

    Attributes:
      metric: name of the score.
      agents: whose person-hours are known.
      hours: for their scores.
      judging_hours: for people's judgements of their continuations; null if times are unknown.
    """

    metric: str
    agents: int
    hours: float
    judging_hours: float | None


class Result(msgspec.Struct, frozen=True):
    """Correlations of the pass rate.

    Attributes:
      rows: correlations by score.
      scores: all scores of agents in the data, and of others in an added scores table.
      efforts: person-hours by score, of scores that took any.
    """

    rows: tuple[Row, ...]
    scores: tuple[Score, ...]
    efforts: tuple[Effort, ...]


def compute(study: Study) -> Result | None:
    """Correlate the pass rate with each score; None without a score of a named agent."""
    named = [*study.outcomes.agents, *study.gathered.unmatched]
    scores = study.scores[study.scores["agent"].isin(named)]
    if scores.empty:
        return None
    reasons = _find_reasons(study, scores)
    used = scores[[not reason for reason in reasons]]
    return Result(
        rows=tuple(_correlate(study, str(metric), rows) for metric, rows in used.groupby("metric")),
        scores=_list_scores(scores, reasons),
        efforts=tuple(
            _measure_effort(study, str(metric), rows)
            for metric, rows in used[used["hours"] > 0].groupby("metric")
        ),
    )


def render(result: Result, report: Report) -> Markup:
    """Show the correlation with each score, and folded the scores."""
    table = render_records(
        result.rows,
        {
            "Score": "metric",
            "Agents": "agents",
            "Spearman’s ρ": lambda row: decimal(row.rho),
            "95% interval": lambda row: decimal_range(row.interval),
            "p": lambda row: p_value(row.p),
            "Reliability: rate": lambda row: decimal(row.reliability_pass_rate),
            "score": lambda row: decimal(row.reliability_score),
            "Note": "reason",
        },
    )
    scores = render_records(
        result.scores,
        {
            "Agent": "agent",
            "Score": "metric",
            "Value": lambda row: f"{row.value:.4g}",
            "Standard error": lambda row: decimal(row.standard_error, 4),
            "Left out because": "left_out",
        },
    )
    return html(
        "{}<p class=cap>Over ranked agents. Reliability is the share of the variance between "
        "agents that is no measurement error; nothing is corrected for it.{}</p>{}{}",
        table or html("<p>No ranked agent has a score.</p>"),
        f" {SETTER_NOTE}." if any(row.metric == SETTER for row in result.scores) else "",
        _render_efforts(result.efforts) if result.efforts else "",
        fold("All scores", scores),
    )


def _render_efforts(efforts: tuple[Effort, ...]) -> Markup:
    return render_records(
        efforts,
        {
            "Score": "metric",
            "Agents": "agents",
            "Person-hours": lambda row: decimal(row.hours, 1),
            "Person-hours of judging them": lambda row: decimal(row.judging_hours, 1),
        },
    )


def _measure_effort(study: Study, metric: str, rows: pd.DataFrame) -> Effort:
    judged = study.people_rows
    seconds = judged["seconds"][judged["agent"].isin(rows["agent"]).to_numpy()].sum(min_count=1)
    hours = float(rows["hours"].sum())
    return Effort(metric, len(rows), hours, number(float(seconds) / 3600))


def _find_reasons(study: Study, scores: pd.DataFrame) -> list[str]:
    """Return why each score enters no correlation, or ""."""
    access = study.agent_rows.drop_duplicates("agent").set_index("agent")["sees"]
    ranked = {study.outcomes.agents[a] for a in study.claim.ranked}
    reasons = []
    for agent, sees, outdated in zip(*(scores[c] for c in _CHECKED), strict=True):
        if agent not in access:
            reasons.append("no agent of this name is in the ratings")
        elif agent not in ranked:
            reasons.append("the agent is not ranked")
        elif outdated:
            reasons.append("another version of the agent was measured than was judged")
        elif sees not in (ACCESS_LEVELS[0], access[agent]):
            reasons.append(f"the agent saw more there ({sees}) than here ({access[agent]})")
        else:
            reasons.append("")
    return reasons


def _list_scores(scores: pd.DataFrame, reasons: list[str]) -> tuple[Score, ...]:
    columns = (
        scores[name].tolist() for name in ("agent", "metric", "value", "standard_error", "n")
    )
    return tuple(
        Score(agent, metric, value, number(error), None if n != n else int(n), family, reason)
        for agent, metric, value, error, n, family, reason in zip(
            *columns, scores["family"], reasons, strict=True
        )
    )


def _correlate(study: Study, metric: str, rows: pd.DataFrame) -> Row:
    agents = np.array([study.outcomes.agents.index(agent) for agent in rows["agent"]])
    error = rows["standard_error"].to_numpy(np.float64)
    found = correlate(
        study.rates.rate[agents],
        rows["value"].to_numpy(np.float64),
        noise_x=measure_noise(study.claim.comparisons, agents),
        noise_y=float((error**2).mean()),
        family_names=rows["family"].to_numpy(),
        seed=study.options.seed,
    )
    return Row(
        metric=metric,
        agents=found.agents,
        families=found.families,
        rho=number(found.rho),
        interval=interval(found.interval),
        p=number(found.p),
        reliability_pass_rate=number(found.reliability_x),
        reliability_score=number(found.reliability_y),
        reason=found.reason,
    )
