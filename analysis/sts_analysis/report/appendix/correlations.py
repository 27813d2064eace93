"""How the pass rate and other scores of the agents follow each other."""

from collections.abc import Iterator
from itertools import combinations

import msgspec
import numpy as np
import pandas as pd
from markupsafe import Markup

from sts.live.interactions import SETTER, SETTER_NOTE
from sts.ratings import ACCESS_LEVELS
from sts_analysis.inputs.scores import PASS_RATE
from sts_analysis.report.core import Interval, Report, Study, html, interval, join, number
from sts_analysis.report.markup import fold, render_records, render_table
from sts_analysis.report.sections.score import choose_ticks
from sts_analysis.report.text import decimal, decimal_range, p_value, pluralise
from sts_analysis.statistics.rank_correlations import (
    MIN_AGENTS_INTERVAL,
    correlate,
    measure_noise,
)

TITLE = "Correlations with other scores"
NAV = "Correlations"
_CHECKED = ("agent", "sees", "outdated")
"""Columns that decide whether a score is left out."""
MAX_METRICS = 12
"""Scores up to which every pair of them is shown."""
_MATRIX = 3
"""Scores, the pass rate included, from which on there is a matrix."""
_MAX_PANELS = 15
"""Panels that are not folded."""
_PANEL, _MARGIN = (112, 92), (38, 20)
"""Width and height of a panel, and of what is left of it and below."""


class Row(msgspec.Struct, frozen=True):
    """Rank correlation of two scores across ranked agents that have both.

    Attributes:
      first: name of a score, or "pass_rate".
      second: name of another score.
      agents: with both values.
      families: of these; an agent of no family is one.
      rho: Spearman's, of the scores as measured.
      interval: of the scores as measured; from eight agents on.
      p: that the values are unrelated, by permutations; from eight agents on.
      reliability_first: share of the variance of the first score that is no measurement error;
        null without standard errors.
      reliability_second: the same of the second score.
      corrected: rho without the errors of both scores; from eight agents on.
      corrected_interval: of that, from the standard errors of both scores.
      reason: why rho, interval, p or the correction is null, or "".
    """

    first: str
    second: str
    agents: int
    families: int
    rho: float | None
    interval: Interval | None
    p: float | None
    reliability_first: float | None
    reliability_second: float | None
    corrected: float | None
    corrected_interval: Interval | None
    reason: str

    @property
    def first_name(self) -> str:
        """The first score as it is shown."""
        return _name(self.first)

    @property
    def second_name(self) -> str:
        """The second score as it is shown."""
        return _name(self.second)


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
    """Correlations of the pass rate and all other scores.

    Attributes:
      rows: every pair of scores, first those of the pass rate; of more than twelve scores
        only these.
      scores: all scores of agents in the data, and of others in an added scores table.
      efforts: person-hours by score, of scores that took any.
    """

    rows: tuple[Row, ...]
    scores: tuple[Score, ...]
    efforts: tuple[Effort, ...]


def compute(study: Study) -> Result | None:
    """Correlate all scores and the pass rate; None without a score of a named agent."""
    named = [*study.outcomes.agents, *study.gathered.unmatched]
    scores = study.scores[study.scores["agent"].isin(named)]
    if scores.empty:
        return None
    reasons = _find_reasons(study, scores)
    used = scores[[not reason for reason in reasons]]
    return Result(
        rows=tuple(_correlate_all(study, used)),
        scores=_list_scores(scores, reasons),
        efforts=tuple(
            _measure_effort(study, str(metric), rows)
            for metric, rows in used[used["hours"] > 0].groupby("metric")
        ),
    )


def render(result: Result, report: Report) -> Markup:
    """Show the matrix of all scores, each pair with a panel, and folded the scores."""
    table = render_records(
        result.rows,
        {
            "Score": "second_name",
            "With": "first_name",
            "Agents": "agents",
            "Spearman’s ρ": lambda row: decimal(row.rho),
            "95% interval of the scores as measured": lambda row: decimal_range(row.interval),
            "p": lambda row: p_value(row.p),
            "Corrected ρ": lambda row: decimal(row.corrected),
            "95% interval, corrected": lambda row: decimal_range(row.corrected_interval),
            "Reliability": lambda row: decimal(row.reliability_second),
            "Reliability of “with”": lambda row: decimal(row.reliability_first),
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
        "{}<p class=cap>Over ranked agents that have both scores. Errors of measurement bring ρ "
        "nearer to 0. The corrected ρ is without them: it needs {} agents, the standard errors of "
        "both scores, and errors that are independent. Reliability is the share of the variance "
        "between agents that is no measurement error.{}</p>{}{}{}{}",
        _render_matrix(result.rows),
        MIN_AGENTS_INTERVAL,
        f" {SETTER_NOTE}." if any(row.metric == SETTER for row in result.scores) else "",
        table or html("<p>No ranked agent has a score.</p>"),
        _render_panels(result, report),
        _render_efforts(result.efforts) if result.efforts else "",
        fold("All scores", scores),
    )


def _name(metric: str) -> str:
    return "pass rate" if metric == PASS_RATE else metric


def _render_matrix(rows: tuple[Row, ...]) -> Markup:
    """Return a table of the rho of each pair; nothing for a single pair, or if some are absent."""
    names = list(dict.fromkeys(name for row in rows for name in (row.first, row.second)))
    if len(names) < _MATRIX or len(rows) < len(names) * (len(names) - 1) / 2:
        return Markup()
    found = {frozenset((row.first, row.second)): decimal(row.rho) for row in rows}
    cells = [[_name(a), *(found.get(frozenset((a, b)), "") for b in names)] for a in names]
    return render_table(["Spearman’s ρ", *map(_name, names)], cells)


def _render_panels(result: Result, report: Report) -> Markup:
    values: dict[str, dict[str, float]] = {
        PASS_RATE: {r.agent: r.pass_rate for r in report.rates.rows if r.pass_rate is not None}
    }
    for score in result.scores:
        if not score.left_out:
            values.setdefault(score.metric, {})[score.agent] = score.value
    panels = [_draw_panel(r, values[r.first], values[r.second]) for r in result.rows if r.agents]
    shown, more = (
        html("<ul class=cards>{}</ul>", join(part)) if part else Markup()
        for part in (panels[:_MAX_PANELS], panels[_MAX_PANELS:])
    )
    return join([shown, fold(f"{len(panels) - _MAX_PANELS} more panels", more) if more else ""])


def _draw_panel(row: Row, across: dict[str, float], up: dict[str, float]) -> Markup:
    """Draw the agents that have both scores, with two ticks an axis and names on hovering."""
    agents = [agent for agent in across if agent in up]
    (width, height), (left, below) = _PANEL, _MARGIN
    xs, x_ticks = _scale([across[a] for a in agents], row.first, left, left + width)
    ys, y_ticks = _scale([up[a] for a in agents], row.second, height, 0)
    axes = [
        html("<line class=grid x1={x} x2={x} y1=0 y2={y} />", x=left, y=height),
        html("<line class=grid x1={} x2={} y1={y} y2={y} />", left, left + width, y=height),
    ]
    for kind, ticks in (("middle", x_ticks), ("end", y_ticks)):
        axes += [
            html(
                "<text class=tick x={} y={} text-anchor={}>{}</text>",
                *((place, height + below - 4) if kind == "middle" else (left - 5, place + 4)),
                kind,
                text,
            )
            for place, text in ticks
        ]
    dots = [
        html("<circle class=dot cx={} cy={} r=4><title>{}</title></circle>", x, y, agent)
        for x, y, agent in zip(xs, ys, agents, strict=True)
    ]
    names = _name(row.second), _name(row.first)
    return html(
        "<li><p class=kind><b>{}</b>, up, with <b>{}</b>, across: ρ {} ({})</p>"
        '<svg viewBox="0 -6 {} {}" role=img aria-label="{}">{}{}</svg></li>',
        *names,
        decimal(row.rho),
        pluralise(row.agents, "agent"),
        left + width + 12,
        height + below + 6,
        f"{names[0]} against {names[1]}, {pluralise(row.agents, 'agent')}",
        join(axes),
        join(dots),
    )


def _scale(
    values: list[float], metric: str, start: float, end: float
) -> tuple[list[float], list[tuple[float, str]]]:
    """Return places of values between two ends of an axis, and places and texts of its ticks."""
    pad = 0.06 * (max(values) - min(values)) or 0.5
    low, high = min(values) - pad, max(values) + pad

    def place(value: float) -> float:
        return round(start + (end - start) * (value - low) / (high - low), 1)

    ticks = choose_ticks(low, high)
    texts = [
        f"{100 * tick:.3g}%" if metric == PASS_RATE else f"{tick:.4g}".replace("-", "−")
        for tick in (ticks[0], ticks[-1])
    ]
    return [*map(place, values)], [
        (place(t), x) for t, x in zip((ticks[0], ticks[-1]), texts, strict=True)
    ]


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


def _correlate_all(study: Study, used: pd.DataFrame) -> Iterator[Row]:
    """Yield the correlation of each pair of scores, first those of the pass rate."""
    families = {a: f for a, f in zip(used["agent"], used["family"], strict=True) if f}
    columns = {str(metric): rows.set_index("agent") for metric, rows in used.groupby("metric")}
    pairs = [(PASS_RATE, metric) for metric in columns]
    if len(columns) < MAX_METRICS:
        pairs += combinations(columns, 2)
    for first, second in pairs:
        agents = columns[second].index
        if first != PASS_RATE:
            agents = agents[agents.isin(columns[first].index)]
        place = np.array([study.outcomes.agents.index(agent) for agent in agents], np.int64)
        if first == PASS_RATE:
            x, noise = study.rates.rate[place], measure_noise(study.claim.comparisons, place)
        else:
            x, noise = _read_values(columns[first].loc[agents])
        y, noise_y = _read_values(columns[second].loc[agents])
        found = correlate(
            x,
            y,
            noise_x=noise,
            noise_y=noise_y,
            family_names=np.array([families.get(agent, "") for agent in agents]),
            seed=study.options.seed,
        )
        yield Row(
            first=first,
            second=second,
            agents=found.agents,
            families=found.families,
            rho=number(found.rho),
            interval=interval(found.interval),
            p=number(found.p),
            reliability_first=number(found.reliability_x),
            reliability_second=number(found.reliability_y),
            corrected=number(found.corrected),
            corrected_interval=interval(found.corrected_interval),
            reason=found.reason,
        )


def _read_values(rows: pd.DataFrame) -> tuple[np.ndarray, float]:
    """Return the values of a score and their mean squared error; NaN if one error is unknown."""
    error = rows["standard_error"].to_numpy(np.float64)
    noise = float((error**2).mean()) if len(error) else np.nan
    return rows["value"].to_numpy(np.float64), noise
