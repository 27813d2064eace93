"""The ranking: one row per agent, with its rate, its interval and the ranks it could have."""

import msgspec
from markupsafe import Markup

from sts_analysis.report.core import (
    MIN_UNITS_OF_INTERVAL,
    Interval,
    Report,
    Study,
    find_interval,
    html,
    interval,
    join,
    number,
)
from sts_analysis.report.markup import link_term
from sts_analysis.report.sections.warnings import explain_place
from sts_analysis.report.text import percent, percent_range, points, to_html

NAV = "Pass rates"
MAX_ROWS = 12
MAX_WARNINGS = 5
SHOWN_ROWS = 8
"""Rows of a longer table; all agents are then drawn as one figure."""
_WIDTH, _HEIGHT, _TOP = 720, 200, 8


class Row(msgspec.Struct, frozen=True):
    """One agent.

    Attributes:
      agent: its name.
      standing: "ranked", "left out" or "baseline".
      pass_rate: adjusted for who judged; None if nothing is judged.
      interval: of the pass rate.
      bounds: the interval if unjudgeable clips were all failures, or all successes; None for an
        agent with few of them.
      rank: 1 for the highest rate; None without ranks.
      rank_set: all ranks that the agent could have; the sets of all agents hold together.
      reason: why the agent is left out.
      access: what the agent sees: "observation", or what privileged information.
    """

    agent: str
    standing: str
    pass_rate: float | None
    interval: Interval | None
    bounds: Interval | None
    rank: int | None
    rank_set: tuple[int, int] | None
    reason: str
    access: str


class Result(msgspec.Struct, frozen=True):
    """All agents, in the order of the table.

    Attributes:
      rows: ranked agents by falling rate, agents left out, baselines.
      has_ranks: whether the state of the report allows ranks.
      is_hollow: whether no statement rests on the rates, because the state is interim or withheld.
      level_runs: maximal runs [start, stop) of rows of which no two differ significantly.
      strictness: standard deviation of the annotators' effects, without noise; None for fewer than
        two annotators.
      favouritism: standard deviation of what an annotator makes of an agent beyond that, if it is
        significant; else None.
      k_of_n: whether rates rest on too few units for an interval.
    """

    rows: tuple[Row, ...]
    has_ranks: bool
    is_hollow: bool
    level_runs: tuple[tuple[int, int], ...]
    strictness: float | None
    favouritism: float | None
    k_of_n: bool


def TITLE(report: Report) -> str:
    """Return the heading."""
    result: Result = report.ranking
    if result.has_ranks:
        return "Ranking"
    return "Pass rate" if len(result.rows) == 1 else "Pass rates"


def compute(study: Study) -> Result:
    """List all agents."""
    claim, rates, outcomes = study.claim, study.rates, study.outcomes
    has_ranks = claim.state == "final"
    access = study.agent_rows.drop_duplicates("agent").set_index("agent")["sees"]
    place = {int(agent): i for i, agent in enumerate(claim.ranked)}
    rate = rates.rate[claim.ranked]
    few = bool((rates.units < MIN_UNITS_OF_INTERVAL).all())
    rows = []
    for agent in study.order:
        i = place.get(agent)
        ranked = has_ranks and i is not None
        standing = "ranked" if i is not None else "left out"
        if outcomes.baseline[agent]:
            standing = "baseline"
        rows.append(
            Row(
                agent=outcomes.agents[agent],
                standing=standing,
                pass_rate=number(rates.rate[agent]),
                interval=find_interval(rates, agent),
                bounds=interval(rates.bounds[agent]),
                rank=1 + int((rate > rate[i] + 1e-12).sum()) if ranked and i is not None else None,
                rank_set=(int(claim.rank_sets[i, 0]), int(claim.rank_sets[i, 1]))
                if ranked and i is not None
                else None,
                reason="" if standing == "baseline" else explain_place(study, agent),
                access=str(access[outcomes.agents[agent]]),
            )
        )
    model = study.model.annotators
    return Result(
        rows=tuple(rows),
        has_ranks=has_ranks,
        is_hollow=claim.state in ("interim", "withheld"),
        level_runs=tuple(claim.level_runs) if has_ranks else (),
        strictness=number(model.strictness) if model else None,
        favouritism=number(model.favouritism) if model and model.favours_agents else None,
        k_of_n=few,
    )


def render(result: Result, report: Report) -> Markup:
    """Show the table, whose intervals are drawn on 0 to 100%."""
    long = len(result.rows) > MAX_ROWS
    shown = result.rows[:SHOWN_ROWS] if long else result.rows
    tracks = _arrange_runs(result.level_runs, len(shown)) if result.has_ranks else []
    axis = join(
        html('<i style="--p:{}">{}</i>', p / 100, f"{p}%" if p == 100 else p)
        for p in range(0, 101, 25)
    )
    head = join(
        [
            html("<tr><th scope=col>Agent</th>"),
            html(
                "<th scope=col class=r>{}</th><td class=tie></td>",
                link_term("rank set", "Rank (95%)"),
            )
            if result.has_ranks
            else "",
            html(
                "<th scope=col class=axis><span class=sr>Interval, drawn</span>"
                "<span aria-hidden=true>{}</span></th>",
                axis,
            ),
            html(
                "<th scope=col class=r>{}</th><th scope=col class=r>{}</th></tr>",
                link_term("pass rate", "Pass rate"),
                link_term("95% interval"),
            ),
        ]
    )
    body = join(_render_row(row, i, result, tracks) for i, row in enumerate(shown))
    figure = _draw_all(result) if long else ""
    warnings = list(map(to_html, report.conclusion.warnings))
    more = len(warnings) - MAX_WARNINGS
    if more > 0:
        warnings[MAX_WARNINGS:] = [html("{} more in report.json.", more)]
    return html(
        "<table class=rank><thead>{}</thead><tbody>{}</tbody></table>{}<p class=cap>{}</p>{}",
        head,
        body,
        figure,
        _write_caption(result, report),
        join(html("<p class=cap>{}</p>", warning) for warning in warnings),
    )


def _render_row(
    row: Row, index: int, result: Result, tracks: list[list[tuple[int, int]]]
) -> Markup:
    ranks = ""
    if result.has_ranks:
        ranks = html(
            "<td class=r>{}</td><td class=tie aria-hidden=true>{}</td>",
            _write_rank(row),
            _render_brackets(index, tracks),
        )
    kind = "" if row.standing == "ranked" and not result.is_hollow else " hollow"
    if row.standing == "baseline":
        kind = " base"
    ends = percent_range(row.bounds or row.interval)
    drawn = ""
    if row.pass_rate is not None:
        low, high = row.bounds or row.interval or (row.pass_rate, row.pass_rate)
        style = f"--l:{low:.4f};--h:{high:.4f};--p:{row.pass_rate:.4f}"
        drawn = html('<span class="iv{}" style="{}"></span>', kind, style)
    said = "baseline" if row.standing == "baseline" and not result.has_ranks else row.reason
    note = html(" <small>{}</small>", said) if said else ""
    return html(
        "<tr class={}><th scope=row>{}{}</th>{}<td class=draw aria-hidden=true>{}</td>"
        '<td class="r rate" data-range="{}">{}</td><td class="r soft">{}</td></tr>',
        "bound" if row.standing != "ranked" else "agent",
        row.agent,
        note,
        ranks,
        drawn,
        ends,
        percent(row.pass_rate),
        ends,
    )


def _write_rank(row: Row) -> str | Markup:
    if row.standing == "baseline":
        return link_term("baseline")
    if row.rank_set is None:
        return "–"
    low, high = row.rank_set
    return f"{low}" if low == high else f"{low}–{high}"


def _arrange_runs(runs: tuple[tuple[int, int], ...], rows: int) -> list[list[tuple[int, int]]]:
    """Return runs by track, so that no two of a track touch."""
    tracks: list[list[tuple[int, int]]] = []
    for start, stop in runs:
        if start >= rows:
            continue
        for track in tracks:
            if track[-1][1] <= start:
                track.append((start, stop))
                break
        else:
            tracks.append([(start, stop)])
    return tracks


def _render_brackets(index: int, tracks: list[list[tuple[int, int]]]) -> Markup:
    pieces = []
    for k, track in enumerate(tracks):
        for start, stop in track:
            if start <= index < stop:
                ends = ("first " if index == start else "") + ("last" if index == stop - 1 else "")
                pieces.append(html('<i class="{}" style="--k:{}"></i>', ends.strip() or "on", k))
    return join(pieces)


def _write_caption(result: Result, report: Report) -> str:
    conclusion = report.conclusion
    about = "other scenarios like these" if conclusion.target == "sampled" else "these scenarios"
    sentences = [f"Each interval is of one rate, for {about}."]
    if result.k_of_n:
        sentences = ["With fewer than five independent units no interval is shown."]
    if result.has_ranks:
        if result.level_runs:
            sentences.append("Agents joined by a bracket do not differ significantly.")
        sentences.append(
            "Pairs are compared on the same scenarios, so intervals may overlap where agents "
            "differ."
        )
    elif conclusion.state == "interim":
        sentences.append("Hollow: interim; no reason to stop.")
    elif conclusion.state == "withheld":
        sentences.append("Hollow: no statement about order rests on these rates.")
    if any(row.bounds for row in result.rows):
        sentences.append(
            "Where 5% or more could not be judged, the interval holds whatever those clips were."
        )
    if result.strictness and len(conclusion.annotators) > 1:
        spread = points(result.strictness).lstrip("+")
        sentences.append(
            f"Annotators differ in strictness by {spread} point{'s' * (spread != '1')} "
            "(standard deviation), which would move all rates together."
        )
    if result.favouritism:
        spread = points(result.favouritism).lstrip("+")
        sentences.append(
            f"Annotators favour agents, by {spread} point{'s' * (spread != '1')} "
            "(standard deviation) beyond their strictness."
        )
    if any(row.standing == "baseline" for row in result.rows):
        sentences.append("A baseline has privileged information and no rank.")
    return " ".join(sentences)


def _draw_all(result: Result) -> Markup:
    """Draw the intervals of all agents side by side; filled dots can be best."""
    rows = [row for row in result.rows if row.pass_rate is not None]
    step = _WIDTH / max(len(rows), 1)

    def height(share: float) -> float:
        return round(_TOP + (_HEIGHT - 2 * _TOP) * (1 - share), 1)

    marks = []
    for i, row in enumerate(rows):
        x = round((i + 0.5) * step, 1)
        low, high = row.bounds or row.interval or (row.pass_rate, row.pass_rate)
        assert row.pass_rate is not None and low is not None and high is not None
        best = row.rank_set is not None and row.rank_set[0] == 1
        marks.append(
            html(
                "<g class={}><line class=whisk x1={x} x2={x} y1={} y2={} />"
                "<circle cx={x} cy={} r={} /></g>",
                "best" if best else "base" if row.standing == "baseline" else "rest",
                height(high),
                height(low),
                height(row.pass_rate),
                round(min(3.5, max(1.2, step / 2.2)), 1),
                x=x,
            )
        )
    grid = join(
        html("<line class=grid x1=0 x2={} y1={y} y2={y} />", _WIDTH, y=height(p / 4))
        for p in range(5)
    )
    what = f"Pass rates of {len(rows)} agents with 95% intervals, by falling rate"
    return html(
        '<figure><svg viewBox="0 0 {} {}" role=img aria-label="{}">{}{}</svg><figcaption>All '
        "{} agents, 0 to 100%; filled dots can be best.</figcaption></figure>",
        _WIDTH,
        _HEIGHT,
        what,
        grid,
        join(marks),
        len(rows),
    )
