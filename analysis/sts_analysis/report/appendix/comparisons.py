"""Comparisons of agents: all pairs, those that were planned, and whether agents are not worse."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
import numpy as np
from markupsafe import Markup

from sts.annotations.races import DIFFERENT
from sts.errors import ArgumentError, UnknownName, quote
from sts_analysis.report.claim import list_pair_names
from sts_analysis.report.core import Interval, Report, Study, html, interval, join, number
from sts_analysis.report.markup import Cell, render_records
from sts_analysis.report.text import p_value, percent, point_range, points, write_point
from sts_analysis.statistics.estimate import adjust_holm

TITLE = "Comparisons of agents"
NAV = "Comparisons"
MAX_AGENTS = 100
"""Ranked agents up to which all pairs are shown; of more, the pairs with the first."""
ALPHA = 0.05
_UNDECIDED = {
    "annotators": "undecided: who judged",
    "units": "undecided: too few units differ",
    "missing": "undecided: missing continuations",
}


class Pair(msgspec.Struct, frozen=True):
    """Two ranked agents.

    Attributes:
      first: the one ranked higher.
      second: the other.
      difference: pass rate of the first minus that of the second, adjusted for who judged.
      interval: of the difference.
      p: of this pair alone.
      p_adjusted: for all pairs together, or all planned ones, by Holm's method.
      bar: the adjusted p below which the two differ significantly.
      point: of a race, the number of rounds after which the pair was resolved; p_adjusted, bar and
        significant are then those of that look. Null if it was not, or without a race.
      information: the pair's share of the full plan's information at that look; null without one.
      significant: whether the agents differ significantly.
      undecided: why there is no p: "annotators" (the data cannot distinguish the agents
        from their annotators), "units" (fewer than six units differ), or "". With "missing", there
        is a p, and missing continuations could change whether the agents differ significantly.
      scenarios: in which both are judged.
      adjustment: how far adjusting for who judged moved the difference.
      adjustment_significant: whether it moved significantly, for all pairs together.
      missing: planned continuations that the two lack.
      holds_for_others: whether they differ significantly for other annotators like these, too; null
        if nothing is known of others.
    """

    first: str
    second: str
    difference: float | None
    interval: Interval | None
    p: float | None
    p_adjusted: float | None
    bar: float
    significant: bool
    undecided: Literal["annotators", "units", "missing", ""]
    scenarios: int
    adjustment: float | None
    adjustment_significant: bool
    missing: int = 0
    point: float | None = None
    information: float | None = None
    holds_for_others: bool | None = None


class NonInferiority(msgspec.Struct, frozen=True):
    """Whether an agent is worse than the reference agent by less than a margin.

    Attributes:
      agent: its name.
      difference: its pass rate minus that of the reference agent.
      interval: of the difference.
      not_worse: whether the lower end is above minus the margin, and would be with all missing
        continuations against the agent; null without an interval.
      equivalent: whether the whole interval lies within the margin on both sides, and would with
        all missing continuations against either agent; null without an interval.
    """

    agent: str
    difference: float | None
    interval: Interval | None
    not_worse: bool | None
    equivalent: bool | None


class Result(msgspec.Struct, frozen=True):
    """Comparisons of ranked agents.

    Attributes:
      rows: pairs, in the order of the ranking; above 100 agents those with the first, and all
        pairs in the CSV file.
      pairs: number of all pairs.
      contrasts: the pairs whose comparison was planned beforehand, in the order of the ranking.
      margin: of non-inferiority, in pass rate; null if it was not asked for.
      reference_agent: the agent that others may be not worse than; "" without a margin.
      non_inferiority: all other agents against the reference agent.
    """

    rows: tuple[Pair, ...]
    pairs: int
    contrasts: tuple[Pair, ...]
    margin: float | None
    reference_agent: str
    non_inferiority: tuple[NonInferiority, ...]


def compute(study: Study, *, unabridged: bool = False) -> Result | None:
    """Compare all ranked agents; None below two.

    Args:
      study: with its claim.
      unabridged: list all pairs, however many there are.

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
    first, second = np.triu_indices(len(ranked), 1)
    is_long = len(ranked) > MAX_AGENTS and not unabridged
    planned = {frozenset(map(ranked.index, pair)) for pair in options.contrasts}
    is_planned = [bool(planned) and {a, b} in planned for a, b in zip(first, second, strict=True)]
    reference = options.reference_agent or ranked[0]
    return Result(
        rows=_list_pairs(study, (first == 0) | (not is_long)),
        pairs=len(first),
        contrasts=_list_pairs(study, np.array(is_planned), alone=True) if planned else (),
        margin=options.margin,
        reference_agent=reference if options.margin is not None else "",
        non_inferiority=()
        if options.margin is None
        else _list_non_inferiority(study, reference, options.margin),
    )


def render(result: Result, report: Report) -> Markup:
    """Show the pairs, and what was asked for besides."""
    rows = result.rows
    moved = any(row.adjustment_significant or round(100 * (row.adjustment or 0)) for row in rows)
    varying = len({row.scenarios for row in rows}) > 1
    caption = html("<p class=cap>{}</p>", _write_caption(result, report, moved))
    parts = [_render_pairs(rows, moved=moved, varying=varying), caption]
    if result.contrasts:
        parts.append(
            html(
                "<h3>Planned comparisons</h3>{}<p class=cap>Planned beforehand; p is for these "
                "alone, by Holm’s method.</p>",
                _render_pairs(result.contrasts, moved=False, varying=varying),
            )
        )
    if result.margin is not None:
        parts.append(_render_non_inferiority(result, result.margin))
    return join(parts)


def _list_pairs(study: Study, chosen: np.ndarray, *, alone: bool = False) -> tuple[Pair, ...]:
    """List chosen pairs, in the order of the ranking.

    Args:
      study: with its claim.
      chosen: bool[P], of all pairs in that order.
      alone: whether the chosen pairs are the only ones that p is adjusted for.
    """
    claim, pairs = study.claim, study.claim.comparisons
    names = [study.outcomes.agents[a] for a in claim.ranked]
    place = np.full(len(study.outcomes.agents), -1)
    place[claim.ranked] = np.arange(len(names))
    first, second = place[pairs.first], place[pairs.second]
    order = np.lexsort((np.maximum(first, second), np.minimum(first, second)))[chosen]
    sign = np.where(first < second, 1.0, -1.0)[order]
    adjusted = adjust_holm(pairs.p[order]) if alone else pairs.p_holm[order]
    worst = adjust_holm(pairs.p_worst[order]) if alone else pairs.p_worst_holm[order]
    with np.errstate(invalid="ignore"):
        below = worst < claim.bar[order]
        unsettled = (adjusted < claim.bar[order]) & ~below
        moved = pairs.adjustment_p[order] < ALPHA
    p, scenarios = pairs.p[order], pairs.scenarios[order]
    names_of_pairs = [names for names, _ in list_pair_names(study.outcomes.agents, pairs)]
    looks = [None if alone else study.resolved.get(names_of_pairs[at]) for at in order]
    below = [
        look[1].outcome == DIFFERENT if look else known
        for look, known in zip(looks, below.tolist(), strict=True)
    ]
    adjusted = [
        look[1].p if look else known
        for look, known in zip(looks, _to_numbers(adjusted), strict=True)
    ]
    unsettled &= [look is None for look in looks]
    is_known = pairs.identifiable[order] | (scenarios == 0)
    reasons = [unsettled, ~np.isnan(p), is_known]
    columns = zip(
        np.minimum(first, second)[order].tolist(),
        np.maximum(first, second)[order].tolist(),
        _to_numbers(sign * pairs.value[order]),
        _to_intervals(np.sort(sign[:, None] * pairs.interval[order], axis=1)),
        _to_numbers(p),
        adjusted,
        claim.bar[order].tolist(),
        [one and claim.state in ("final", "interim") for one in below],
        np.select(reasons, ["missing", "", "units"], "annotators").tolist(),
        scenarios.tolist(),
        _to_numbers(sign * pairs.adjustment[order]),
        moved.tolist(),
        pairs.missing[order].tolist(),
        [look[0].point if look else None for look in looks],
        [look[1].information if look else None for look in looks],
        [None if claim.others is None else known for known in claim.holds[order].tolist()],
        strict=True,
    )
    return tuple(Pair(names[a], names[b], *cells) for a, b, *cells in columns)


def _to_numbers(values: np.ndarray) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]


def _to_intervals(ends: np.ndarray) -> list[Interval | None]:
    return [None if low != low else (low, high) for low, high in ends.tolist()]


def _list_non_inferiority(
    study: Study, reference: str, margin: float
) -> tuple[NonInferiority, ...]:
    agents, rows = study.outcomes.agents, []
    for agent in study.claim.ranked.tolist():
        if agents[agent] == reference:
            continue
        other = agents.index(reference)
        value, ends = study.claim.read_difference(agent, other)
        low, high = ends
        if np.isfinite(ends).all() and study.missing[[agent, other]].any():
            low = min(low, study.model.compare_worst(agent, other).interval[0, 0])
            high = max(high, -study.model.compare_worst(other, agent).interval[0, 0])
        not_worse = bool(low > -margin) if np.isfinite(low) else None
        equivalent = bool(not_worse and high < margin) if np.isfinite(high) else None
        rows.append(
            NonInferiority(agents[agent], number(value), interval(ends), not_worse, equivalent)
        )
    return tuple(rows)


def _render_pairs(rows: Sequence[Pair], *, moved: bool, varying: bool) -> Markup:
    columns: dict[str, str | Callable[[Pair], Cell]] = {
        "Agents": lambda row: f"{row.first} – {row.second}",
        "Difference": lambda row: points(row.difference),
        "95% interval": lambda row: point_range(row.interval),
        "p (Holm)": lambda row: p_value(row.p_adjusted),
        "Significant": lambda row: (
            "yes" if row.significant else _UNDECIDED.get(row.undecided, "no")
        ),
    }
    if any(row.holds_for_others is not None for row in rows):
        columns["For others"] = lambda row: (
            "–" if not row.significant else "yes" if row.holds_for_others else "no"
        )
    if len({row.bar for row in rows}) > 1:
        columns["Bar"] = lambda row: p_value(row.bar)
    if any(row.point is not None for row in rows):
        columns["Resolved after"] = lambda row: write_point(row.point)
        columns["Information"] = lambda row: percent(row.information)
    if varying:
        columns["Scenarios"] = "scenarios"
    if moved:
        columns["Moved by adjustment"] = lambda row: (
            points(row.adjustment) + "*" * row.adjustment_significant
        )
    return render_records(rows, columns)


def _write_caption(result: Result, report: Report, moved: bool) -> str:
    conclusion = report.conclusion
    sentences = [
        "Differences are in points, on the scenarios that both agents have. Each interval is of "
        "one pair; p and whether two agents differ significantly are for all pairs together, by "
        "Holm’s method."
    ]
    if any(row.holds_for_others is not None for row in result.rows):
        sentences.append("For others: whether the two also differ for other annotators like these.")
    if conclusion.state == "interim":
        bar = f"{conclusion.p_bar:g}".lstrip("0")
        sentences.append(f"Interim: a pair is marked only below p = {bar}.")
    elif any(row.point is not None for row in result.rows):
        sentences.append(
            "Judged in a race: p, the bar below which it must lie, and whether two agents differ "
            "significantly are those of the look that resolved the pair, see Looks."
        )
    elif len({row.bar for row in result.rows}) > 1:
        sentences.append(
            "The study was closed early: a pair differs significantly if its p is below the bar "
            "next to it, which follows from its share of the information of the full plan."
        )
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


def _render_non_inferiority(result: Result, margin: float) -> Markup:
    answers = {True: "yes", False: "not shown", None: "–"}
    table = render_records(
        result.non_inferiority,
        {
            "Agent": "agent",
            "Difference": lambda row: points(row.difference),
            "95% interval": lambda row: point_range(row.interval),
            "Not worse": lambda row: answers[row.not_worse],
            "Equivalent": lambda row: answers[row.equivalent],
        },
    )
    return html(
        "<h3>Not worse than {} by {} points</h3>{}<p class=cap>An agent is not worse if the whole "
        "interval of its difference lies above \N{MINUS SIGN}{} points, and equivalent if it lies "
        "below {} points, too.</p>",
        result.reference_agent,
        f"{100 * margin:g}",
        table,
        f"{100 * margin:g}",
        f"{100 * margin:g}",
    )
