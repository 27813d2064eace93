"""When agents succeed: the share of continuations that have succeeded by each step."""

from typing import Any

import msgspec
import numpy as np
from markupsafe import Markup

from sts_analysis.report.core import (
    MIN_UNITS_OF_INTERVAL,
    Interval,
    Report,
    Study,
    html,
    interval,
    join,
    number,
)
from sts_analysis.report.markup import render_records
from sts_analysis.report.text import p_value, percent, percent_range, point_range, points
from sts_analysis.statistics.rates import RateModel
from sts_analysis.statistics.success_curves import Curve, find_success_curves, measure_times_left

TITLE = "Time to success"
NAV = "Time"
MAX_POINTS = 50
"""Points of a curve; a longer one is thinned."""
MAX_CURVES = 8
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _GAP = 480, 180, 50, 104, 15


class Row(msgspec.Struct, frozen=True):
    """One agent.

    Attributes:
      agent: its name.
      median_step: by which half of the successes have come; null without one.
      horizon: the longest, in steps.
      reason: why there is no curve, or "".
      mean_time: restricted mean time to success, as a share of the horizon; failures count as the
        horizon; null if it is not known.
      interval: of the mean time.
      behind: how much longer it takes than the fastest ranked agent; null for that agent, and
        for agents without a rank.
      behind_interval: of that difference.
      p_adjusted: of that difference, for all pairs of agents (Holm).
    """

    agent: str
    median_step: int | None
    horizon: int | None
    reason: str
    mean_time: float | None = None
    interval: Interval | None = None
    behind: float | None = None
    behind_interval: Interval | None = None
    p_adjusted: float | None = None


class Point(msgspec.Struct, frozen=True):
    """A point of a curve.

    Attributes:
      agent: its name.
      step: after takeover.
      reached: share of all continuations that have succeeded by then.
      incidence: the same as an Aalen-Johansen estimate, which differs if horizons do.
    """

    agent: str
    step: int
    reached: float
    incidence: float


class Result(msgspec.Struct, frozen=True):
    """Curves of all agents.

    Attributes:
      rows: agents in the order of the ranking.
      points: of curves, at most 50 for each agent.
    """

    rows: tuple[Row, ...]
    points: tuple[Point, ...]


def compute(study: Study) -> Result | None:
    """Find the curves; None if no agent has one."""
    curves, times = find_success_curves(study.outcomes, study.values), _compare_times(study)
    rows, points = [], []
    for a in study.order:
        name, found = study.outcomes.agents[a], curves[a]
        median = None
        if found.reached is not None and found.incidence is not None:
            median = _find_median(found.reached)
            steps = np.unique(np.concatenate([found.reached.steps, found.incidence.steps]))
            if len(steps) > MAX_POINTS:
                steps = steps[np.linspace(0, len(steps) - 1, MAX_POINTS).round().astype(int)]
            heights = [_find_heights(curve, steps) for curve in (found.reached, found.incidence)]
            points += [
                Point(name, int(step), float(reached), float(incidence))
                for step, reached, incidence in zip(steps, *heights, strict=True)
            ]
        rows.append(Row(name, median, found.horizon, found.reason, *times.get(a, ())))
    return Result(tuple(rows), tuple(points)) if points else None


def _compare_times(study: Study) -> dict[int, tuple[Any, ...]]:
    """Return the last five fields of the rows of agents, through the estimator of pass rates."""
    outcomes = study.outcomes
    left = measure_times_left(outcomes, study.values)
    none = np.zeros_like(outcomes.unjudgeable)
    model = RateModel(
        outcomes._replace(value=left, low=left, high=left, unjudgeable=none, judging=None),
        target=study.options.target,
    )
    rates = model.estimate_rates()
    known = np.isfinite(rates.rate)
    times = {
        int(a): (1 - float(rates.rate[a]), interval(1 - rates.interval[a][::-1]))
        for a in np.flatnonzero(known)
        if rates.units[a] >= MIN_UNITS_OF_INTERVAL
    }
    ranked = study.claim.ranked[known[study.claim.ranked]]
    if study.claim.state != "final" or len(ranked) < 2:
        return dict(times)
    fastest, pairs = ranked[rates.rate[ranked].argmax()], model.compare(ranked)
    found: dict[int, tuple[Any, ...]] = dict(times)
    for at in np.flatnonzero((pairs.first == fastest) | (pairs.second == fastest)):
        sign = 1.0 if pairs.first[at] == fastest else -1.0
        other = int(pairs.second[at] if sign > 0 else pairs.first[at])
        if other in times:
            ends = interval(np.sort(sign * pairs.interval[at]))
            found[other] += number(sign * pairs.value[at]), ends, number(pairs.p_holm[at])
    return found


def render(result: Result, report: Report) -> Markup:
    """Draw the curves of the first agents."""
    curves: dict[str, list[Point]] = {}
    for point in result.points:
        curves.setdefault(point.agent, []).append(point)
    shown = dict(list(curves.items())[:MAX_CURVES])
    missing = [row for row in result.rows if row.reason]
    without = ", ".join(f"{row.agent} ({row.reason})" for row in missing)
    note = (
        "Share of continuations that have succeeded by each step; a curve ends at the "
        "unadjusted pass rate."
    )
    if len(curves) > len(shown):
        note += f" Shown are the first {len(shown)} of {len(curves)} agents."
    if missing:
        note += f" No curve: {without}."
    table = render_records(
        [row for row in result.rows if row.mean_time is not None],
        {
            "Agent": "agent",
            "Mean time": lambda row: percent(row.mean_time),
            "95% interval": lambda row: percent_range(row.interval),
            "Behind the fastest": lambda row: points(row.behind),
            "95% interval of that": lambda row: point_range(row.behind_interval),
            "p (Holm)": lambda row: p_value(row.p_adjusted),
        },
    )
    return html(
        "<figure><div class=wide tabindex=0>{}</div><figcaption>{}</figcaption></figure>{}"
        "<p class=cap>Restricted mean time to success, in percent of the horizon: a failure counts "
        "as the horizon, so that failing makes no agent fast. Not adjusted for annotators.</p>",
        _draw(shown),
        note,
        table,
    )


def _find_median(curve: Curve) -> int | None:
    if not curve.height[-1] > 0:
        return None
    return int(curve.steps[np.argmax(curve.height >= curve.height[-1] / 2)])


def _find_heights(curve: Curve, steps: np.ndarray) -> np.ndarray:
    return np.asarray(curve.height[np.searchsorted(curve.steps, steps, side="right") - 1])


def _draw(curves: dict[str, list[Point]]) -> Markup:
    """Draw step functions with the names of agents at their ends."""
    last = max(curve[-1].step for curve in curves.values())

    def place(point: Point) -> tuple[float, float]:
        x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * point.step / last
        return round(x, 1), round(_HEIGHT * (1 - point.reached), 1)

    ends = sorted((place(curve[-1])[1], agent) for agent, curve in curves.items())
    labels, free = {}, -float(_HEIGHT)
    for height, agent in ends:  # names keep a distance
        free = labels[agent] = max(height, free + _GAP)
    grid = join(
        html(
            "<line class=grid x1={} x2={} y1={y} y2={y} /><text class=tick x={} y={}"
            " text-anchor=end>{}</text>",
            _LEFT,
            _WIDTH - _RIGHT,
            _LEFT - 6,
            round(_HEIGHT * (1 - share)) + 4,
            percent(share),
            y=round(_HEIGHT * (1 - share)),
        )
        for share in (0, 0.5, 1)
    )
    lines = []
    for agent, curve in curves.items():
        places = [place(point) for point in curve]
        path = f"M{places[0][0]} {places[0][1]}" + "".join(f"H{x}V{y}" for x, y in places[1:])
        x, y = _WIDTH - _RIGHT, labels[agent]
        lines.append(
            html(
                "<path class=curve d='{}'/><path class=leader d='M{} {}L{} {}'/>"
                "<text class=label x={} y={}>{}</text>",
                path,
                places[-1][0],
                places[-1][1],
                x + 12,
                y,
                x + 16,
                y + 4,
                agent,
            )
        )
    axis = html(
        "<text class=tick x={} y={}>takeover</text><text class=tick x={} y={y} text-anchor=end>"
        "step {}</text>",
        _LEFT,
        _HEIGHT + 18,
        _WIDTH - _RIGHT,
        last,
        y=_HEIGHT + 18,
    )
    return html(
        '<svg viewBox="0 -10 {} {}" role=img aria-label="Cumulative success of {} agents over {} '
        'steps">{}{}{}</svg>',
        _WIDTH,
        max(_HEIGHT + 34, round(free) + 24),
        len(curves),
        last,
        grid,
        axis,
        join(lines),
    )
