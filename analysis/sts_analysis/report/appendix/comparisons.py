"""Comparisons of agents: all pairs, those that were planned, and whether agents are not worse."""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from markupsafe import Markup

from sts.errors import ArgumentError, UnknownName, quote
from sts_analysis.report.core import Interval, Report, Study, html, interval, join, number
from sts_analysis.report.markup import Cell, render_table
from sts_analysis.report.text import p_value, point_range, points
from sts_analysis.statistics.estimate import adjust_holm

TITLE = "Comparisons of agents"
NAV = "Comparisons"
MAX_AGENTS = 100
"""Ranked agents up to which all pairs are shown; of more, the pairs with the first."""
ALPHA = 0.05
_UNDECIDED = {"annotators": "undecided: who judged", "units": "undecided: too few units differ"}


class Pair(msgspec.Struct, frozen=True):
    """Two ranked agents.

    Attributes:
      first: the one ranked higher.
      second: the other.
      difference: pass rate of the first minus that of the second, adjusted for who judged.
      interval: of the difference.
      p: of this pair alone.
      p_adjusted: for all pairs together, by Holm's method.
      significant: whether the agents differ significantly.
      undecided: why there is no p: "annotators" (the data cannot distinguish the agents
        from their annotators), "units" (fewer than six units differ), or "".
      scenarios: in which both are judged.
      adjustment: how far adjusting for who judged moved the difference.
      adjustment_significant: whether it moved significantly, for all pairs together.
    """

    first: str
    second: str
    difference: float | None
    interval: Interval | None
    p: float | None
    p_adjusted: float | None
    significant: bool
    undecided: Literal["annotators", "units", ""]
    scenarios: int
    adjustment: float | None
    adjustment_significant: bool


class Contrast(msgspec.Struct, frozen=True):
    """A comparison that was planned beforehand.

    Attributes:
      first: an agent.
      second: another.
      difference: pass rate of the first minus that of the second.
      interval: of the difference.
      p: of this pair alone.
      p_adjusted: for the planned comparisons together, by Holm's method.
      significant: whether the agents differ significantly.
    """

    first: str
    second: str
    difference: float | None
    interval: Interval | None
    p: float | None
    p_adjusted: float | None
    significant: bool


class NonInferiority(msgspec.Struct, frozen=True):
    """Whether an agent is worse than the reference agent by less than a margin.

    Attributes:
      agent: its name.
      difference: its pass rate minus that of the reference agent.
      interval: of the difference.
      not_worse: whether the lower end is above minus the margin; null without an interval.
    """

    agent: str
    difference: float | None
    interval: Interval | None
    not_worse: bool | None


class Result(msgspec.Struct, frozen=True):
    """Comparisons of ranked agents.

    Attributes:
      rows: pairs, in the order of the ranking; above 100 agents those with the first, and all
        pairs in the CSV file.
      pairs: number of all pairs.
      contrasts: planned comparisons, in the order given.
      margin: of non-inferiority, in pass rate; null if it was not asked for.
      reference_agent: the agent that others may be not worse than; "" without a margin.
      non_inferiority: all other agents against the reference agent.
    """

    rows: tuple[Pair, ...]
    pairs: int
    contrasts: tuple[Contrast, ...]
    margin: float | None
    reference_agent: str
    non_inferiority: tuple[NonInferiority, ...]


class _Ordered:
    """Comparisons whose first agent is the one ranked higher, in the order of the ranking."""

    def __init__(self, study: Study) -> None:
        claim = study.claim
        pairs, agents = claim.comparisons, study.outcomes.agents
        place = np.full(len(agents), -1)
        place[claim.ranked] = np.arange(len(claim.ranked))
        first, second = place[pairs.first], place[pairs.second]
        order = np.lexsort((np.maximum(first, second), np.minimum(first, second)))
        sign = np.where(first < second, 1.0, -1.0)[order]
        self.first, self.second = np.minimum(first, second)[order], np.maximum(first, second)[order]
        self.names = [agents[a] for a in claim.ranked]
        self.difference = sign * pairs.value[order]
        self.interval = np.sort(sign[:, None] * pairs.interval[order], axis=1)
        self.p, self.p_holm = pairs.p[order], pairs.p_holm[order]
        stated = claim.state in ("final", "interim")
        self.significant = claim.significant[order] & stated
        self.identifiable, self.scenarios = pairs.identifiable[order], pairs.scenarios[order]
        self.adjustment = sign * pairs.adjustment[order]
        with np.errstate(invalid="ignore"):
            self.moved = pairs.adjustment_p[order] < ALPHA

    def find(self, a: str, b: str) -> tuple[int, int]:
        """Return the place of a pair of agents, and -1 if they stand the other way round."""
        i, j = self.names.index(a), self.names.index(b)
        at = np.flatnonzero((self.first == min(i, j)) & (self.second == max(i, j)))[0]
        return int(at), 1 if i < j else -1


def compute(study: Study, *, whole: bool = False) -> Result | None:
    """Compare all ranked agents; None below two.

    Args:
      study: with its claim.
      whole: list all pairs, however many there are.

    Raises:
      UnknownName: a planned contrast or the reference agent is not a ranked agent.
      ArgumentError: a contrast names one agent twice.
    """
    options, ranked = study.options, [study.outcomes.agents[a] for a in study.claim.ranked]
    for agent in [*(a for pair in options.contrasts for a in pair), options.reference_agent]:
        if agent and agent not in ranked:
            raise UnknownName("ranked agent", agent, ranked)
    if same := [a for a, b in options.contrasts if a == b]:
        raise ArgumentError(f"contrast: expected two agents, found {quote(same[0])} twice")
    if len(ranked) < 2:
        return None
    pairs = _Ordered(study)
    is_long = len(ranked) > MAX_AGENTS and not whole
    reference = options.reference_agent or ranked[0]
    return Result(
        rows=_list_pairs(pairs, np.flatnonzero((pairs.first == 0) | (not is_long))),
        pairs=len(pairs.first),
        contrasts=_list_contrasts(pairs, options.contrasts, study.progress.bar, study.claim.state),
        margin=options.margin,
        reference_agent=reference if options.margin is not None else "",
        non_inferiority=()
        if options.margin is None
        else _list_non_inferiority(pairs, reference, options.margin),
    )


def render(result: Result, report: Report) -> Markup:
    """Show the pairs, and what was asked for besides."""
    parts = [_render_pairs(result, report)]
    if result.contrasts:
        parts.append(_render_contrasts(result))
    if result.margin is not None:
        parts.append(_render_non_inferiority(result, result.margin))
    return join(parts)


def _list_pairs(pairs: _Ordered, chosen: np.ndarray) -> tuple[Pair, ...]:
    names = pairs.names
    columns = zip(
        pairs.first[chosen].tolist(),
        pairs.second[chosen].tolist(),
        _to_numbers(pairs.difference[chosen]),
        _to_intervals(pairs.interval[chosen]),
        _to_numbers(pairs.p[chosen]),
        _to_numbers(pairs.p_holm[chosen]),
        pairs.significant[chosen].tolist(),
        pairs.identifiable[chosen].tolist(),
        pairs.scenarios[chosen].tolist(),
        _to_numbers(pairs.adjustment[chosen]),
        pairs.moved[chosen].tolist(),
        strict=True,
    )
    return tuple(
        Pair(
            names[a], names[b], value, ends, p, adjusted, significant,
            "" if p is not None else "units" if known or not scenarios else "annotators",
            scenarios, moved, far,
        )
        for a, b, value, ends, p, adjusted, significant, known, scenarios, moved, far in columns
    )  # fmt: skip


def _to_numbers(values: np.ndarray) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]


def _to_intervals(ends: np.ndarray) -> list[Interval | None]:
    return [None if low != low else (low, high) for low, high in ends.tolist()]


def _list_contrasts(
    pairs: _Ordered, contrasts: Sequence[tuple[str, str]], bar: float, state: str
) -> tuple[Contrast, ...]:
    found = [pairs.find(*contrast) for contrast in contrasts]
    p = np.array([pairs.p[at] for at, _ in found])
    return tuple(
        Contrast(
            first=first,
            second=second,
            difference=number(sign * pairs.difference[at]),
            interval=interval(np.sort(sign * pairs.interval[at])),
            p=number(alone),
            p_adjusted=number(adjusted),
            significant=bool(adjusted < bar) and state in ("final", "interim"),
        )
        for (first, second), (at, sign), alone, adjusted in zip(
            contrasts, found, p, adjust_holm(p), strict=True
        )
    )


def _list_non_inferiority(
    pairs: _Ordered, reference: str, margin: float
) -> tuple[NonInferiority, ...]:
    rows = []
    for agent in pairs.names:
        if agent == reference:
            continue
        at, sign = pairs.find(agent, reference)
        ends = interval(np.sort(sign * pairs.interval[at]))
        not_worse = None if ends is None else ends[0] > -margin
        rows.append(NonInferiority(agent, number(sign * pairs.difference[at]), ends, not_worse))
    return tuple(rows)


def _render_pairs(result: Result, report: Report) -> Markup:
    rows = result.rows
    moved = any(row.adjustment_significant or round(100 * (row.adjustment or 0)) for row in rows)
    varying = len({row.scenarios for row in rows}) > 1
    head = ["Agents", "Difference", "95% interval", "p (Holm)", "Significant"]
    head += ["Scenarios"] if varying else []
    head += ["Moved by adjustment"] if moved else []

    def fill(row: Pair) -> list[Cell]:
        answer = "yes" if row.significant else _UNDECIDED.get(row.undecided, "no")
        cells: list[Cell] = [
            f"{row.first} – {row.second}",
            points(row.difference),
            point_range(row.interval),
            p_value(row.p_adjusted),
            answer,
        ]
        cells += [f"{row.scenarios:,}"] if varying else []
        mark = "*" if row.adjustment_significant else ""
        return cells + ([points(row.adjustment) + mark] if moved else [])

    return join(
        [
            render_table(head, map(fill, rows)),
            html("<p class=cap>{}</p>", _write_caption(result, report, moved)),
        ]
    )


def _write_caption(result: Result, report: Report, moved: bool) -> str:
    conclusion = report.conclusion
    sentences = [
        "Differences are in points, on the scenarios that both agents have. Each interval is of "
        "one pair; p and whether two agents differ significantly are for all pairs together, by "
        "Holm’s method."
    ]
    if conclusion.state == "interim":
        bar = f"{conclusion.p_bar:g}".lstrip("0")
        sentences.append(f"Interim: a pair is marked only below p = {bar}.")
    elif conclusion.state == "withheld":
        sentences.append("The conclusion is withheld, so no pair is marked.")
    if moved:
        sentences.append(
            "The last column shows how far adjusting for who judged moved a difference; * marks a "
            "significant move."
        )
    if len(result.rows) < result.pairs:
        sentences.append(
            f"Shown are the pairs with {result.rows[0].first}; all {result.pairs:,} are in the CSV "
            "file."
        )
    return " ".join(sentences)


def _render_contrasts(result: Result) -> Markup:
    table = render_table(
        ["Agents", "Difference", "95% interval", "p (Holm)", "Significant"],
        (
            [
                f"{row.first} – {row.second}",
                points(row.difference),
                point_range(row.interval),
                p_value(row.p_adjusted),
                "yes" if row.significant else "no",
            ]
            for row in result.contrasts
        ),
    )
    return html(
        "<h3>Planned comparisons</h3>{}<p class=cap>Planned beforehand; p is for these alone, by "
        "Holm’s method.</p>",
        table,
    )


def _render_non_inferiority(result: Result, margin: float) -> Markup:
    answers = {True: "yes", False: "not shown", None: "–"}
    table = render_table(
        ["Agent", "Difference", "95% interval", "Not worse"],
        (
            [row.agent, points(row.difference), point_range(row.interval), answers[row.not_worse]]
            for row in result.non_inferiority
        ),
    )
    return html(
        "<h3>Not worse than {} by {} points</h3>{}<p class=cap>An agent is not worse if the whole "
        "interval of its difference lies above \N{MINUS SIGN}{} points.</p>",
        result.reference_agent,
        f"{100 * margin:g}",
        table,
        f"{100 * margin:g}",
    )
