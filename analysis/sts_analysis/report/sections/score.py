"""The score that the pass rate should predict: a scatter plot, and the rank correlation."""

import msgspec
import numpy as np
from markupsafe import Markup

from sts_analysis.report.core import Interval, Report, Study, html, interval, join, number
from sts_analysis.report.text import decimal
from sts_analysis.statistics.rank_correlations import MIN_AGENTS_INTERVAL, correlate

NAV = "Other score"
MAIN = "interactive"
"""The score that is shown if agents have it, with parameters in its name if there are several;
otherwise the one that most agents have."""
WIDE = 0.8
"""Width of an interval of a correlation, above which it says nothing."""
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 430, 236, 46, 36


class Point(msgspec.Struct, frozen=True):
    """One agent.

    Attributes:
      agent: its name.
      pass_rate: its pass rate.
      pass_rate_interval: of the pass rate.
      score: the other score.
      score_interval: value ± 1.96 standard errors; None if the error is not known.
    """

    agent: str
    pass_rate: float
    pass_rate_interval: Interval | None
    score: float
    score_interval: Interval | None


class Result(msgspec.Struct, frozen=True):
    """The pass rate against another score, over ranked agents.

    Attributes:
      metric: name of the score.
      points: agents that have both.
      spearman: rank correlation; None for fewer than three agents or constant values.
      interval: of the scores as measured; None for fewer than eight agents.
      p: that there is no relation; None for fewer than eight agents.
    """

    metric: str
    points: tuple[Point, ...]
    spearman: float | None
    interval: Interval | None
    p: float | None


def TITLE(report: Report) -> str:
    """Return the heading."""
    result: Result = report.score
    return f"Against the score {result.metric}"


def compute(study: Study) -> Result | None:
    """Compare the pass rate with one other score; None without one."""
    scores = find_scores(study)
    if scores.empty:
        return None
    counts = scores["metric"].value_counts()
    main = [name for name in counts.index if f"{name} ".startswith(f"{MAIN} ")]
    metric = str(min(main or counts.index, key=lambda m: (-counts[m], m)))
    values = scores[scores["metric"] == metric].set_index("agent")
    place = {name: i for i, name in enumerate(study.outcomes.agents)}
    points = []
    for agent in study.names:
        if agent not in values.index:
            continue
        row, rate = values.loc[agent], study.rates
        error = 1.96 * float(row["standard_error"])
        value = float(row["value"])
        points.append(
            Point(
                agent=agent,
                pass_rate=float(rate.rate[place[agent]]),
                pass_rate_interval=interval(rate.interval[place[agent]]),
                score=value,
                score_interval=interval((value - error, value + error)),
            )
        )
    found = correlate(
        np.array([point.pass_rate for point in points]),
        np.array([point.score for point in points]),
        family_names=values.loc[[point.agent for point in points], "family"].to_numpy(dtype=object),
        seed=study.options.seed,
    )
    return Result(
        metric, tuple(points), number(found.rho), interval(found.interval), number(found.p)
    )


def find_scores(study: Study):  # type: ignore[no-untyped-def]
    """Return the scores of ranked agents, of their judged version, that saw no more there."""
    scores = study.scores
    ranked = {study.outcomes.agents[a] for a in study.claim.ranked} or {
        study.outcomes.agents[a] for a in np.flatnonzero(~study.outcomes.baseline)
    }
    current = ~scores["outdated"].astype(bool)
    return scores[current & scores["agent"].isin(ranked) & (scores["sees"] == "observation")]


def render(result: Result, report: Report) -> Markup:
    """Show the sentence and the scatter plot."""
    return html("<p>{}</p>{}", _write_finding(result), _draw(result))


def _write_finding(result: Result) -> Markup:
    n, rho = len(result.points), result.spearman
    if rho is None:
        return html("{} agents have both: no rank correlation can be given.", n)
    start = html("Over {} agents Spearman’s ρ is <b>{}</b>", n, decimal(rho))
    if n < MIN_AGENTS_INTERVAL or result.interval is None:
        return start + ": too few agents for an interval, so this shows little."
    low, high = map(decimal, result.interval)
    if result.interval[1] - result.interval[0] > WIDE:
        return start + (
            f", but anything from {low} to {high} fits the scores as measured: too few agents to "
            "say."
        )
    return start + f" (95% interval {low} to {high}, of the scores as measured)."


def _draw(result: Result) -> Markup:
    """Draw pass rates across and scores up, each with its interval and its name."""
    ends = [end for p in result.points for end in (p.score_interval or (p.score, p.score))]
    low, high = min(ends), max(ends)
    pad = 0.05 * (high - low) or 1.0
    low, high = low - pad, high + pad
    right, top = _WIDTH - 14, 10

    def x(share: float) -> float:
        return round(_LEFT + (right - _LEFT) * share, 1)

    def y(value: float) -> float:
        return round(top + (_HEIGHT - _BOTTOM - top) * (high - value) / (high - low), 1)

    marks = [
        html(
            "<line class=grid x1={x} x2={x} y1={} y2={} /><text class=tick x={x} y={} "
            "text-anchor=middle>{}%</text>",
            top,
            _HEIGHT - _BOTTOM,
            _HEIGHT - _BOTTOM + 15,
            percent,
            x=x(percent / 100),
        )
        for percent in (0, 25, 50, 75, 100)
    ]
    for value in choose_ticks(low, high):
        marks.append(
            html(
                "<text class=tick x={} y={} text-anchor=end>{}</text>",
                _LEFT - 8,
                y(value) + 4,
                f"{value:g}".replace("-", "\N{MINUS SIGN}"),
            )
        )
    marks.append(
        html(
            "<text class=tick x={} y={} text-anchor=middle>pass rate</text>",
            x(0.5),
            _HEIGHT - 3,
        )
    )
    taken: list[tuple[float, float]] = []
    for point in result.points:
        marks.append(_draw_point(point, x, y, taken))
    label = f"{result.metric} against pass rate, {len(result.points)} agents"
    return html(
        '<figure><svg viewBox="0 0 {} {}" role=img aria-label="{}">{}</svg><figcaption>With 95% '
        "intervals.</figcaption></figure>",
        _WIDTH,
        _HEIGHT,
        label,
        join(marks),
    )


def _draw_point(point: Point, x, y, taken: list[tuple[float, float]]) -> Markup:  # type: ignore[no-untyped-def]
    across, up = x(point.pass_rate), y(point.score)
    lines = []
    if point.score_interval is not None:
        a, b = map(y, point.score_interval)
        lines.append(html("<line class=whisk x1={x} x2={x} y1={} y2={} />", a, b, x=across))
    reach = 6.0
    if point.pass_rate_interval is not None:
        a, b = map(x, point.pass_rate_interval)
        reach = max(b - across, across - a, reach)
        lines.append(html("<line class=whisk x1={} x2={} y1={y} y2={y} />", a, b, y=up))
    on_left = across > _WIDTH * 0.62
    place, baseline = across + (-1 if on_left else 1) * (reach + 6), up + 4
    while any(abs(baseline - other) < 13 and abs(place - at) < 110 for at, other in taken):
        baseline += 13
    taken.append((place, baseline))
    shown = point.agent if len(point.agent) <= 22 else f"{point.agent[:21]}…"
    name = html(
        "<text class=label x={} y={} text-anchor={}>{}</text>",
        round(place, 1),
        round(baseline, 1),
        "end" if on_left else "start",
        shown,
    )
    dot = html("<circle class=dot cx={} cy={} r=4.5 />", across, up)
    return join([*lines, dot, name])


def choose_ticks(low: float, high: float) -> list[float]:
    """Return three to six round values between two ends."""
    size = 10.0 ** np.floor(np.log10(high - low))
    step = min(
        (size * factor for factor in (0.1, 0.2, 0.5, 1.0, 2.0)),
        key=lambda step: abs((high - low) / step - 4),
    )
    first = np.ceil(low / step)
    return [round(float(n * step), 10) + 0.0 for n in np.arange(first, np.floor(high / step) + 1)]
